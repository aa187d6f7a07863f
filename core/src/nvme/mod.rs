//! What the bytes of the NVM Express Base Specification mean, as far as power and heat are concerned.
//!
//! Encode and decode; no policy. Multi-byte fields are little-endian. A field whose value 0 means "not reported"
//! decodes to `None`. Byte offsets follow the Base Specification 2.x; they were checked against the definitions
//! in nvme-cli, SPDK and the Linux kernel, and against pages that real tools wrote. What rests on a single source or on
//! memory says **Unverified** where it stands, and is never sent to a drive.
//!
//! Decoding and encoding are each other's inverse for every bit that has a meaning here. Reserved bits are dropped,
//! reserved codes keep their value; no bytes panic. The fuzz targets in the repository's `tests/fuzz` hold this too.

pub mod feature;
mod field;
pub mod identify;
pub mod log;
pub mod power;
pub mod power_state;
pub mod scaled_time;
pub mod status;

pub use identify::IdentifyController;
pub use power::ScaledPower;
pub use power_state::{Power, PowerScale, PowerState, PowerStateDescriptor};
pub use status::Status;
