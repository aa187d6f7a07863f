//! A controller: what one host sees of a drive, from Connect until its admin queue ends. Properties, event requests,
//! and the features that last no longer than it does.

use std::collections::{BTreeMap, VecDeque};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wattline_core::nvme::Status;

use super::command::{Completion, Submission, for_good, status};
use super::features::Selected;
use super::pages::{EVENT_REQUESTS, QUEUE_ENTRIES};
use super::writer::Outgoing;

/// I/O queues of one controller.
pub(super) const IO_QUEUES: u16 = 64;

/// Property offsets (Base Specification, "Controller Properties").
mod property {
    pub(super) const CAP: u32 = 0x00;
    pub(super) const VS: u32 = 0x08;
    pub(super) const CC: u32 = 0x14;
    pub(super) const CSTS: u32 = 0x1C;
}

/// Features of a controller.
mod identifier {
    pub(super) const NUMBER_OF_QUEUES: u8 = 0x07;
    pub(super) const ASYNCHRONOUS_EVENTS: u8 = 0x0B;
    pub(super) const KEEP_ALIVE_TIMER: u8 = 0x0F;
}

/// Dword 0 of the event "temperature threshold": type SMART (1), information 1, log page 02h.
const TEMPERATURE_EVENT: u64 = 1 | 1 << 8 | 0x02 << 16;
/// Asynchronous Event Configuration, bit 1: the critical warning about temperature.
const TEMPERATURE_WANTED: u32 = 1 << 1;

/// What one host sees of a drive.
pub(super) struct Controller {
    /// Its identifier (CNTLID).
    pub(super) id: u16,
    /// The drive's slot.
    pub(super) slot: usize,
    /// The host's name.
    pub(super) host: String,
    admin: Mutex<Sender<Outgoing>>,
    registers: Mutex<Registers>,
    sockets: Mutex<BTreeMap<u64, (u16, TcpStream)>>,
}

/// What a host has set.
#[derive(Debug)]
struct Registers {
    configuration: u32,
    shut_down: bool,
    keep_alive_ms: u32,
    wanted_events: u32,
    event_requests: VecDeque<u16>,
    /// An event has been reported, and its log not read yet.
    masked: bool,
    /// An event waits for a request.
    pending: bool,
}

/// What a write to a property asks of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Nothing,
    /// CC.EN went from 1 to 0.
    Reset,
}

impl Controller {
    /// A controller that a host has just connected to.
    pub(super) fn new(id: u16, slot: usize, host: String, keep_alive_ms: u32, admin: Sender<Outgoing>) -> Self {
        let registers = Registers {
            configuration: 0,
            shut_down: false,
            keep_alive_ms,
            wanted_events: TEMPERATURE_WANTED,
            event_requests: VecDeque::new(),
            masked: false,
            pending: false,
        };
        Self { id, slot, host, admin: Mutex::new(admin), registers: Mutex::new(registers), sockets: Mutex::default() }
    }

    /// Adds a connection's socket for queue `queue`; false where there is one already.
    pub(super) fn adopt(&self, connection: u64, queue: u16, socket: TcpStream) -> bool {
        let mut sockets = lock(&self.sockets);
        let free = sockets.values().all(|(taken, _)| *taken != queue);
        if free {
            sockets.insert(connection, (queue, socket));
        }
        free
    }

    /// Forgets a connection's socket.
    pub(super) fn release(&self, connection: u64) {
        lock(&self.sockets).remove(&connection);
    }

