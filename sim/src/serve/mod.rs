//! Virtual drives on the network, for software that nobody here wrote: an NVMe/TCP target whose drives are those of the
//! model, in real time, and the server's management controller, which reads the model's meter by Redfish.
//!
//! ```text
//!   host ══ NVMe/TCP ══ connection ── controller ┐                        ┌ chassis
//!   host ══ NVMe/TCP ══ connection ── controller ┼── plant ── shelf ──────┤   drive, drive, …
//!   tool ══ HTTPS ═════ redfish ─────────────────┘  (real time)           └ meter
//! ```
//!
//! | room | what it knows |
//! |---|---|
//! | [`pdu`] | the transport's bytes |
//! | [`command`] | the bytes of commands and completions |
//! | `pages` | the bytes of Identify data and logs |
//! | `features` | what may be set, and what survives a reset |
//! | `media` | what is written on a drive |
//! | `kind` | what a drive says about itself, and how it does what it does |
//! | `shelf` | the drives at work, in time that is passed in |
//! | `plant` | the same in real time |
//! | `controller`, `connection`, `streams`, `writer`, `target` | hosts, and what they see |
//! | `redfish` | the management controller |
//!
//! **Who may connect.** Everybody: the target has no authentication, and the management controller's certificate is
//! made at the start. So both listen on this machine only, unless [`Options::anywhere`] says otherwise.
//!
//! **Left out:** digests, TLS for NVMe, the discovery service, several namespaces, reservations, metadata. Of the
//! scenario, jobs, rows, caps, governor and expectations mean nothing here: what the drives do is what hosts ask for.

pub mod command;
mod connection;
mod controller;
mod features;
mod kind;
mod media;
mod pages;
pub mod pdu;
mod plant;
mod redfish;
mod shelf;
mod streams;
mod target;
mod writer;

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::calibration::Calibration;
use crate::idle::catalogue::PowerTable;
use crate::random::{Purpose, Random};
use crate::scenario::Scenario;
use crate::setup;
use crate::wire::Wires;
use features::Features;
use kind::Kind;
use media::Media;
use plant::Plant;
use redfish::Redfish;
pub use redfish::RedfishOptions;
use shelf::{Bay, Shelf, Surroundings};
use target::{Target, subsystem_name};

/// The NVMe revision that the drives follow: 1.4.
const VERSION: u32 = 0x0001_0400;

/// What is served, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the NVMe/TCP target listens; port 0: any.
    pub listen: SocketAddr,
    /// The management controller, if there is to be one.
    pub redfish: Option<RedfishOptions>,
    /// Other machines may connect to both.
    pub anywhere: bool,
    /// What GB/s are multiplied with: above 0, at most 1. Watts, heat and time are never scaled.
    pub throughput_scale: f64,
    /// Capacity of each drive in bytes. It is kept in memory as far as it is not zero.
    pub capacity: u64,
    /// Seed of all chance.
    pub seed: u64,
    /// Power states of the first drives; those after them are reference drives.
    pub tables: Vec<PowerTable>,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Whoever is not on this machine could connect.
    #[error("{0} can be reached from other machines, and nothing here asks for a password: say --anywhere to mean it")]
    NotLoopback(SocketAddr),
    /// A drive has no such power state, or it is none to start in.
    #[error(
        "drive {slot} ({name}) has no operational power state {state}, which the scenario starts it in or lets it \
             fall back to"
    )]
    NoSuchState {
        /// The drive's slot.
        slot: usize,
        /// Its table's name.
        name: String,
        /// The state.
        state: usize,
    },
    /// A scale outside its range.
    #[error("a throughput scale of {0}: must be above 0 and at most 1")]
    Scale(f64),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// Which one.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There are no threads left.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}

/// A target at work. It ends when this is dropped.
pub struct Server {
    /// Where the NVMe/TCP target listens.
    pub address: SocketAddr,
    /// Where the management controller listens, and its certificate in PEM.
    pub redfish: Option<(SocketAddr, String)>,
    target: Arc<Target>,
    threads: Vec<JoinHandle<()>>,
}

/// What a target has to do at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Controllers that hosts have.
    pub controllers: usize,
    /// Connections.
    pub connections: usize,
}

