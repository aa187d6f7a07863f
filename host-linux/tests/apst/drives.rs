//! The catalogue from outside.

use serde_json::Value;

use crate::{XG4, json, output, refused};

#[test]
fn a_part_of_the_catalogue_reads_at_a_glance() {
    insta::assert_snapshot!(output(&["drives", "samsung", "970 evo plus 2tb"]));
}

#[test]
fn the_whole_catalogue_names_every_source() {
    let all = json(&["drives", "--json"]);
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 594);
    assert!(all.iter().all(|drive| drive["source"].as_str().is_some_and(|source| !source.is_empty())));
    assert!(refused(&["drives", "no", "such", "drive"]).contains("no drive in the catalogue matches 'no such drive'"));
}

#[test]
fn an_ambiguous_name_lists_the_candidates_with_their_firmware() {
    for command in [&["show"][..], &["apst", "build"], &["apst", "explain"]] {
        let error = refused(&[command, &["--drive", "Samsung SSD 970 EVO Plus 2TB"]].concat());
        assert!(error.starts_with("error: 3 drives in the catalogue are called"), "{error}");
        assert_eq!(
            error.matches("firmware 2B2QEXM7").count() + error.matches("firmware 4B2QEXM7").count(),
            3,
            "{error}"
        );
        assert!(error.contains("\n help: give one of the names on the left"), "{error}");
    }
}

#[test]
fn every_command_takes_a_drive_of_the_catalogue() {
    assert_eq!(json(&["show", "--json", "--drive", XG4])["states"][4]["entry_us"], 100_000);
    assert!(output(&["apst", "explain", "--drive", "toshiba xg4"]).starts_with("Toshiba XG4 512GB"));
    assert_eq!(json(&["show", "--json", "--drive", XG4])["firmware"], Value::Null);
    assert!(refused(&["show"]).contains("<DEVICE|FILE|--drive <NAME>>"));
    assert!(refused(&["show", "--drive", "sandisk-sn861"]).contains("no power state of sandisk-sn861 was posted"));
}
