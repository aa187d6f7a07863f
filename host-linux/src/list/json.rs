//! The list for programs.

use std::fmt;

use serde::Serialize;

use super::Entry;
use crate::show::State;

/// The document that `list --json` writes. `None` is `null`: not reported, or not to be found out.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    controllers: Vec<Controller<'a>>,
}

#[derive(Debug, Serialize)]
struct Controller<'a> {
    device: String,
    model: Option<&'a str>,
    serial: Option<&'a str>,
    firmware: Option<&'a str>,
    transport: Option<&'a str>,
    state: Option<&'a str>,
    ps: Option<u8>,
    workload_hint: Option<u8>,
    npss: Option<usize>,
    states: Option<Vec<State>>,
    error: Option<String>,
}

impl<'a> From<&'a [Entry]> for Document<'a> {
    fn from(entries: &'a [Entry]) -> Self {
        Self { controllers: entries.iter().map(Controller::from).collect() }
    }
}

impl<'a> From<&'a Entry> for Controller<'a> {
    fn from(entry: &'a Entry) -> Self {
        let known = &entry.controller;
        let states = entry.identity.as_ref().map(|identity| &identity.power_states);
        Self {
            device: entry.device.display().to_string(),
            model: known.model.as_deref(),
            serial: known.serial.as_deref(),
            firmware: known.firmware.as_deref(),
            transport: known.transport.as_deref(),
            state: known.state.as_deref(),
            ps: entry.power_management.map(|value| value.power_state.number()),
            workload_hint: entry.power_management.map(|value| value.workload_hint.code()),
            npss: states.map(|states| states.len().saturating_sub(1)),
            states: states.map(|states| states.iter().enumerate().map(State::from).collect()),
            error: entry.problem.as_ref().map(ToString::to_string),
        }
    }
}

/// Indented, and with a line end.
impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        writeln!(f, "{text}")
    }
}
