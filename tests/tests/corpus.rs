//! The corpus of the fuzz targets, through the very functions that the targets call: `tests/fuzz/README.md`.

use std::fs;
use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the same file is the library that the fuzz targets are built with")]
mod targets;

/// A target's name and its function.
type Target = (&'static str, fn(&[u8]));

#[test]
fn every_input_of_the_corpus_keeps_the_promises() {
    let targets: [Target; 6] = [
        ("identify", targets::identify),
        ("apst", targets::apst),
        ("features", targets::features),
        ("logs", targets::logs),
        ("journal", targets::journal),
        ("transport", targets::transport),
    ];
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for (name, target) in targets {
        assert!(fuzz.join("targets").join(name).with_extension("rs").is_file(), "{name} is a target");
        let inputs: Vec<_> =
            fs::read_dir(fuzz.join("corpus").join(name)).unwrap().map(|entry| entry.unwrap()).collect();
        assert!(!inputs.is_empty(), "{name} has a corpus");
        for input in inputs {
            println!("{name}/{}", input.file_name().display());
            target(&fs::read(input.path()).unwrap());
        }
    }
    assert_eq!(fs::read_dir(fuzz.join("targets")).unwrap().count(), targets.len(), "every target is replayed");
}
