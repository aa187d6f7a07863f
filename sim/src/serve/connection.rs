//! One connection: one queue of one controller. A thread reads, a thread writes, and neither waits for the other.
//!
//! ```text
//!  Initialize ──▶ Connect ──▶ commands ⇄ completions, data
//!      │             │            └── end of the admin queue: the controller ends, with all its connections
//!      └─ 5 s ───────┴─ 5 s: who says nothing is cut off
//! ```

use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wattline_core::nvme::Status;
use wattline_core::nvme::feature::{GET_FEATURES, SET_FEATURES};
use wattline_core::nvme::log::{GET_LOG_PAGE, identifier as log_page};
use wattline_core::profile::Work;

use super::command::{Completion, DataPlace, Submission, admin, fabrics, for_good, nvm, status};
use super::controller::{Controller, IO_QUEUES, Wanted, lock};
use super::media::{BLOCK, Media};
use super::pages::{MAX_TRANSFER_BYTES, NAMESPACE, QUEUE_ENTRIES};
use super::pdu::{self, FatalError, FromHost, HostData, Limits, ReadError};
use super::shelf::{Admin, Answer, Done, Io};
use super::streams::Streams;
use super::target::Target;
use super::writer::{Outgoing, Writer};

/// How long a peer may take to say what it wants.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// How long a peer may take to accept what is sent.
const WRITING: Duration = Duration::from_secs(10);
/// What Keep Alive may be late by.
const GRACE: Duration = Duration::from_secs(1);
/// Bytes of the data of Connect.
const CONNECT_LENGTH: usize = 1024;

/// The queue that a connection has become by Connect.
struct Queue {
    number: u16,
    entries: u32,
    controller: Arc<Controller>,
    media: Arc<Mutex<Media>>,
}

/// A write whose data are on their way.
struct Incoming {
    submission: Submission,
    at: u64,
    length: u32,
    received: u32,
}

/// The reading side.
struct Connection<'a> {
    target: &'a Target,
    number: u64,
    socket: &'a TcpStream,
    out: Sender<Outgoing>,
    in_flight: Arc<AtomicU32>,
    queue: Option<Queue>,
    incoming: BTreeMap<u16, Incoming>,
    streams: Streams,
}

/// Serves a connection to its end; `number` is its own.
pub(super) fn serve(target: &Target, number: u64, socket: TcpStream) {
    match attempt(target, number, &socket) {
        Ok(End::Writer) => return,
        Ok(End::Reader) => {}
        Err(error) => target.tell(&format!("connection {number}: {error}")),
    }
    // It may have ended by itself.
    let _ = socket.shutdown(Shutdown::Both);
}

/// Who ends a connection.
enum End {
    /// The reading side, at once.
    Reader,
    /// The writing side, when it has said why.
    Writer,
}

fn attempt(target: &Target, number: u64, socket: &TcpStream) -> std::io::Result<End> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(HANDSHAKE))?;
    socket.set_write_timeout(Some(WRITING))?;
    let mut reader = BufReader::new(socket);
    let alignment = match pdu::read(&mut reader, Limits::Fresh) {
        Ok(FromHost::Initialize(request)) => request.alignment,
        Ok(_) | Err(ReadError::Wire(_)) => return Ok(End::Reader),
        Err(ReadError::Fatal(error)) => {
            (&*socket).write_all(&pdu::termination(error))?;
            return Ok(End::Reader);
        }
    };
    (&*socket).write_all(&pdu::initialize_response())?;

    let (out, messages) = mpsc::channel();
    let in_flight = Arc::new(AtomicU32::new(0));
    let media = Arc::new(Mutex::new(None));
    let writer = Writer {
        socket: socket.try_clone()?,
        alignment,
        in_flight: Arc::clone(&in_flight),
        media: Arc::clone(&media),
        head: 0,
    };
    target.spawn(move || writer.run(&messages))?;
    let mut connection = Connection {
        target,
        number,
        socket,
        out,
        in_flight,
        queue: None,
        incoming: BTreeMap::new(),
        streams: Streams::default(),
    };
    let end = match connection.run(&mut reader, &media) {
        ReadError::Wire(_) => End::Reader,
        ReadError::Fatal(error) => {
            // Where the writer has ended, the connection has too.
            let _ = connection.out.send(Outgoing::Terminate(error));
            End::Writer
        }
    };
    connection.leave();
    Ok(end)
}

