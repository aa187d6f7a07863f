//! What happened, for people.

use wattline_core::nvme::Status;
use wattline_core::nvme::feature::PowerManagement;

use super::{Attempt, Report};
use crate::device::{Cause, DeviceError};
use crate::quantity::{NOT_REPORTED, power};
use crate::table::{lines, table};

/// Before, asked, answer and after: one line each.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut table = table();
    let asked = described(report, report.asked);
    table.add_row(["before", &described(report, report.before)]);
    match &report.attempt {
        Some(Attempt { answer, after }) => {
            table.add_row(["asked", &asked]);
            table.add_row(["answer", &answered(answer)]);
            let held = after.as_ref().map_or_else(|_| NOT_REPORTED.to_owned(), |&after| described(report, after));
            table.add_row(["after", &held]);
        }
        None => {
            table.add_row(["would ask", &asked]);
            table.add_row(["would send", &report.command().to_string()]);
        }
    }
    format!("{}: {}\n{}", report.device.display(), summary(report), lines(&table))
}

fn summary(report: &Report) -> String {
    let before = report.before.power_state;
    match &report.attempt {
        None => format!("{before}, and nothing was changed (dry run)"),
        Some(Attempt { after: Ok(after), .. }) => format!("{before} → {}, as read back", after.power_state),
        Some(Attempt { after: Err(_), .. }) => format!("{before} → not known, it could not be read back"),
    }
}

/// `PS1, workload hint 0`.
pub(super) fn value(value: PowerManagement) -> String {
    format!("{}, workload hint {}", value.power_state, value.workload_hint.code())
}

fn described(report: &Report, held: PowerManagement) -> String {
    let descriptor = report.descriptor(held.power_state);
    let kind = match descriptor {
        Some(state) if state.non_operational => "non-operational",
        Some(_) => "operational",
        None => "not listed",
    };
    format!("{} ({kind}, MP {})", value(held), power(descriptor.and_then(|state| state.max_power)))
}

fn answered(answer: &Result<(), DeviceError>) -> String {
    match answer {
        Ok(()) => Status::SUCCESS.to_string(),
        Err(DeviceError::Failed { cause: Cause::Status(status), .. }) => status.to_string(),
        Err(DeviceError::Failed { cause, .. }) => cause.to_string(),
        Err(error @ DeviceError::Name { .. }) => error.to_string(),
    }
}