    /// Ends all its connections.
    pub(super) fn cut(&self) {
        for (_, socket) in lock(&self.sockets).values() {
            // It may have ended by itself.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Whether the host has enabled it.
    pub(super) fn is_enabled(&self) -> bool {
        lock(&self.registers).configuration & 1 != 0
    }

    /// Whether the host has said that it leaves.
    pub(super) fn is_shut_down(&self) -> bool {
        lock(&self.registers).shut_down
    }

    /// How long it may be silent, in milliseconds; 0: as long as it likes.
    pub(super) fn keep_alive_ms(&self) -> u32 {
        lock(&self.registers).keep_alive_ms
    }

    /// Property Get; `ready`: the drive is.
    ///
    /// # Errors
    ///
    /// Where there is no such property of that size.
    pub(super) fn property(&self, submission: &Submission, ready: bool) -> Result<u64, Status> {
        let registers = lock(&self.registers);
        let wide = submission.dword(10) & 0b111 == 1;
        match (submission.dword(11), wide) {
            (property::CAP, true) => Ok(CAPABILITIES),
            (property::VS, false) => Ok(super::VERSION.into()),
            (property::CC, false) => Ok(registers.configuration.into()),
            (property::CSTS, false) => {
                let enabled = registers.configuration & 1 != 0;
                Ok(u64::from(enabled && ready) | if registers.shut_down { 0b10 << 2 } else { 0 })
            }
            _ => Err(for_good(Status::INVALID_FIELD)),
        }
    }

    /// Property Set.
    ///
    /// # Errors
    ///
    /// Where there is no such property that can be set.
    pub(super) fn set_property(&self, submission: &Submission) -> Result<Wanted, Status> {
        if submission.dword(11) != property::CC || submission.dword(10) & 0b111 != 0 {
            return Err(for_good(Status::INVALID_FIELD));
        }
        let mut registers = lock(&self.registers);
        let before = registers.configuration;
        registers.configuration = submission.dword(12);
        // SHN: 1 normal, 2 abrupt.
        registers.shut_down = registers.configuration >> 14 & 0b11 != 0;
        if before & 1 != 0 && registers.configuration & 1 == 0 {
            registers.event_requests.clear();
            registers.wanted_events = TEMPERATURE_WANTED;
            (registers.masked, registers.pending) = (false, false);
            return Ok(Wanted::Reset);
        }
        Ok(Wanted::Nothing)
    }

    /// Takes an Asynchronous Event Request; its answer may come much later.
    ///
    /// # Errors
    ///
    /// Where there are too many.
    pub(super) fn request_event(&self, command: u16) -> Result<(), Status> {
        let mut registers = lock(&self.registers);
        if registers.event_requests.len() >= EVENT_REQUESTS {
            return Err(for_good(status::EVENT_LIMIT));
        }
        registers.event_requests.push_back(command);
        self.report(&mut registers);
        Ok(())
    }

    /// The drive's temperature has crossed a threshold.
    pub(super) fn temperature_crossed(&self) {
        let mut registers = lock(&self.registers);
        if registers.wanted_events & TEMPERATURE_WANTED != 0 && !registers.masked {
            registers.pending = true;
            self.report(&mut registers);
        }
    }

    /// The host reads the SMART log, and may be told of the next event.
    pub(super) fn clear_event(&self) {
        lock(&self.registers).masked = false;
    }

    fn report(&self, registers: &mut Registers) {
        if !registers.pending {
            return;
        }
        let Some(id) = registers.event_requests.pop_front() else { return };
        (registers.pending, registers.masked) = (false, true);
        let completion = Completion { id, result: TEMPERATURE_EVENT, status: Status::SUCCESS };
        // A connection that has ended needs no answer.
        let _ = lock(&self.admin).send(Outgoing::Event(completion));
    }

    /// Get Features, where the feature is the controller's.
    pub(super) fn feature(&self, submission: &Submission) -> Option<Result<u32, Status>> {
        let registers = lock(&self.registers);
        let [feature, ..] = submission.dword(10).to_le_bytes();
        let (current, default) = match feature {
            identifier::NUMBER_OF_QUEUES => (queues(IO_QUEUES, IO_QUEUES), queues(IO_QUEUES, IO_QUEUES)),
            identifier::ASYNCHRONOUS_EVENTS => (registers.wanted_events, TEMPERATURE_WANTED),
            identifier::KEEP_ALIVE_TIMER => (registers.keep_alive_ms, 0),
            _ => return None,
        };
        Some(match Selected::of(submission.dword(10)) {
            Some(Selected::Current) => Ok(current),
            Some(Selected::Default | Selected::Saved) => Ok(default),
            // Changeable, and not saveable.
            Some(Selected::Capabilities) => Ok(0b100),
            None => Err(for_good(Status::INVALID_FIELD)),
        })
    }

    /// Set Features, where the feature is the controller's.
    pub(super) fn set_feature(&self, submission: &Submission) -> Option<Result<u32, Status>> {
        let mut registers = lock(&self.registers);
        let [feature, ..] = submission.dword(10).to_le_bytes();
        let value = submission.dword(11);
        let known = [identifier::NUMBER_OF_QUEUES, identifier::ASYNCHRONOUS_EVENTS, identifier::KEEP_ALIVE_TIMER];
        if known.contains(&feature) && submission.dword(10) >> 31 != 0 {
            return Some(Err(for_good(Status::FEATURE_NOT_SAVEABLE)));
        }
        let result = match feature {
            identifier::NUMBER_OF_QUEUES => {
                let [a, b, c, d] = value.to_le_bytes();
                let wanted = |low, high| u16::from_le_bytes([low, high]).saturating_add(1).min(IO_QUEUES);
                queues(wanted(a, b), wanted(c, d))
            }
            identifier::ASYNCHRONOUS_EVENTS => {
                registers.wanted_events = value;
                0
            }
            identifier::KEEP_ALIVE_TIMER => {
                registers.keep_alive_ms = value;
                0
            }
            _ => return None,
        };
        Some(Ok(result))
    }
}

/// Number of Queues: submission and completion queues, each less one.
fn queues(submission: u16, completion: u16) -> u32 {
    u32::from(submission.saturating_sub(1)) | u32::from(completion.saturating_sub(1)) << 16
}

/// Controller Capabilities: queue entries less one, queues in one piece, 10 s to become ready (in steps of 500 ms), the
/// NVM command set, pages of 4 KiB.
const CAPABILITIES: u64 = (QUEUE_ENTRIES as u64 - 1) | 1 << 16 | 20 << 24 | 1 << 37;

/// Nothing is left half-done under these locks.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