/// Serves the drives of a scenario.
///
/// # Errors
///
/// Where an option is out of its range, and where the address cannot be listened on.
pub fn start(scenario: &Scenario, calibration: &Calibration, options: &Options) -> Result<Server, ServeError> {
    let scale = options.throughput_scale;
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(ServeError::Scale(scale));
    }
    let listener = listen(options.listen, options.anywhere)?;
    let redfish_listener =
        options.redfish.as_ref().map(|redfish| listen(redfish.listen, options.anywhere)).transpose()?;
    let address = listener.local_addr()?;
    let count = scenario.drives.count;
    let media: Vec<_> = (0..count).map(|_| Media::new(options.capacity)).collect();
    let blocks = options.capacity / media::BLOCK;
    let plant = Arc::new(Plant::new(shelf(scenario, calibration, options, blocks)?));
    let target = Arc::new(Target::new(Arc::clone(&plant), media));
    let hearing = Arc::clone(&target);
    let clock = std::thread::Builder::new().spawn(move || plant.run(|notice| hearing.hear(notice)))?;
    let accepting = Arc::clone(&target);
    let accept = std::thread::Builder::new().spawn(move || accepting.accept(&listener))?;
    let mut server = Server { address, redfish: None, target, threads: vec![clock, accept] };
    if let (Some(options), Some(listener)) = (&options.redfish, redfish_listener) {
        let (redfish, certificate) = Redfish::new(Arc::clone(&server.target), options)?;
        server.redfish = Some((listener.local_addr()?, certificate));
        let redfish = Arc::new(redfish);
        server.threads.push(std::thread::Builder::new().spawn(move || redfish.accept(&listener))?);
    }
    Ok(server)
}

fn listen(address: SocketAddr, anywhere: bool) -> Result<TcpListener, ServeError> {
    if !address.ip().is_loopback() && !anywhere {
        return Err(ServeError::NotLoopback(address));
    }
    TcpListener::bind(address).map_err(|source| ServeError::Address { address, source })
}

fn shelf(scenario: &Scenario, calibration: &Calibration, options: &Options, blocks: u64) -> Result<Shelf, ServeError> {
    let section = &scenario.drives;
    let reference = Kind::reference(calibration);
    let kinds: Vec<_> = (0..section.count)
        .map(|slot| match options.tables.get(slot) {
            Some(table) => Kind::posted(&reference.model, table),
            None => reference.clone(),
        })
        .collect();
    for (slot, kind) in kinds.iter().enumerate() {
        for state in [section.initial_ps, section.fallback_ps] {
            if !kind.operational().any(|operational| operational == state) {
                let name = kind.identity.model.as_str().to_owned();
                return Err(ServeError::NoSuchState { slot, name, state });
            }
        }
    }
    let models = kinds.iter().map(|kind| Arc::clone(&kind.model));
    let chassis = setup::chassis_of(scenario, calibration, options.seed, models);
    let bays = kinds.into_iter().enumerate().map(|(slot, kind)| {
        let [initial, fallback] =
            [section.initial_ps, section.fallback_ps].map(|state| u32::try_from(state).unwrap_or(0));
        let features = Features::new(&kind.identity, initial, fallback);
        Bay::new(kind, subsystem_name(slot), features)
    });
    let moments = |sections: &[crate::scenario::schema::MomentSection]| {
        let of_section = |section: &crate::scenario::schema::MomentSection| {
            let at = section.at_s.micros();
            let slots = (0..scenario.drives.count).filter(|slot| section.drives.contains(*slot));
            slots.map(|slot| (at, slot)).collect::<Vec<_>>()
        };
        sections.iter().flat_map(of_section).collect()
    };
    let around = Surroundings {
        meter: setup::meter(scenario, calibration),
        meter_noise: Random::stream(options.seed, Purpose::Meter, 0),
        inlet_c: scenario.chassis.inlet_c.unwrap_or(calibration.chassis.inlet_c),
        wires: Wires::new(scenario.faults, options.seed, section.count),
        resets: moments(&scenario.reset),
        removals: moments(&scenario.removal),
    };
    Ok(Shelf::new(chassis, bays.collect(), blocks, options.throughput_scale, around))
}

impl Server {
    /// The subsystems' names, by slot.
    #[must_use]
    pub fn subsystems(&self) -> Vec<String> {
        (0..self.target.media.len()).map(subsystem_name).collect()
    }

    /// What it has to do at the moment.
    #[must_use]
    pub fn load(&self) -> Load {
        let (controllers, connections) = self.target.load();
        Load { controllers, connections }
    }

    /// Waits until it ends, which it does not do by itself.
    pub fn wait(mut self) {
        for thread in std::mem::take(&mut self.threads) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.target.stop();
        self.target.plant.stop();
        for address in std::iter::once(self.address).chain(self.redfish.as_ref().map(|(address, _)| *address)) {
            // Wakes the thread that accepts; where that fails, it has ended.
            let _ = TcpStream::connect(address);
        }
    }
}
