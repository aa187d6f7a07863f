//! `set ps` against the fake: what is sent, what is said, and how it ends.

use nix::errno::Errno;
use serde_json::{Value, json};
use wattline::device::{Cause, DeviceError, ProtocolError};
use wattline::outcome::{Exit, Outcome, Severity};
use wattline::set::set_power_state;
use wattline_core::nvme::{PowerState, Status};

use super::fake::FakeDrive;

/// A drive with PS0 25 W, PS1 15 W, PS2 10 W, all operational, and PS3 5 mW, non-operational: written by hand.
pub(crate) fn page() -> Vec<u8> {
    let mut page = vec![0; 4096];
    page[24..64].copy_from_slice(format!("{:40}", "Four States").as_bytes());
    page[64..72].copy_from_slice(b"FW01    ");
    page[263] = 3;
    for (state, centiwatts) in [2500_u16, 1500, 1000].into_iter().enumerate() {
        page[2048 + 32 * state..][..2].copy_from_slice(&centiwatts.to_le_bytes());
    }
    page[2048 + 32 * 3..][..4].copy_from_slice(&[50, 0, 0, 0b11]);
    page
}

fn set(drive: FakeDrive, state: u8, dry_run: bool) -> (Outcome, Value) {
    let state = PowerState::new(state).unwrap();
    let report = set_power_state(&mut drive.drive("/dev/nvme0"), state, dry_run).unwrap();
    let json = report.outcome(true);
    let text = report.outcome(false);
    assert_eq!((&text.complaints, text.exit), (&json.complaints, json.exit));
    (text, serde_json::from_str(&json.output).unwrap())
}

/// What goes wrong before anything is changed.
fn failure(drive: FakeDrive) -> DeviceError {
    set_power_state(&mut drive.drive("/dev/nvme0"), PowerState::PS0, false).unwrap_err()
}

fn errors(outcome: &Outcome) -> Vec<&str> {
    let errors = outcome.complaints.iter().filter(|complaint| complaint.severity == Severity::Error);
    errors.map(|complaint| complaint.what.as_str()).collect()
}

#[test]
fn a_drive_that_obeys() {
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(1, Ok(())).get(Ok(1));
    let (outcome, json) = set(drive, 1, false);
    assert_eq!((outcome.exit, &outcome.complaints[..]), (Exit::Done, &[][..]));
    insta::assert_snapshot!(outcome.output);
    assert_eq!(
        json,
        json!({
            "device": "/dev/nvme0", "dry_run": false,
            "before": {"ps": 0, "workload_hint": 0}, "asked": {"ps": 1, "workload_hint": 0},
            "command": {
                "opcode": 9, "nsid": 0, "cdw10": 2, "cdw11": 1, "cdw12": 0, "cdw13": 0, "cdw14": 0, "cdw15": 0,
                "data_length": 0, "timeout_ms": 0,
            },
            "status": {"name": "Successful Completion", "sct": 0, "sc": 0, "dnr": false}, "errno": null,
            "after": {"ps": 1, "workload_hint": 0}, "obeyed": true,
        })
    );
}

#[test]
fn a_workload_hint_is_kept() {
    let drive = FakeDrive::default().identify(&page()).get(Ok(0x40)).set(0x42, Ok(())).get(Ok(0x42));
    assert_eq!(set(drive, 2, false).0.exit, Exit::Done);

    let drive = FakeDrive::default().identify(&page()).get(Ok(0x40)).set(0x42, Ok(())).get(Ok(0x02));
    let (outcome, json) = set(drive, 2, false);
    assert_eq!((outcome.exit, &json["obeyed"]), (Exit::NotDone, &json!(false)));
    assert_eq!(
        errors(&outcome),
        ["/dev/nvme0 accepted PS2, workload hint 2, but holds PS2, workload hint 0 as read back"]
    );
}

#[test]
fn a_drive_that_refuses() {
    let refused = Status::from_bits(0x410E);
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(1, Err(refused.into())).get(Ok(0));
    let (outcome, json) = set(drive, 1, false);
    assert_eq!(outcome.exit, Exit::NotDone);
    insta::assert_snapshot!(outcome.output);
    insta::assert_snapshot!(outcome.complained());
    assert_eq!(json["status"], json!({"name": "Feature Not Changeable", "sct": 1, "sc": 14, "dnr": true}));
    assert_eq!((&json["after"]["ps"], &json["obeyed"]), (&json!(0), &json!(false)));
}

/// A refusal is a failure even where the drive is in that state already.
#[test]
fn a_refusal_to_stay_is_a_refusal() {
    let refused = Status::FEATURE_NOT_CHANGEABLE;
    let drive = FakeDrive::default().identify(&page()).get(Ok(1)).set(1, Err(refused.into())).get(Ok(1));
    assert_eq!(set(drive, 1, false).0.exit, Exit::NotDone);
}

