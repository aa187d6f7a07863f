//! What a governor of 24 drives takes on a Cortex-M3, counted by tests/cost under QEMU.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Bytes and instructions.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Cost {
    /// The governor's memory.
    ram: u64,
    /// The most stack that its construction takes.
    stack_of_start: u64,
    /// The most stack that a call takes.
    stack: u64,
    /// The most instructions of a call of each kind.
    instructions: BTreeMap<String, u64>,
    /// How many calls of each kind were counted, and their mean.
    #[serde(skip)]
    calls: BTreeMap<String, (u64, u64)>,
}

/// Runs the program. An instruction takes 2⁸ ns of the emulated time: that is what the program counts by.
pub(crate) fn of_program(path: &Path) -> Cost {
    let mut qemu = Command::new("qemu-system-arm");
    qemu.args(["-machine", "lm3s6965evb", "-display", "none", "-serial", "null", "-monitor", "null"]);
    qemu.args(["-icount", "shift=8", "-semihosting-config", "enable=on,target=native", "-kernel"]).arg(path);
    let output = qemu.output().expect("QEMU starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let mut cost = Cost::default();
    for line in text.lines() {
        let (name, numbers) = line.split_once(' ').expect("a name");
        let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
        match (name, numbers.as_slice()) {
            ("governor", [bytes]) => cost.ram = *bytes,
            ("stack-of-start", [bytes]) => cost.stack_of_start = *bytes,
            ("stack", [bytes]) => cost.stack = *bytes,
            (_, [count, mean, worst]) => {
                cost.instructions.insert(name.into(), *worst);
                cost.calls.insert(name.into(), (*count, *mean));
            }
            _ => panic!("{line}"),
        }
    }
    cost
}

impl Cost {
    /// Whether nothing takes more than its budget, and nothing was left out.
    pub(crate) fn is_within(&self, budget: &Self) -> bool {
        let most = |cost: &Self| [cost.ram, cost.stack_of_start, cost.stack];
        let bytes = most(self).into_iter().zip(most(budget)).all(|(used, most)| (1..=most).contains(&used));
        let kinds = self.instructions.keys().eq(budget.instructions.keys());
        bytes && kinds && self.instructions.iter().all(|(kind, used)| (1..=budget.instructions[kind]).contains(used))
    }
}

pub(crate) fn table(used: &Cost, budget: &Cost) -> String {
    let mut table = format!("{:<16}{:>10}{:>10}\n", "bytes", "used", "budget");
    for (name, used, budget) in [
        ("RAM", used.ram, budget.ram),
        ("stack, start", used.stack_of_start, budget.stack_of_start),
        ("stack, calls", used.stack, budget.stack),
    ] {
        writeln!(table, "{name:<16}{used:>10}{budget:>10}").expect("a string takes it");
    }
    writeln!(table, "\n{:<16}{:>10}{:>10}{:>10}{:>10}", "instructions", "calls", "mean", "worst", "budget")
        .expect("a string takes it");
    for (kind, worst) in &used.instructions {
        let ((calls, mean), budget) = (used.calls[kind], budget.instructions.get(kind).copied().unwrap_or_default());
        writeln!(table, "{kind:<16}{calls:>10}{mean:>10}{worst:>10}{budget:>10}").expect("a string takes it");
    }
    table
}