impl Connection<'_> {
    /// Takes what comes, until nothing more does.
    fn run(&mut self, reader: &mut BufReader<&TcpStream>, media: &Mutex<Option<Arc<Mutex<Media>>>>) -> ReadError {
        loop {
            let result = match pdu::read(reader, Limits::Initialized) {
                Ok(FromHost::Command(bytes, data)) => self.command(Submission::new(bytes), &data),
                Ok(FromHost::Data(data)) => self.data(&data),
                Ok(FromHost::Initialize(_)) => Err(FatalError::Sequence),
                Ok(FromHost::Terminate) => return ReadError::Wire(std::io::ErrorKind::ConnectionAborted.into()),
                Err(error) => return error,
            };
            if let Err(error) = result {
                return error.into();
            }
            if let Some(queue) = self.queue.as_ref().filter(|_| lock(media).is_none()) {
                *lock(media) = Some(Arc::clone(&queue.media));
            }
        }
    }

    fn command(&mut self, submission: Submission, data: &[u8]) -> Result<(), FatalError> {
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        let entries = self.queue.as_ref().map_or(1, |queue| queue.entries);
        if in_flight > entries {
            return Err(FatalError::Sequence);
        }
        if submission.opcode() == admin::FABRICS {
            let result = self.fabrics(&submission, data);
            self.complete(&submission, result);
            return Ok(());
        }
        match &self.queue {
            None => self.complete(&submission, Err(for_good(status::SEQUENCE))),
            Some(queue) if queue.number == 0 => self.admin(submission, data),
            Some(_) => {
                if let Err(status) = self.io(submission, data) {
                    self.refuse(&submission, status);
                }
            }
        }
        Ok(())
    }

    fn fabrics(&mut self, submission: &Submission, data: &[u8]) -> Result<u64, Status> {
        let kind = submission.fabrics_type();
        let Some(queue) = &self.queue else {
            return if kind == fabrics::CONNECT { self.connect(submission, data) } else { Err(status::SEQUENCE) };
        };
        let (controller, number) = (&queue.controller, queue.number);
        match kind {
            fabrics::CONNECT => Err(for_good(status::SEQUENCE)),
            fabrics::PROPERTY_GET if number == 0 => {
                let ready = self.target.plant.with(|shelf| shelf.is_ready(controller.slot));
                controller.property(submission, ready)
            }
            fabrics::PROPERTY_SET if number == 0 => {
                if controller.set_property(submission)? == Wanted::Reset {
                    self.target.plant.with(|shelf| shelf.reset(controller.slot));
                }
                Ok(0)
            }
            fabrics::DISCONNECT if number > 0 => Ok(0),
            _ => Err(for_good(Status::INVALID_FIELD)),
        }
    }

    fn connect(&mut self, submission: &Submission, data: &[u8]) -> Result<u64, Status> {
        let [record, queue] = halves(submission.dword(10));
        let [entries, _] = halves(submission.dword(11));
        let data: &[u8; CONNECT_LENGTH] = data.try_into().map_err(|_| for_good(status::CONNECT_PARAMETERS))?;
        if record != 0 {
            return Err(for_good(status::CONNECT_FORMAT));
        }
        if entries == 0 || entries >= QUEUE_ENTRIES || queue > IO_QUEUES {
            return Err(for_good(status::CONNECT_PARAMETERS));
        }
        let wanted = u16::from_le_bytes([data[16], data[17]]);
        let (subsystem, host) = (name(&data[256..512]), name(&data[512..768]));
        let slot = self.target.slot(&subsystem).ok_or(for_good(status::CONNECT_PARAMETERS))?;
        if !self.target.plant.with(|shelf| shelf.is_present(slot)) {
            return Err(for_good(status::CONNECT_PARAMETERS));
        }
        let controller = if queue == 0 {
            if wanted != u16::MAX {
                return Err(for_good(status::CONNECT_PARAMETERS));
            }
            self.target.open(slot, host, submission.dword(12), self.out.clone()).ok_or(status::CONNECT_BUSY)?
        } else {
            let controller = self.target.controller(wanted).filter(|controller| controller.slot == slot);
            let controller = controller.filter(|controller| controller.host == host && controller.is_enabled());
            controller.ok_or(for_good(status::CONNECT_PARAMETERS))?
        };
        let socket = self.socket.try_clone().map_err(|_| status::INTERNAL)?;
        if !controller.adopt(self.number, queue, socket) {
            return Err(for_good(status::CONNECT_PARAMETERS));
        }
        let id = controller.id;
        let media = Arc::clone(&self.target.media[slot]);
        self.queue = Some(Queue { number: queue, entries: u32::from(entries) + 1, controller, media });
        self.keep_time();
        Ok(id.into())
    }

    /// How long the host may be silent: on the admin queue what it has promised, on others for ever.
    fn keep_time(&self) {
        let Some(queue) = &self.queue else { return };
        let timer = queue.controller.keep_alive_ms();
        let silence = (queue.number == 0 && timer > 0).then(|| Duration::from_millis(timer.into()) + GRACE);
        // Fails for a span of zero only.
        let _ = self.socket.set_read_timeout(silence);
    }

    fn admin(&mut self, submission: Submission, data: &[u8]) {
        let Some(queue) = &self.queue else { return };
        let controller = Arc::clone(&queue.controller);
        let place = match submission.data() {
            Ok(place) => place,
            Err(status) => return self.refuse(&submission, status),
        };
        match submission.opcode() {
            admin::KEEP_ALIVE => return self.complete(&submission, Ok(0)),
            // Whatever is meant may be done before this is looked at, and then it cannot be aborted: bit 0 says so.
            admin::ABORT => return self.complete(&submission, Ok(1)),
            admin::ASYNCHRONOUS_EVENT_REQUEST => {
                // It is not in flight as others are: it may wait for ever.
                self.in_flight.fetch_sub(1, Ordering::Relaxed);
                if let Err(status) = controller.request_event(submission.id()) {
                    self.in_flight.fetch_add(1, Ordering::Relaxed);
                    self.refuse(&submission, status);
                }
                return;
            }
            GET_FEATURES => {
                if let Some(result) = controller.feature(&submission) {
                    return self.complete(&submission, result.map(u64::from));
                }
            }
            SET_FEATURES => {
                if let Some(result) = controller.set_feature(&submission) {
                    self.keep_time();
                    return self.complete(&submission, result.map(u64::from));
                }
            }
            // Unless it retains the event (RAE, bit 15).
            GET_LOG_PAGE if submission.dword(10) & (0xFF | 1 << 15) == u32::from(log_page::SMART_HEALTH) => {
                controller.clear_event();
            }
            _ => {}
        }
        // Bits 1:0 of an opcode say which way its data go; 1 is from the host.
        let from_host = submission.opcode() & 0b11 == 1;
        if from_host && place != DataPlace::InCapsule(u32::try_from(data.len()).unwrap_or(u32::MAX)) {
            return self.refuse(&submission, for_good(status::SGL_LENGTH));
        }
        let (id, out) = (submission.id(), self.out.clone());
        let room = place.length();
        let done = move |answer: Answer| {
            let completion = Completion { id, result: answer.result.into(), status: answer.status };
            let mut data = answer.data;
            data.truncate(usize::try_from(room).unwrap_or(usize::MAX));
            let message =
                if data.is_empty() { Outgoing::Completed(completion) } else { Outgoing::Data(data, completion) };
            // A connection that has ended needs no answer.
            let _ = out.send(message);
        };
        let admin = Admin { submission, data: data.to_vec(), controller: controller.id, done: Box::new(done) };
        self.target.plant.with(|shelf| shelf.admin(controller.slot, admin));
    }

    fn io(&mut self, submission: Submission, data: &[u8]) -> Result<(), Status> {
        let Some(queue) = &self.queue else { return Ok(()) };
        let everywhere = submission.opcode() == nvm::FLUSH && submission.namespace() == u32::MAX;
        if submission.namespace() != NAMESPACE && !everywhere {
            return Err(for_good(status::INVALID_NAMESPACE));
        }
        let place = submission.data()?;
        let first = submission.dwords(10);
        let blocks = u64::from(submission.dword(12) & 0xFFFF) + 1;
        let bytes = blocks * BLOCK;
        let moves = matches!(submission.opcode(), nvm::READ | nvm::WRITE);
        if moves && bytes > u64::from(MAX_TRANSFER_BYTES) {
            return Err(for_good(Status::INVALID_FIELD));
        }
        if moves && bytes != u64::from(place.length()) {
            return Err(for_good(status::SGL_LENGTH));
        }
        if submission.opcode() != nvm::FLUSH && !lock(&queue.media).has(first, blocks) {
            return Err(for_good(status::LBA_OUT_OF_RANGE));
        }
        let (id, out, at) = (submission.id(), self.out.clone(), first.saturating_mul(BLOCK));
        match submission.opcode() {
            nvm::READ => {
                let length = usize::try_from(bytes).map_err(|_| status::INTERNAL)?;
                let done = move |answer: Answer| {
                    // A connection that has ended needs no answer.
                    let _ = out.send(Outgoing::Content(at, length, Completion::of(id, answer.status)));
                };
                let work = self.streams.classify(true, at, bytes);
                self.hand_over(work, bytes, Box::new(done));
            }
            nvm::WRITE => match place {
                DataPlace::InCapsule(_) if data.len() as u64 != bytes => return Err(for_good(status::SGL_LENGTH)),
                DataPlace::InCapsule(_) => {
                    lock(&queue.media).write(at, data);
                    self.written(&submission, at, bytes);
                }
                DataPlace::OnTheWire(length) => {
                    let tag = (0..=u16::MAX).find(|tag| !self.incoming.contains_key(tag)).ok_or(status::INTERNAL)?;
                    self.incoming.insert(tag, Incoming { submission, at, length, received: 0 });
                    // The writer may have ended.
                    let _ = out.send(Outgoing::Wanted(id, tag, length));
                }
            },
            nvm::WRITE_ZEROES => {
                lock(&queue.media).zero(at, bytes);
                self.hand_over(Work::SequentialWrite, 0, self.plain(&submission));
            }
            nvm::FLUSH => self.hand_over(Work::SequentialWrite, 0, self.plain(&submission)),
            _ => return Err(for_good(status::INVALID_OPCODE)),
        }
        Ok(())
    }

    /// Data that were asked for: in order, and no more than was asked for.
    fn data(&mut self, piece: &HostData) -> Result<(), FatalError> {
        let incoming = self.incoming.get_mut(&piece.tag).ok_or(FatalError::InvalidHeader)?;
        let length = u32::try_from(piece.data.len()).map_err(|_| FatalError::LimitExceeded)?;
        if piece.command != incoming.submission.id() {
            return Err(FatalError::InvalidHeader);
        }
        if piece.offset != incoming.received || length > incoming.length - incoming.received {
            return Err(FatalError::OutOfRange);
        }
        let complete = incoming.received + length == incoming.length;
        if piece.last != complete || length == 0 {
            return Err(FatalError::InvalidHeader);
        }
        let at = incoming.at + u64::from(incoming.received);
        incoming.received += length;
        if let Some(queue) = &self.queue {
            lock(&queue.media).write(at, &piece.data);
        }
        if complete && let Some(incoming) = self.incoming.remove(&piece.tag) {
            self.written(&incoming.submission, incoming.at, incoming.length.into());
        }
        Ok(())
    }

    /// All data of a write are there.
    fn written(&mut self, submission: &Submission, at: u64, bytes: u64) {
        let work = self.streams.classify(false, at, bytes);
        let done = self.plain(submission);
        self.hand_over(work, bytes, done);
    }

    fn plain(&self, submission: &Submission) -> Done {
        let (id, out) = (submission.id(), self.out.clone());
        Box::new(move |answer| {
            // A connection that has ended needs no answer.
            let _ = out.send(Outgoing::Completed(Completion::of(id, answer.status)));
        })
    }

    fn hand_over(&self, work: Work, bytes: u64, done: Done) {
        let Some(queue) = &self.queue else { return };
        let io = Io { work, bytes, connection: self.number, done };
        self.target.plant.with(|shelf| shelf.io(queue.controller.slot, io));
    }

    fn complete(&self, submission: &Submission, result: Result<u64, Status>) {
        match result {
            Ok(result) => {
                let completion = Completion { id: submission.id(), result, status: Status::SUCCESS };
                // The writer may have ended.
                let _ = self.out.send(Outgoing::Completed(completion));
            }
            Err(status) => self.refuse(submission, status),
        }
    }

    fn refuse(&self, submission: &Submission, status: Status) {
        if let Some(queue) = &self.queue {
            let (slot, number) = (queue.controller.slot, queue.number);
            self.target.plant.with(|shelf| shelf.note_error(slot, number, submission, status));
        }
        // The writer may have ended.
        let _ = self.out.send(Outgoing::Completed(Completion::of(submission.id(), status)));
    }

    /// The connection is over: its commands are forgotten, and with the admin queue the controller.
    fn leave(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        let slot = queue.controller.slot;
        queue.controller.release(self.number);
        self.target.plant.with(|shelf| shelf.forget(slot, self.number));
        if queue.number == 0 {
            self.target.close(&queue.controller);
        }
    }
}

/// Both 16-bit halves of a dword, the low one first.
fn halves(dword: u32) -> [u16; 2] {
    let [a, b, c, d] = dword.to_le_bytes();
    [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])]
}

/// A name that ends with a zero.
fn name(field: &[u8]) -> String {
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}
