//! Readers of all formats: real drives in, the same drives out; anything else in, an error out.

mod any_input;
mod drives;
mod formats;
