//! What a drive is asked for, and what it answers.

use serde::{Deserialize, Serialize};

use crate::nvme::feature::ocp_power_state::OcpPowerState;
use crate::nvme::feature::thermal_management::ThermalManagement;
use crate::nvme::{PowerState, Status};

/// Names one command, so that its completion can be told from that of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct CommandId(pub u32);

/// What a drive is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Request {
    /// Set Features, Power Management (02h), not saved.
    SetPowerState(PowerState),
    /// Get Features, Power Management (02h), current value.
    ReadPowerState,
    /// Set Features, DSSD Power State (C7h), not saved: hold yourself under these watts. Only to drives for which the
    /// user allowed it ([`Levers`](super::Levers)).
    SetOcpPowerState(OcpPowerState),
    /// Get Features, DSSD Power State (C7h), current value.
    ReadOcpPowerState,
    /// Set Features, Host Controlled Thermal Management (10h), not saved: both thresholds together.
    SetThermalManagement(ThermalManagement),
    /// Get Features, Host Controlled Thermal Management (10h), current value.
    ReadThermalManagement,
    /// Shut the controller down cleanly (CC.SHN, or NVMe-MI), and answer when it is done.
    ShutDown,
    /// Cut the slot's power, and answer when it is off. Only after a clean shutdown.
    PowerOff,
    /// Switch the slot's power on, and answer when it is.
    PowerOn,
    /// See that the slot has power and reset the controller, and answer when it can be read.
    Restart,
}

impl Request {
    /// Whether it changes nothing.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::ReadPowerState | Self::ReadOcpPowerState | Self::ReadThermalManagement)
    }
}

/// What a command came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// A request that sets something succeeded.
    Done,
    /// [`Request::ReadPowerState`] succeeded.
    Is(PowerState),
    /// The drive refused.
    Rejected(Status),
    /// [`Request::ReadOcpPowerState`] succeeded.
    OcpPowerState(OcpPowerState),
    /// [`Request::ReadThermalManagement`] succeeded.
    ThermalManagement(ThermalManagement),
}

/// Why a drive is not controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Cause {
    /// Too many commands in a row were lost.
    CommandsLost,
    /// It refused, with this status.
    Rejected(Status),
    /// It accepts states and does not go there.
    Disobedient,
    /// It has no profile, or none with an operational state.
    NoUsableState,
}
