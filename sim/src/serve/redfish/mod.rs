//! The server's management controller: Redfish over HTTPS, with the paths of an iDRAC9 that matter here.
//!
//! | room | what it knows |
//! |---|---|
//! | `http` | requests and responses as bytes; no length is trusted |
//! | `access` | who may ask: basic authentication and sessions |
//! | `resources` | what there is to be asked for |
//!
//! Each connection carries one request. The certificate is made at the start and signed by itself: give it to the
//! client (`curl --cacert`), since nobody else vouches for it.

mod access;
mod http;
mod resources;

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::controller::lock;
use super::target::Target;
use access::{Access, Caller};
use http::{Request, Response};

/// Connections at a time; what comes beyond is closed.
const CONNECTIONS: usize = 64;
/// How long a peer may take for each step.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a peer may take in all.
const IN_ALL: Duration = Duration::from_secs(30);

/// What is served by Redfish, and to whom.
#[derive(Clone, Debug)]
pub struct RedfishOptions {
    /// Where it listens; port 0: any.
    pub listen: SocketAddr,
    /// Name of the one user.
    pub user: String,
    /// That user's password.
    pub password: String,
}

/// The management controller.
pub(super) struct Redfish {
    target: Arc<Target>,
    tls: Arc<ServerConfig>,
    access: Mutex<Access>,
    connections: AtomicUsize,
    start: Instant,
}

/// A certificate for this address, in PEM, and the server's side of TLS that uses it.
fn tls(address: IpAddr) -> io::Result<(String, ServerConfig)> {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), address.to_string()];
    let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).map_err(io::Error::other)?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key))
        .map_err(io::Error::other)?;
    Ok((made.cert.pem(), config))
}

impl Redfish {
    /// The management controller of these drives' server, and its certificate in PEM.
    pub(super) fn new(target: Arc<Target>, options: &RedfishOptions) -> io::Result<(Self, String)> {
        let (certificate, tls) = tls(options.listen.ip())?;
        let access = Mutex::new(Access::new(&options.user, &options.password));
        let tls = Arc::new(tls);
        Ok((Self { target, tls, access, connections: AtomicUsize::new(0), start: Instant::now() }, certificate))
    }

    /// Takes connections until the target ends.
    pub(super) fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for socket in listener.incoming() {
            if self.target.is_stopped() {
                return;
            }
            // What cannot be accepted, or not be served, is closed; the others go on.
            let Ok(socket) = socket else { continue };
            if self.connections.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let this = Arc::clone(self);
            let serve = move || {
                // A peer that fails at TLS or HTTP, or goes away, concerns nobody else.
                let _ = this.serve(socket);
                this.connections.fetch_sub(1, Ordering::Relaxed);
            };
            if self.target.spawn(serve).is_err() {
                self.connections.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn serve(&self, socket: TcpStream) -> io::Result<()> {
        socket.set_read_timeout(Some(PATIENCE))?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let connection = ServerConnection::new(Arc::clone(&self.tls)).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(connection, socket);
        let response = match http::read(&mut Hurried { stream: &mut stream, until: Instant::now() + IN_ALL })? {
            Ok(request) => self.respond(&request),
            Err(refusal) => refusal,
        };
        stream.write_all(&response.encode())?;
        stream.conn.send_close_notify();
        stream.flush()
    }

    fn respond(&self, request: &Request) -> Response {
        let mut access = lock(&self.access);
        let now = self.start.elapsed();
        let caller = access.caller(request, now);
        if let Some(response) = access.respond(request, caller, now, &mut random_token) {
            return response;
        }
        if caller == Caller::Unknown && !resources::is_open(request.path()) {
            return Response::unauthorized();
        }
        if request.method != "GET" {
            return Response::error(405, "only GET is possible here");
        }
        match resources::get(request.path(), &self.target.plant.with(|shelf| shelf.snapshot())) {
            Some(body) => Response::ok(&body),
            None => Response::error(404, "there is no such resource"),
        }
    }
}

/// A token that nobody can guess; `None` where the system has no chance to offer.
fn random_token() -> Option<String> {
    let mut bytes = [0; 16];
    default_provider().secure_random.fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A stream that ends at some time, however slowly its bytes come.
struct Hurried<'a, S> {
    stream: &'a mut S,
    until: Instant,
}

impl<S: Read> Read for Hurried<'_, S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if Instant::now() > self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.read(into)
    }
}

#[cfg(test)]
mod tests;
