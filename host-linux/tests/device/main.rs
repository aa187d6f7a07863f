//! Drives behind a fake that checks every dword, length and timeout, in a recorded sysfs.

mod fake;
mod list;
mod names;
mod set;
mod tree;
