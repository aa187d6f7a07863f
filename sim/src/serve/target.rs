//! The target: every drive a subsystem, and the controllers that hosts have of them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread;

use super::connection;
use super::controller::{Controller, lock};
use super::media::Media;
use super::plant::Plant;
use super::shelf::Notice;
use super::writer::Outgoing;

/// Connections at a time; what comes beyond is closed.
const CONNECTIONS: usize = 2048;
/// Controllers at a time.
const CONTROLLERS: usize = 512;
/// The highest identifier that a controller may have.
const LAST_CONTROLLER: u16 = 0xFFEF;
/// Bytes of a thread's stack: no thread here has anything large on it.
const STACK: usize = 256 * 1024;

/// Every drive a subsystem, and the controllers that hosts have of them.
pub(super) struct Target {
    pub(super) plant: Arc<Plant>,
    /// Content of each drive.
    pub(super) media: Vec<Arc<Mutex<Media>>>,
    controllers: Mutex<Controllers>,
    connections: AtomicUsize,
    accepted: AtomicU64,
    stopped: AtomicBool,
}

#[derive(Default)]
struct Controllers {
    by_id: BTreeMap<u16, Arc<Controller>>,
    last: u16,
}

/// The name of the subsystem that is the drive in this slot.
pub(super) fn subsystem_name(slot: usize) -> String {
    format!("nqn.2026-01.invalid.wattline:drive-{slot}")
}

impl Target {
    /// Drives with this content.
    pub(super) fn new(plant: Arc<Plant>, media: Vec<Media>) -> Self {
        Self {
            plant,
            media: media.into_iter().map(|media| Arc::new(Mutex::new(media))).collect(),
            controllers: Mutex::default(),
            connections: AtomicUsize::new(0),
            accepted: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// The slot of the drive whose subsystem has this name.
    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        (0..self.media.len()).find(|slot| subsystem_name(*slot) == name)
    }

    /// A new controller of a drive; `None` where there are too many.
    pub(super) fn open(
        &self,
        slot: usize,
        host: String,
        keep_alive_ms: u32,
        admin: Sender<Outgoing>,
    ) -> Option<Arc<Controller>> {
        let mut controllers = lock(&self.controllers);
        if controllers.by_id.len() >= CONTROLLERS {
            return None;
        }
        let mut id = controllers.last;
        loop {
            id = if id >= LAST_CONTROLLER { 1 } else { id + 1 };
            if !controllers.by_id.contains_key(&id) {
                break;
            }
        }
        controllers.last = id;
        let controller = Arc::new(Controller::new(id, slot, host, keep_alive_ms, admin));
        controllers.by_id.insert(id, Arc::clone(&controller));
        Some(controller)
    }

    /// The controller with this identifier.
    pub(super) fn controller(&self, id: u16) -> Option<Arc<Controller>> {
        lock(&self.controllers).by_id.get(&id).cloned()
    }

    /// Ends a controller and its connections.
    pub(super) fn close(&self, controller: &Controller) {
        lock(&self.controllers).by_id.remove(&controller.id);
        controller.cut();
        if controller.is_enabled() && !controller.is_shut_down() {
            self.plant.with(|shelf| shelf.note_unsafe_shutdown(controller.slot));
        }
    }

    /// Tells every controller that it concerns.
    pub(super) fn hear(&self, notice: Notice) {
        let (Notice::Temperature(slot) | Notice::Cut(slot)) = notice;
        let controllers: Vec<_> = lock(&self.controllers).by_id.values().cloned().collect();
        for controller in controllers.iter().filter(|controller| controller.slot == slot) {
            match notice {
                Notice::Temperature(_) => controller.temperature_crossed(),
                Notice::Cut(_) => controller.cut(),
            }
        }
    }

    /// Controllers and connections at the moment.
    pub(super) fn load(&self) -> (usize, usize) {
        (lock(&self.controllers).by_id.len(), self.connections.load(Ordering::Relaxed))
    }

    /// Takes connections until [`Self::stop`].
    pub(super) fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for socket in listener.incoming() {
            if self.is_stopped() {
                return;
            }
            // What cannot be accepted, or not be served, is closed; the others go on.
            if let Ok(socket) = socket {
                self.take(socket);
            }
        }
    }

    fn take(self: &Arc<Self>, socket: TcpStream) {
        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
        if self.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            self.connections.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let target = Arc::clone(self);
        let serve = move || {
            connection::serve(&target, number, socket);
            target.connections.fetch_sub(1, Ordering::Relaxed);
        };
        if self.spawn(serve).is_err() {
            self.connections.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Starts a thread.
    ///
    /// # Errors
    ///
    /// Where the system has none left.
    pub(super) fn spawn(&self, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        thread::Builder::new().stack_size(STACK).spawn(run).map(drop)
    }

    /// Whether it is to end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Ends [`Self::accept`] at the next connection, and every controller.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        lock(&self.controllers).by_id.values().for_each(|controller| controller.cut());
    }

    /// A line for whoever watches; nobody has to.
    pub(super) fn tell(&self, what: &str) {
        let _ = writeln!(io::stderr(), "{what}");
    }
}
