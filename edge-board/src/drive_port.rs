//! How commands get to drives.

use wattline_core::governor::{CommandId, Event, Request, Slot};

/// The way to the drives and back. Neither direction waits for a drive.
pub trait DrivePort {
    /// Why a request could not be sent.
    type Error;

    /// Sends a request to the drive in a slot.
    ///
    /// # Errors
    /// Where it was not sent: no answer to it will come.
    fn send(&mut self, slot: Slot, id: CommandId, request: Request) -> Result<(), Self::Error>;

    /// The next thing that was heard from a drive: an answer, a loss, a reset, a removal. `None`: nothing more for now.
    fn next_event(&mut self) -> Option<Event>;
}
