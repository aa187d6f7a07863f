//! Hands the firmware's linker scripts to the linker. A host build gets nothing.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=panic.x");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo::rustc-link-search={here}");
        for script in ["panic.x", "link.x", "defmt.x"] {
            println!("cargo::rustc-link-arg-bins=-T{script}");
        }
    }
}