#[test]
fn a_drive_that_accepts_and_does_not_act() {
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(2, Ok(())).get(Ok(0));
    let (outcome, json) = set(drive, 2, false);
    assert_eq!((outcome.exit, &json["obeyed"]), (Exit::NotDone, &json!(false)));
    assert_eq!(
        errors(&outcome),
        ["/dev/nvme0 accepted PS2, workload hint 0, but holds PS0, workload hint 0 as read back"]
    );
    assert!(outcome.output.starts_with("/dev/nvme0: PS0 → PS0, as read back\n"), "{}", outcome.output);
}

#[test]
fn a_drive_that_cannot_be_read_back() {
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(1, Ok(())).get(Err(Errno::EINTR.into()));
    let (outcome, json) = set(drive, 1, false);
    assert_eq!((outcome.exit, &json["after"], &json["obeyed"]), (Exit::NotDone, &Value::Null, &json!(false)));
    assert_eq!(
        errors(&outcome),
        ["what the drive holds now is not known: cannot read the power state of /dev/nvme0: \
          the operating system answered EINTR: Interrupted system call"]
    );
    insta::assert_snapshot!(outcome.output);
}

#[test]
fn a_command_that_the_system_gave_up_on_is_followed_by_a_reading() {
    let gone = Cause::Os(Errno::ENODEV);
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(1, Err(gone)).get(Err(gone));
    let (outcome, json) = set(drive, 1, false);
    assert_eq!((outcome.exit, errors(&outcome).len()), (Exit::NotDone, 2));
    assert_eq!((&json["errno"], &json["status"]), (&json!("ENODEV"), &Value::Null));
}

#[test]
fn a_non_operational_state_is_set_with_a_warning() {
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(3, Ok(())).get(Ok(3));
    let (outcome, _) = set(drive, 3, false);
    assert_eq!(outcome.exit, Exit::Done);
    insta::assert_snapshot!(outcome.complained());
}

/// What the drive says to it is worth more than what we think of it.
#[test]
fn a_state_that_the_drive_does_not_list_is_sent_with_a_warning() {
    let refused = Status::INVALID_FIELD;
    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(4, Err(refused.into())).get(Ok(0));
    let (outcome, _) = set(drive, 4, false);
    assert_eq!(outcome.exit, Exit::NotDone);
    assert_eq!(outcome.complaints[0].what, "/dev/nvme0 lists no PS4: its highest is PS3");
    assert_eq!(
        errors(&outcome),
        ["cannot set the power state of /dev/nvme0: the drive answered Invalid Field in Command (SCT 0h, SC 02h)"]
    );

    let drive = FakeDrive::default().identify(&page()).get(Ok(0)).set(4, Ok(())).get(Ok(4));
    let (outcome, _) = set(drive, 4, false);
    assert_eq!(outcome.exit, Exit::NotDone);
    assert!(
        errors(&outcome)[0].ends_with("the drive says that it is in PS4, but the highest state that it lists is PS3")
    );
}

#[test]
fn a_dry_run_only_reads() {
    let drive = FakeDrive::default().identify(&page()).get(Ok(0x21));
    let (outcome, json) = set(drive, 2, true);
    assert_eq!((outcome.exit, &outcome.complaints[..]), (Exit::Done, &[][..]));
    insta::assert_snapshot!(outcome.output);
    assert_eq!((&json["dry_run"], &json["after"], &json["status"]), (&json!(true), &Value::Null, &Value::Null));
    assert_eq!(json["command"]["cdw11"], json!(0x22));
}

#[test]
fn without_a_reading_first_nothing_is_sent() {
    let error = failure(FakeDrive::default().identify(&page()).get(Err(Status::from_bits(0x4002).into())));
    assert_eq!(
        error.to_string(),
        "cannot read the power state of /dev/nvme0: \
         the drive answered Invalid Field in Command (SCT 0h, SC 02h, do not retry)"
    );
    assert_eq!(error.exit(), Exit::NotDone);
}

#[test]
fn an_answer_that_cannot_be_is_named() {
    let error = failure(FakeDrive::default().identify(&[0; 4096]));
    assert!(matches!(error, DeviceError::Failed { cause: Cause::Protocol(ProtocolError::EmptyPage(4096)), .. }));
    let mut page = page();
    page[263] = 32;
    let error = failure(FakeDrive::default().identify(&page));
    assert!(error.to_string().starts_with("cannot identify /dev/nvme0: NPSS is 32"), "{error}");
}
