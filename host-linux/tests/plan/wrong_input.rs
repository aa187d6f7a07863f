//! Wrong input: exit status 2, nothing on standard output, and what would be right. A plan that does not fit: 1.

use serde_json::{Value, json};

use super::{plan, refused};

const CAP: &str = "--profile d5-p5336 --work sequential-write --drives 24";

#[test]
fn watts_that_are_none_are_refused_by_name() {
    for (watts, words) in [
        ("0", "0 W leaves nothing to plan"),
        ("0.000W", "0 W leaves nothing to plan"),
        ("-5", "watts cannot be negative"),
        ("-5W", "watts cannot be negative"),
        ("abc", "not a number of watts (write 1050, 1050.5 or 1050W)"),
        ("1e3", "not a number of watts"),
        ("1050.0001", "finer than a milliwatt"),
        ("100000.001", "more than 100 kW"),
        ("999999999999999999999", "too many watts"),
    ] {
        for question in ["--drives 24 --cap", "--spare"] {
            let question = format!("--profile d5-p5336 --work sequential-write {question} {watts}");
            let error = refused(&mut plan(&question));
            assert!(error.contains(&format!("invalid value '{watts}'")) && error.contains(words), "{error}");
        }
    }
    for option in ["--base", "--margin"] {
        let error = refused(&mut plan(&format!("{CAP} --cap 1050 {option} -1")));
        assert!(error.contains("watts cannot be negative"), "{error}");
        plan(&format!("{CAP} --cap 1089 {option} 0")).assert().success();
    }
    plan(&format!("{CAP} --cap 100000W")).assert().success();
}

#[test]
fn a_number_of_drives_is_1_to_256() {
    for drives in ["0", "257", "-1", "many", "1.5"] {
        for question in ["--cap 1050", "--spare 200"] {
            let question = format!("--profile d5-p5336 --work sequential-write {question} --drives {drives}");
            let error = refused(&mut plan(&question));
            assert!(error.contains(&format!("invalid value '{drives}' for '--drives <N>'")), "{error}");
        }
    }
    plan("--profile d5-p5336 --work sequential-write --cap 4000 --drives 256").assert().success();
    plan("--profile d5-p5336 --work sequential-write --cap 488.125 --drives 1").assert().success();
}

#[test]
fn there_is_one_question() {
    assert!(refused(&mut plan(CAP)).contains("<--cap <W>|--spare <W>>"));
    let error = refused(&mut plan(&format!("{CAP} --cap 1050 --spare 200")));
    assert!(error.contains("'--cap <W>' cannot be used with '--spare <W>'"), "{error}");
    let error = refused(&mut plan("--profile d5-p5336 --work sequential-write --cap 1050"));
    assert!(error.contains("--drives <N>"), "{error}");
    for option in ["--base", "--margin"] {
        let error = refused(&mut plan(&format!("{CAP} --spare 200 {option} 5")));
        assert!(error.contains("cannot be used with"), "{error}");
    }
}

#[test]
fn kinds_of_work_are_listed() {
    let error = refused(&mut plan("--profile d5-p5336 --work sequential-writes --drives 24 --cap 1050"));
    for word in ["'sequential-writes'", "sequential-read, sequential-write, random-read, random-write"] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn work_that_was_not_measured_is_refused() {
    let error = refused(&mut plan("--profile d5-p5336 --work random-write --spare 200"));
    assert_eq!(
        error,
        "error: profile d5-p5336 has no measurement of random-write\n \
         help: it has sequential-read and sequential-write; another kind has to be measured first\n"
    );
}

/// The floor is 726 W.
#[test]
fn missing_watts_are_named() {
    for (limits, missing, to_cap, words) in [
        ("--cap 700", 26.0, 26.0, &["26 W over the cap of 700 W", "at least 726 W", "at most 21 drives"][..]),
        ("--cap 725.999", 0.001, 0.001, &["0.001 W over the cap", "at most 23 drives"]),
        ("--cap 740 --margin 20", 6.0, 0.0, &["6 W too many for the margin of 20 W", "not over the cap"]),
        ("--cap 720 --margin 20", 26.0, 6.0, &["6 W over the cap of 720 W, and 26 W with the margin of 20 W"]),
        ("--cap 400", 326.0, 326.0, &["326 W over the cap", "not even one drive fits"]),
        ("--cap 740 --base 500", 24.0, 24.0, &["500 W without drives", "24 W over the cap"]),
    ] {
        let text = plan(&format!("{CAP} {limits}")).assert().code(1).stdout("");
        let document = plan(&format!("{CAP} {limits} --json")).assert().code(1);
        assert_eq!(text.get_output().stderr, document.get_output().stderr);
        let error = String::from_utf8(text.get_output().stderr.clone()).unwrap();
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
        let document: Value = serde_json::from_slice(&document.get_output().stdout).unwrap();
        assert_eq!(document["missing_w"].as_f64(), Some(missing), "{limits}");
        assert_eq!(document["missing_to_cap_w"].as_f64(), Some(to_cap), "{limits}");
        for key in ["assignment", "total_w", "gb_s", "uniform"] {
            assert_eq!(document.get(key), Some(&Value::Null), "{limits} {key}");
        }
        assert_eq!(document["lowest"]["ps"], json!(2));
    }
    plan(&format!("{CAP} --cap 726")).assert().success();
}
