//! What the bytes of the NVM Express Base Specification mean, as far as power and heat are concerned.
//!
//! Encode and decode; no policy. Multi-byte fields are little-endian. A field whose value 0 means "not reported"
//! decodes to `None`. Byte offsets follow the Base Specification 2.x; they were checked against the definitions
//! in nvme-cli, SPDK and the Linux kernel, and against pages that real tools wrote.

pub mod feature;
mod field;
pub mod identify;
pub mod power;
pub mod power_state;
pub mod scaled_time;
pub mod status;

pub use identify::IdentifyController;
pub use power_state::{Power, PowerScale, PowerState, PowerStateDescriptor};
pub use status::Status;
