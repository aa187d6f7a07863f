//! Log pages, as Get Log Page (Base Specification, opcode 02h) returns them: those about power and heat.
//!
//! Reserved bits are ignored when read and 0 when written; reserved codes keep their value.

pub mod power_measurement;
pub mod smart_health;

pub use smart_health::SmartHealth;

/// Admin opcode of Get Log Page.
pub const GET_LOG_PAGE: u8 = 0x02;

/// Log page identifiers (LID).
pub mod identifier {
    /// SMART / Health Information.
    pub const SMART_HEALTH: u8 = 0x02;
    /// Power Measurement.
    pub const POWER_MEASUREMENT: u8 = 0x25;
}
