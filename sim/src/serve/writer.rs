//! The writing side of a connection: one thread, which encodes what it is told to send.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use super::command::Completion;
use super::controller::lock;
use super::media::Media;
use super::pages::QUEUE_ENTRIES;
use super::pdu::{self, FatalError};

/// Something for the writer.
pub(super) enum Outgoing {
    /// A completion.
    Completed(Completion),
    /// The completion of an Asynchronous Event Request, which does not count as in flight.
    Event(Completion),
    /// Data of an admin command, and its completion.
    Data(Vec<u8>, Completion),
    /// What is on the drive from this byte on, and the completion.
    Content(u64, usize, Completion),
    /// Data are wanted: command, tag, bytes.
    Wanted(u16, u16, u32),
    /// The end.
    Terminate(FatalError),
}

/// The writing side.
pub(super) struct Writer {
    pub(super) socket: TcpStream,
    pub(super) alignment: u8,
    pub(super) in_flight: Arc<AtomicU32>,
    pub(super) media: Arc<Mutex<Option<Arc<Mutex<Media>>>>>,
    pub(super) head: u16,
}

impl Writer {
    pub(super) fn run(mut self, messages: &Receiver<Outgoing>) {
        while let Ok(message) = messages.recv() {
            let last = matches!(message, Outgoing::Terminate(_));
            let bytes = self.encode(message);
            if self.socket.write_all(&bytes).is_err() || last {
                break;
            }
        }
        // Wakes the reader; it may have ended by itself.
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    fn encode(&mut self, message: Outgoing) -> Vec<u8> {
        match message {
            Outgoing::Event(completion) => self.response(completion),
            Outgoing::Completed(completion) => self.completion(completion),
            Outgoing::Data(data, completion) => {
                let mut bytes = pdu::data_to_host(completion.id, &data, self.alignment);
                bytes.extend(self.completion(completion));
                bytes
            }
            Outgoing::Content(at, length, completion) => {
                let mut data = vec![0; length];
                if let Some(media) = &*lock(&self.media) {
                    lock(media).read(at, &mut data);
                }
                self.encode(Outgoing::Data(data, completion))
            }
            Outgoing::Wanted(command, tag, length) => pdu::ready_to_transfer(command, tag, length),
            Outgoing::Terminate(error) => pdu::termination(error),
        }
    }

    /// Before the host can see it, so that it never has more in flight than it may.
    fn completion(&mut self, completion: Completion) -> Vec<u8> {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.response(completion)
    }

    fn response(&mut self, completion: Completion) -> Vec<u8> {
        self.head = (self.head + 1) % QUEUE_ENTRIES;
        pdu::response(&completion.encode(self.head))
    }
}
