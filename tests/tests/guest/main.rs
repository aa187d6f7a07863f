//! What real tools and a real kernel say in a guest, compared with what they should say.
//!
//! `tests/run guest` and its like boot the guest, let it run a script of `tests/guest`, and start these tests with the
//! directory of what was recorded in a variable. Without a guest they are not run, and cargo says so.

mod article;
mod emulated;
mod recorded;
mod served;
