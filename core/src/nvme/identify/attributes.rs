//! The fields of flags of the Identify Controller data structure, as far as power and heat are concerned.

use crate::nvme::field::flags;

flags! {
    /// Controller Attributes (CTRATT, bytes 96–99).
    ControllerAttributes(u32) {
        /// Bit 1 (NOPSPM): background work may take more power in a non-operational state, where the host permits it.
        non_operational_permissive_mode = 1,
        /// Bit 6 (TBKAS): any command keeps the connection alive.
        traffic_based_keep_alive = 6,
        /// Bit 9 (ULIST): a list of UUIDs can be read; features of third parties are chosen by an index into it.
        uuid_list = 9,
        /// Bit 17 (HMBR): the controller can be kept from the host's memory while in a non-operational state.
        host_memory_restricted_when_non_operational = 17,
        /// Bit 20 (PLS): the Power Limit feature.
        power_limit = 20,
        /// Bit 21 (PMS): the drive measures its own power.
        power_measurement = 21,
        /// Bit 22 (VMS): the drive measures its own voltages.
        voltage_measurement = 22,
    }
}

impl ControllerAttributes {
    /// Bits 24:23 (IIELLSS): whether the time that leaving idle takes can be limited, and for what.
    #[must_use]
    pub const fn idle_exit_latency_limit(self) -> IdleExitLatencyLimit {
        match self.bits() >> 23 & 0b11 {
            0 => IdleExitLatencyLimit::NotSupported,
            1 => IdleExitLatencyLimit::EachOperationalState,
            2 => IdleExitLatencyLimit::AllOperationalStates,
            _ => IdleExitLatencyLimit::Reserved,
        }
    }
}

/// Idle I/O Exit Latency Limit Support and Scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum IdleExitLatencyLimit {
    /// There is no such limit.
    NotSupported,
    /// One limit for each operational state.
    EachOperationalState,
    /// One limit for all operational states.
    AllOperationalStates,
    /// A code without a meaning.
    Reserved,
}

flags! {
    /// Optional Asynchronous Events Supported (OAES, bytes 92–95).
    AsynchronousEvents(u32) {
        /// Bit 8 (NSAN): an attached namespace's attributes changed.
        namespace_attributes = 8,
        /// Bit 9 (FAN): firmware is being activated.
        firmware_activation = 9,
        /// Bit 11 (ANACN): asymmetric access to a namespace changed.
        asymmetric_access = 11,
        /// Bit 15 (NNSS): the subsystem shuts down as it should.
        normal_shutdown = 15,
        /// Bit 16 (TTHR): a temperature came back from beyond a threshold by more than the hysteresis.
        temperature_hysteresis_recovery = 16,
        /// Bit 17 (RGCNS): groups of reachability changed.
        reachability_groups = 17,
        /// Bit 19 (ANSAN): an allocated namespace's attributes changed.
        allocated_namespace_attributes = 19,
        /// Bit 27 (ZDCN): a zone's descriptor changed.
        zone_descriptor = 27,
        /// Bit 31 (DLPCN): the discovery log changed.
        discovery_log = 31,
    }
}

flags! {
    /// Power Loss Signaling Information (PLSI, byte 110).
    PowerLossSignaling(u8) {
        /// Bit 0: the drive can be told of an emergency power failure.
        emergency_power_fail = 0,
        /// Bit 1: the drive can be told to become quiet.
        forced_quiescence = 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What QEMU's drive says: CTRATT 8000h (long LBA formats), OAES 100h (namespaces).
    #[test]
    fn bits_are_told_apart() {
        let attributes = ControllerAttributes::from_bits(0x8000);
        assert!(!attributes.power_limit() && !attributes.non_operational_permissive_mode());
        assert_eq!(attributes.idle_exit_latency_limit(), IdleExitLatencyLimit::NotSupported);
        assert!(AsynchronousEvents::from_bits(0x100).namespace_attributes());

        let attributes = ControllerAttributes::from_bits(1 << 1 | 1 << 17 | 1 << 20 | 1 << 24);
        assert!(attributes.non_operational_permissive_mode() && attributes.power_limit());
        assert!(attributes.host_memory_restricted_when_non_operational() && !attributes.power_measurement());
        assert_eq!(attributes.idle_exit_latency_limit(), IdleExitLatencyLimit::AllOperationalStates);
        assert_eq!(ControllerAttributes::from_bits(3 << 23).idle_exit_latency_limit(), IdleExitLatencyLimit::Reserved);
        let events = AsynchronousEvents::from_bits(1 << 16);
        assert!(events.temperature_hysteresis_recovery() && !events.normal_shutdown());
        assert!(PowerLossSignaling::from_bits(0b10).forced_quiescence());
        assert_eq!(PowerLossSignaling::from_bits(0xFE).bits(), 0xFE);
    }
}
