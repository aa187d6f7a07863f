use super::*;

const SMALLEST: &str = "name = \"x\"\nduration_s = 5\n";

fn error(text: &str) -> String {
    parse("x.toml", text).expect_err("not a scenario").to_string()
}

fn error_with(more: &str) -> String {
    error(&format!("{SMALLEST}{more}"))
}

#[test]
fn every_built_in_scenario_is_one_and_has_its_name() {
    for (name, text) in builtin::ALL {
        let scenario = parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, name);
        assert!(!scenario.description.is_empty(), "{name}");
    }
}

#[test]
fn the_example_in_the_documentation_is_a_scenario() {
    let source = include_str!("schema.rs");
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let block = lines.skip_while(|line| !line.contains("```toml")).skip(1).take_while(|line| !line.contains("```"));
    let example: Vec<&str> = block.map(|line| line.trim_start()).collect();
    parse("example", &example.join("\n")).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn everything_left_out_is_the_reference_server() {
    let text = format!("{SMALLEST}[[job]]\nwork = \"random-read\"\n");
    let scenario = parse("x", &text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((scenario.drives.count, scenario.drives.initial_ps), (24, 0));
    assert!(scenario.governor.is_none());
}

#[test]
fn a_misspelt_key_is_named_with_its_line_and_what_was_meant() {
    let text = error_with("[governor]\ncapp_w = 900\nmargin_w = 21\n");
    assert!(text.starts_with("x.toml, line 4: unknown field `capp_w`"), "{text}");
    assert!(text.ends_with("(did you mean `cap_w`?)"), "{text}");
    let text = error_with("[[job]]\nwork = \"sequental-write\"\n");
    assert!(text.starts_with("x.toml, line 4:") && text.contains("did you mean `sequential-write`?"), "{text}");
}

#[test]
fn a_key_like_no_other_lists_what_there_is() {
    let text = error_with("[expect]\nzzzzzz = 1\n");
    assert!(text.contains("`shed_s`") && !text.contains("did you mean"), "{text}");
}

#[test]
fn caps_that_are_none_are_refused_with_their_line() {
    for (cap, why) in [
        ("0", "a cap of 0 W"),
        ("-5", "watts cannot be negative"),
        ("\"abc\"", "not a number of watts"),
        ("200000", "more than 100 kW"),
        ("1e30", "`1e30`: more than 100 kW"),
        ("true", "expected watts"),
        ("nan", "not a number of watts"),
    ] {
        let text = error_with(&format!("[governor]\nmargin_w = 21\ncap_w = {cap}\n"));
        assert!(text.starts_with("x.toml, line 5:") && text.contains(why), "{cap}: {text}");
    }
}

#[test]
fn watts_are_numbers_or_text() {
    for cap in ["1050.5", "\"1050.5\"", "\"1050.5W\""] {
        let text = format!("{SMALLEST}[governor]\nmargin_w = 21\ncap_w = {cap}\n");
        let scenario = parse("x", &text).unwrap_or_else(|error| panic!("{cap}: {error}"));
        assert_eq!(scenario.governor.map(|governor| governor.cap_w.0.get()), Some(1_050_500), "{cap}");
    }
}

#[test]
fn what_does_not_fit_together_is_said() {
    for (more, why) in [
        ("description = \"\\u001b[31m\"\n", "description: has control characters"),
        ("[drives]\ncount = 33\n", "at most 32"),
        ("[drives]\ninitial_ps = 3\n", "states 0 to 2"),
        ("[[row]]\nwork = \"idle\"\nps = 1\n", "`ps` belongs to rows with work"),
        ("[[row]]\nwork = \"idle\"\n[governor]\ncap_w = 1\nmargin_w = 1\n", "neither `job` nor `governor`"),
        ("[[cap]]\nat_s = 1\ncap_w = 900\n", "there is no `governor`"),
        ("[[reset]]\nat_s = 1\ndrives = \"24\"\n", "drive 24 is named, but there are 24"),
        ("[faults]\nlost = 0.6\nlate = 0.6\n", "together at most 1"),
        ("[[job]]\nwork = \"random-read\"\nqueue_depth = 0\n", "job 1: queue_depth = 0: must be at least 1"),
        ("[drives]\ncount = 0\n[[reset]]\nat_s = 1\ndrives = \"0\"\n", "drive 0 is named, but drives.count = 0"),
        ("[[restart]]\nat_s = 1\n", "`restart` restarts the governor, but there is no `governor`"),
        ("[[clock]]\nat_s = 1\nback_s = 1\n", "`clock` sets the governor's clock back"),
        ("[flips]\ncount = 1\n", "`flips` is about the governor's memory"),
        ("[[insertion]]\nat_s = 1\ndrives = \"3\"\n", "insertion 1: slot 3 has a drive"),
        (
            "[[removal]]\nat_s = 1\ndrives = \"3\"\n[[insertion]]\nat_s = 2\ndrives = \"3\"\n\
             [[insertion]]\nat_s = 3\ndrives = \"3\"\n",
            "insertion 2: slot 3 has a drive",
        ),
        (
            "[[restart]]\nat_s = 1\ndown_s = 2\n[[restart]]\nat_s = 2\n",
            "restart 2: the one before it is not over at 2 s",
        ),
        ("[[restart]]\nat_s = 4\n", "restart 1: is not over before the end"),
        ("[flips]\ncount = 1\nstop_s = 6\n", "flips: stop_s = 6 is after the end"),
        (
            "[governor]\ncap_w = 900\nmargin_w = 21\n[[expect.rate]]\nfrom_s = 4.5\nto_s = 5\nat_least_gb_s = 1\n",
            "expect.rate 1: 4.5 s to 5 s has no whole second",
        ),
        ("[governor]\ncap_w = 900\nmargin_w = 21\nslot_limit_w = 5\n", "slot_limit_w = 5: even the lowest"),
    ] {
        let text = error_with(more);
        assert!(text.contains(why), "{more}: {text}");
    }
    assert!(error("name = \"x\"\nduration_s = 1\n").contains("line 2: duration_s = 1: must be between 2 and"));
}

#[test]
fn what_would_happen_after_the_end_is_refused() {
    for (more, why) in [
        ("[governor]\ncap_w = 900\nmargin_w = 21\n[[cap]]\nat_s = 600\ncap_w = 500\n", "cap 1: at_s = 600"),
        ("[[reset]]\nat_s = 4\ndrives = \"0\"\n[[reset]]\nat_s = 5\ndrives = \"0\"\n", "reset 2: at_s = 5"),
        ("[[removal]]\nat_s = 7\ndrives = \"0\"\n", "removal 1: at_s = 7"),
        ("[[job]]\nwork = \"random-read\"\nstart_s = 6\n", "job 1: start_s = 6"),
    ] {
        let text = error_with(more);
        assert!(text.contains(why) && text.ends_with("is not before the end, duration_s = 5"), "{more}: {text}");
    }
    let text = error_with("[[job]]\nwork = \"random-read\"\nstart_s = 3\nstop_s = 2\n");
    assert!(text.contains("job 1: stop_s = 2 is not after start_s = 3"), "{text}");
}

#[test]
fn expectations_without_a_governor_are_refused() {
    const RATE: &str = "[{ from_s = 0, to_s = 1, at_least_gb_s = 1 }]";
    let numbers = ["shed_s", "optimum_share", "fair_within", "margin_at_most_w"].map(|key| (key, "0.5"));
    let others = [("alarms", "[\"meter-lost\"]"), ("all_managed", "true"), ("rate", RATE)];
    for (key, value) in numbers.into_iter().chain(others) {
        let text = error_with(&format!("[[job]]\nwork = \"sequential-write\"\n[expect]\n{key} = {value}\n"));
        assert!(text.contains(&format!("`expect.{key}`")) && text.contains("no `governor`"), "{text}");
    }
}

#[test]
fn an_optimum_that_is_not_defined_is_not_expected() {
    const WRITE: &str = "[[job]]\nwork = \"sequential-write\"\n";
    for (more, why) in [
        (format!("{WRITE}[[cap]]\nat_s = 3\ncap_w = 950\n"), "changes the cap"),
        (format!("{WRITE}[[removal]]\nat_s = 3\ndrives = \"0\"\n"), "pulls drives"),
        (format!("{WRITE}drives = \"0-7\"\n"), "drive 8 has no job"),
        (format!("{WRITE}start_s = 1\n"), "job 1 starts at 1 s"),
        (format!("{WRITE}{WRITE}stop_s = 4\n"), "job 2 stops at 4 s"),
        (format!("{WRITE}rate_limit_gb_s = 1\n"), "has a `rate_limit_gb_s`"),
        ("[[job]]\nwork = \"random-read\"\n".into(), "random-read, which was never measured"),
        ("[drives]\ncount = 0\n".into(), "no drives"),
    ] {
        let governor = "[governor]\ncap_w = 900\nmargin_w = 21\n[expect]\noptimum_share = 0.9\n";
        let text = error_with(&format!("{more}{governor}"));
        assert!(text.contains("`expect.optimum_share`") && text.contains(why), "{more}: {text}");
    }
}

#[test]
fn a_value_out_of_range_is_named_with_its_line_and_the_range() {
    const GOVERNOR: &str = "[governor]\ncap_w = 900\nmargin_w = 21\n";
    for (more, why) in [
        (format!("{GOVERNOR}warning_c = 39\n"), "line 6: warning_c = 39: must be between 40 and 95 °C"),
        (format!("{GOVERNOR}warning_c = nan\n"), "warning_c = NaN"),
        (format!("{GOVERNOR}warning_c = 1e308\n"), "warning_c = 1e308:"),
        (format!("{GOVERNOR}rotation_s = 1e-7\n"), "line 6: rotation_s = 1e-7: must be 0 (never), or between 0.1"),
        (format!("{GOVERNOR}dwell_s = 0\n"), "line 6: dwell_s = 0: must be between 0.1"),
        (format!("{GOVERNOR}poll_s = 0\n"), "line 6: poll_s = 0: must be between 0.001"),
        ("[faults]\nfailed_status = 65535\n".into(), "line 4: failed_status = 0xffff: must be between"),
        ("[faults]\nfailed_status = 0\n".into(), "failed_status = 0x0000"),
        ("[[meter]]\nat_s = 1\nscale = -1\n".into(), "line 5: scale = -1: must be between 0 and 10"),
        ("[[restart]]\nat_s = 1\ndown_s = 0\n".into(), "line 5: down_s = 0: must be between 0.1"),
        ("[flips]\ncount = 0\n".into(), "line 4: count = 0: must be between 1 and 100000"),
        ("[[job]]\nwork = \"random-read\"\nrate_limit_gb_s = 0\n".into(), "line 5: rate_limit_gb_s = 0: must be above"),
        ("[chassis]\nwrite_ceiling_gb_s = -1\n".into(), "line 4: write_ceiling_gb_s = -1: must be above 0 GB/s"),
        ("[chassis]\ninlet_c = 500\n".into(), "line 4: inlet_c = 500: must be between -60 and 100 °C"),
        ("[[reset]]\nat_s = 1e9\ndrives = \"0\"\n".into(), "1000000000 s is out of range (0 to a week"),
    ] {
        let text = error_with(&more);
        assert!(text.contains(why), "{more}: {text}");
    }
}

#[test]
fn errors_are_in_words_for_people() {
    for (more, why) in [
        ("[chassis]\ninlet_c = \"25\"\n", "expected a number"),
        ("[[job]]\nwork = \"random-read\"\nblock_kib = -1\n", "expected a whole number"),
        ("[drives]\ncount = -1\n", "expected a whole number"),
        ("[chassis]\ncooling = 1\n", "expected a word in quotes"),
        ("[chassis]\ncooling = {}\n", "expected a word in quotes"),
        ("[drives]\ncount = 3\ncount = 4\n", "line 5: duplicate key `count`"),
    ] {
        let text = error_with(more);
        assert!(text.contains(why), "{more}: {text}");
    }
}

#[test]
fn values_out_of_range_are_refused() {
    for more in [
        "[[reset]]\nat_s = 1\ndrives = \"+1\"\n",
        "[[reset]]\nat_s = 1\ndrives = \"00\"\n",
        "[faults]\nlost = 1.5\n",
        "[[reset]]\nat_s = -1\ndrives = \"0\"\n",
        "[[reset]]\nat_s = 1\ndrives = \"7-3\"\n",
        "[chassis]\ninlet_c = 500\n",
        "[chassis]\ncooling = \"water\"\n",
        "[drives]\nspread_percent = 90\n",
    ] {
        error_with(more);
    }
}

#[test]
fn nothing_at_all_is_told_from_nonsense() {
    assert!(error("").contains("0 bytes"));
    assert!(error("\n \n").contains("3 bytes"));
    assert!(error("name = ").starts_with("x.toml, line 1:"));
    assert!(error("{\"json\": 1}").starts_with("x.toml, line 1:"));
}

#[test]
fn an_unknown_name_lists_what_exists() {
    let text = load("r760-artikle").expect_err("no such scenario").to_string();
    assert!(text.contains("did you mean `r760-article`?") && text.contains("r760-cap-drop"), "{text}");
    let text = load("/nowhere/x.toml").expect_err("no such file").to_string();
    assert!(text.starts_with("cannot read scenario /nowhere/x.toml: "), "{text}");
}

#[test]
fn ranges_name_drives() {
    let text = format!("{SMALLEST}[[job]]\nwork = \"random-read\"\ndrives = \"0-2, 7\"\n");
    let scenario = parse("x", &text).unwrap_or_else(|error| panic!("{error}"));
    let named: Vec<usize> = (0..24).filter(|slot| scenario.job[0].drives.contains(*slot)).collect();
    assert_eq!(named, [0, 1, 2, 7]);
}

#[test]
fn every_key_is_in_the_users_documentation_and_the_other_way_round() {
    let (source, document) = (include_str!("schema.rs"), include_str!("../../SCENARIOS.md"));
    let fields = source.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':').map(|(key, _)| key));
    let keys: Vec<&str> = fields.collect();
    assert!(keys.len() > 40);
    for key in &keys {
        let named = [format!("`{key}`"), format!("[{key}]"), format!(".{key}]")];
        assert!(named.iter().any(|named| document.contains(named)), "{key} is not in SCENARIOS.md");
    }
    let of_keys = document.split("## Scenarios of faults").next().unwrap_or_default();
    let first_cells = of_keys.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('|'));
    for key in first_cells.flat_map(|(cell, _)| cell.split('`').step_by(2)).filter(|key| !key.trim().is_empty()) {
        assert!(key == ", " || keys.contains(&key), "{key} is in SCENARIOS.md and in no scenario");
    }
}
