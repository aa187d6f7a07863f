//! `wattline apst explain`.

use crate::{XG4, fixture, output, text, wattline};

/// The drive whose owners read an all-zero table, or one without the deepest state, as "no power saving".
#[test]
fn the_toshiba_xg4_never_reaches_its_deepest_state_and_what_would_get_it() {
    let text = output(&["apst", "explain", "--drive", XG4]);
    for words in [
        "the kernel enters it at no tolerance",
        "to have PS4: kernel parameter nvme_core.apst_secondary_latency_tol_us=170000",
        "to have PS4: kernel parameter nvme_core.apst_primary_timeout_ms=0",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    insta::assert_snapshot!(text);
    let any = output(&["apst", "explain", "--drive", XG4, "--tolerance-us", "any"]);
    assert!(any.contains("the kernel enters it at no tolerance"), "{any}");
}

/// The limit that excludes each state, and the smallest value that would include it.
#[test]
fn too_small_a_tolerance_is_named_with_the_one_that_is_enough() {
    insta::assert_snapshot!(output(&[
        "apst",
        "explain",
        "--drive",
        "samsung-ssd-970-evo-plus-500gb-2b2qexm7",
        "--tolerance-us",
        "1000"
    ]));
}

#[test]
fn latencies_that_are_not_reported_are_said_to_count_as_nothing() {
    let arguments = |policy| ["apst", "explain", "-", "--policy", policy];
    let drive =
        "St Op Max Active Idle RL RT WL WT Ent_Lat Ex_Lat\n0 + 5.00W - - 0 0 0 0 0 0\n1 - 0.0050W - - 1 1 1 1 0 0\n";
    let explained = |policy| {
        let run = crate::wattline().args(arguments(policy)).write_stdin(drive).assert().success();
        crate::text(&run.get_output().stdout)
    };
    let linux = explained("linux");
    assert!(linux.contains("(ENLAT and EXLAT are not reported, which the kernel counts as 0)"), "{linux}");
    let two_percent = explained("linux-two-percent");
    assert!(two_percent.contains("0 ms of idle time, which means no transition"), "{two_percent}");
    let windows = explained("windows:balanced");
    assert!(windows.contains("the drive does not report how long entering and leaving it takes"), "{windows}");
}

#[test]
fn what_energy_reckons_with_is_said_to_be_estimated() {
    insta::assert_snapshot!(output(&[
        "apst",
        "explain",
        "--drive",
        XG4,
        "--policy",
        "energy",
        "--tolerance-us",
        "any"
    ]));
}

#[test]
fn a_drive_without_the_feature_is_said_to_have_none() {
    let text = output(&["apst", "explain", &fixture("qemu-nvme-cli-2.3.id-ctrl.json")]);
    assert!(text.contains("not supported by the drive (APSTA is 0): nothing is to be written"), "{text}");
}

/// Nothing says that PS0 is operational: what is reckoned with is the state in which the drive waits.
#[test]
fn energy_reckons_with_the_state_in_which_the_drive_waits() {
    let mut page = std::fs::read(fixture("qemu-nvme-cli-2.3.id-ctrl.bin")).unwrap();
    page[263] = 1;
    page[265] = 1;
    page.copy_within(2048..2080, 2080);
    page[2051] = 2;
    let explained = |page: Vec<u8>| {
        let mut command = wattline();
        text(&command.args(["apst", "explain", "-", "--policy", "energy"]).write_stdin(page).output().unwrap().stdout)
    };
    let waits_in_ps1 = explained(page.clone());
    assert!(waits_in_ps1.contains("reckoned with: waiting in PS1, 6250 mW"), "{waits_in_ps1}");
    page[2083] = 2;
    let nowhere = explained(page);
    assert!(!nowhere.contains("reckoned with") && nowhere.contains("no state above it to come from"), "{nowhere}");
}
