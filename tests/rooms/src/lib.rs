//! What the programs share: where they start, inputs that the compiler cannot know, and the panic that none reaches.
#![no_std]

use core::hint::black_box;

/// Where a program starts, which is never run: `program!(function)`.
#[macro_export]
macro_rules! program {
    ($main:path) => {
        #[no_mangle]
        extern "C" fn _start() -> ! {
            $main();
            loop {}
        }
    };
}

/// Bytes that could be any.
pub fn bytes<const LENGTH: usize>() -> [u8; LENGTH] {
    black_box([0; LENGTH])
}

/// A value that could be any other.
pub fn any<T>(value: T) -> T {
    black_box(value)
}

/// Uses a value.
pub fn keep<T>(value: T) {
    black_box(value);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
