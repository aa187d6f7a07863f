//! The published experiment: 24 drives, a server of 462 W, and what its authors conclude.

use serde_json::json;

use super::{planned, planned_json};

const WRITING: &str = "--profile d5-p5336 --work sequential-write";
const READING: &str = "--profile d5-p5336 --work sequential-read";

/// The optimum of the published rows, found by hand over every way to count 24 drives out.
#[test]
fn the_optimum_at_eight_caps() {
    for (cap, optimum) in
        [(760, 23.0), (800, 30.3), (825, 35.0), (858, 40.7), (900, 48.2), (950, 57.0), (1000, 66.3), (1050, 75.1)]
    {
        let plan = planned_json(&format!("{WRITING} --drives 24 --cap {cap}"));
        let (gb_s, total) = (plan["gb_s"].as_f64().unwrap(), plan["total_w"].as_f64().unwrap());
        assert!((gb_s - optimum).abs() <= 0.05, "{gb_s} GB/s at {cap} W, not {optimum}");
        assert!(total <= f64::from(cap), "{total} W at {cap} W");
        assert!(gb_s >= plan["uniform"]["gb_s"].as_f64().unwrap());
    }
}

#[test]
fn the_best_uniform_state_at_1050_watts() {
    let plan = planned_json(&format!("{WRITING} --drives 24 --cap 1050"));
    assert_eq!(plan["uniform"], json!({"ps": 1, "total_w": 825, "gb_s": 34.4}));
    assert_eq!((&plan["cap_w"], &plan["base_w"]), (&json!(1050), &json!(462)));
}

#[test]
fn every_row_is_its_own_plan() {
    for (work, cap, state, gb_s) in [
        ("sequential-read", 858, "ps0", 109.0),
        ("sequential-read", 759, "ps2", 79.8),
        ("sequential-write", 1089, "ps0", 82.5),
        ("sequential-write", 726, "ps2", 17.3),
    ] {
        let plan = planned_json(&format!("--profile d5-p5336 --work {work} --drives 24 --cap {cap}"));
        assert_eq!((&plan["assignment"][state], &plan["total_w"]), (&json!(24), &json!(cap)), "{work} {state}");
        assert!((plan["gb_s"].as_f64().unwrap() - gb_s).abs() < 1e-6, "{plan}");
    }
}

#[test]
fn twelve_drives_become_24_in_200_watts() {
    let plan = planned_json(&format!("{READING} --spare 200 --drives 12"));
    assert_eq!((&plan["spare_w"], &plan["more_drives"]["ps0"], &plan["tb"]), (&json!(200), &json!(12), &json!(737.28)));
    let ps0 = &plan["states"][0];
    assert_eq!(
        (&ps0["more_tb"], &ps0["drives_in_all"], &ps0["tb_in_all"]),
        (&json!(737.28), &json!(24), &json!(1474.56))
    );
    // 16.5 W for 61.44 TB.
    assert_eq!(ps0["w_per_tb"], json!(0.269));
}

/// The authors say "about eight" of PS0: 7.66.
#[test]
fn seven_more_drives_write_in_200_watts() {
    let plan = planned_json(&format!("{WRITING} --spare 200"));
    assert_eq!(plan["more_drives"], json!({"ps0": 7, "ps1": 13, "ps2": 18}));
    assert_eq!(plan["states"][0]["quotient"], json!(7.66));
    assert_eq!((&plan["drives"], &plan["states"][0]["tb_in_all"]), (&json!(null), &json!(null)));
}

#[test]
fn reading_says_that_the_switch_was_the_limit() {
    for question in ["--drives 24 --cap 800", "--spare 200"] {
        let text = planned(&format!("{READING} {question}"));
        assert!(text.contains("\nPS0, PS1: measured where a PCIe switch"), "{text}");
        assert!(!planned(&format!("{WRITING} {question}")).contains("switch"));
        let limited: Vec<_> = planned_json(&format!("{READING} {question}"))["states"]
            .as_array()
            .unwrap()
            .iter()
            .map(|state| state["limited_by_fabric"].as_bool().unwrap())
            .collect();
        assert_eq!(limited, [true, true, false]);
    }
}

#[test]
fn a_plan_reads_at_a_glance() {
    insta::assert_snapshot!(planned(&format!("{WRITING} --drives 24 --cap 1050")));
}

#[test]
fn a_plan_with_base_and_margin_reads_at_a_glance() {
    insta::assert_snapshot!(planned(&format!("{READING} --drives 24 --cap 700.5W --base 350 --margin 16.5")));
}

#[test]
fn a_plan_as_json() {
    insta::assert_snapshot!(planned(&format!("{WRITING} --drives 24 --cap 1050 --json")));
}

#[test]
fn more_drives_read_at_a_glance() {
    insta::assert_snapshot!(planned(&format!("{READING} --spare 200 --drives 12")));
}

#[test]
fn more_drives_of_unknown_number_read_at_a_glance() {
    insta::assert_snapshot!(planned(&format!("{WRITING} --spare 200")));
}

#[test]
fn more_drives_as_json() {
    insta::assert_snapshot!(planned(&format!("{READING} --spare 200 --drives 12 --json")));
}

#[test]
fn help_teaches_with_examples() {
    insta::assert_snapshot!(planned("--help"));
}
