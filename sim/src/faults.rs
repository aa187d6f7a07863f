//! Scenarios of faults: each has one stated pass line, judged from outside, and names wrong policies that miss it.
//!
//! A checker that never fails shows nothing. So every such scenario is run twice: under the real governor, where
//! everything must hold, and under policies that do the one thing wrong against which the scenario is, where the named
//! check must fail.

use std::fmt::Write;

use crate::calibration::Calibration;
use crate::outcome;
use crate::policy::Wrong;
use crate::scenario::{self, ScenarioError};

/// A scenario of a fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// Its name.
    pub scenario: &'static str,
    /// What must hold, in words.
    pub line: &'static str,
    /// The policies that it is there to find, and which check fails on each.
    pub finds: &'static [(Wrong, &'static str)],
}

/// All of them.
pub const ALL: [Fault; 16] = [
    Fault {
        scenario: "fault-cap-halved",
        line: "the true watts are below the new cap within 2 s and stay there",
        finds: &[(Wrong::IgnoresCaps, "shed")],
    },
    Fault {
        scenario: "fault-supply-lost",
        line: "below what one supply carries within 2 s; half a minute after it is back, at least 70 GB/s again",
        finds: &[(Wrong::IgnoresCaps, "shed"), (Wrong::KeepsTheLowestCap, "rate")],
    },
    Fault {
        scenario: "fault-four-resets",
        line: "below the cap within 3 s; every drive is known at the end",
        finds: &[(Wrong::IgnoresResets, "shed")],
    },
    Fault {
        scenario: "fault-meter-frozen",
        line: "no second above the cap; an alarm says that the meter is lost",
        finds: &[(Wrong::TrustsMeter, "shed")],
    },
    Fault {
        scenario: "fault-meter-high",
        line: "no second above the cap; nobody is stopped; after the repair the watts come back",
        finds: &[(Wrong::BelievesTheHighestReading, "rate")],
    },
    Fault { scenario: "fault-meter-low", line: "no second above the cap", finds: &[(Wrong::TrustsMeter, "window")] },
    Fault {
        scenario: "fault-meter-absent",
        line: "no second above the cap; an alarm says that the meter is lost",
        finds: &[(Wrong::TrustsMeter, "shed")],
    },
    Fault {
        scenario: "fault-drives-ignore",
        line: "the others make up for them: below the cap within 5 s; an alarm names them",
        finds: &[(Wrong::TakesSentForDone, "window")],
    },
    Fault {
        scenario: "fault-drives-pretend",
        line: "the meter finds it out: below the cap within 10 s; an alarm says so",
        finds: &[(Wrong::IgnoresMeter, "shed")],
    },
    Fault {
        scenario: "fault-hot-swap",
        line: "below the cap within 3 s of each; nothing is set before it was read; every drive is known at the end",
        finds: &[(Wrong::TakesNewForOld, "shed"), (Wrong::AssumesTheLowest, "ledger")],
    },
    Fault {
        scenario: "fault-clock-back",
        line: "the drop is shed within 2 s all the same; an alarm says that the clock ran backwards",
        finds: &[(Wrong::WaitsForItsClock, "shed")],
    },
    Fault {
        scenario: "fault-restart",
        line: "the shedding is over within 5 s; nothing is set before the drive's own reading",
        finds: &[(Wrong::AssumesTheLowest, "ledger")],
    },
    Fault {
        scenario: "fault-flips",
        line: "never above the cap by a raise; damaged records are counted; every drive is known at the end",
        finds: &[(Wrong::BelievesItsMemory, "ledger")],
    },
    Fault {
        scenario: "fault-sensors-frozen",
        line: "no drive reaches its critical 75 °C; an alarm says that sensors stand still",
        finds: &[(Wrong::BelievesFrozenSensors, "composite"), (Wrong::IgnoresTemperatures, "composite")],
    },
    Fault {
        scenario: "fault-coolant-lost",
        line: "no drive reaches its warning 70 °C; an alarm says that there is less cooling",
        finds: &[(Wrong::IgnoresTemperatures, "composite"), (Wrong::IgnoresCooling, "alarms")],
    },
    Fault {
        scenario: "fault-fans-failed",
        line: "no drive reaches its warning 70 °C, and nobody is switched off: each second of the bursts has 14 GB/s",
        finds: &[(Wrong::IgnoresTemperatures, "composite"), (Wrong::IgnoresCooling, "alarms")],
    },
];

/// The table of all of them, as Markdown: what happens, what must hold, and how wrong policies miss it.
///
/// # Errors
///
/// Where a built-in scenario is none.
pub fn markdown(seed: u64) -> Result<String, ScenarioError> {
    let calibration = Calibration::embedded();
    let mut table =
        String::from("| scenario | fault | pass line | wrong policy | what it fails |\n|---|---|---|---|---|\n");
    for Fault { scenario: name, line, finds } in &ALL {
        let scenario = scenario::load(name)?;
        for (index, (wrong, _)) in finds.iter().enumerate() {
            let outcome = outcome::run_under(&scenario, &calibration, seed, Some(*wrong), |_| {}).0;
            let failed = outcome.checks.iter().filter(|check| !check.ok).map(|check| format!("`{}`", check.name));
            let mut failed: Vec<String> = failed.collect();
            failed.dedup();
            let [name, description, line] =
                if index == 0 { [&format!("`{name}`"), scenario.description.as_str(), line] } else { [""; 3] };
            // Writing to a string cannot fail.
            let _ = writeln!(table, "| {name} | {description} | {line} | `{}` | {} |", wrong.name(), failed.join(", "));
        }
    }
    Ok(table)
}
