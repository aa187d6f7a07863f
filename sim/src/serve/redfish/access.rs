//! Who may ask: one user, by basic authentication, or by a session that was opened with the same password (Redfish
//! Specification, "Authentication").

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use super::http::{Request, Response};

/// Sessions at a time, as on an iDRAC9.
const SESSIONS: usize = 8;
/// A session that is not used for this long ends.
const IDLE: Duration = Duration::from_secs(1800);
/// Where sessions are.
const COLLECTION: &str = "/redfish/v1/SessionService/Sessions";
/// Where an iDRAC9 has them too.
const OLD_COLLECTION: &str = "/redfish/v1/Sessions";

/// The user and the sessions.
#[derive(Debug)]
pub(super) struct Access {
    user: String,
    password: String,
    sessions: Vec<Session>,
    last: u64,
}

#[derive(Debug)]
struct Session {
    number: u64,
    token: String,
    used: Duration,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// Nobody that is known.
    Unknown,
    /// The user.
    User,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Login {
    user_name: String,
    password: String,
}

impl Access {
    /// Nobody but this user.
    pub(super) fn new(user: &str, password: &str) -> Self {
        Self { user: user.into(), password: password.into(), sessions: Vec::new(), last: 0 }
    }

    /// Who sent this request at `now`.
    pub(super) fn caller(&mut self, request: &Request, now: Duration) -> Caller {
        self.sessions.retain(|session| now.saturating_sub(session.used) < IDLE);
        if let Some(token) = request.field("x-auth-token") {
            let known = self.sessions.iter_mut().find(|session| same(&session.token, token));
            return known.map_or(Caller::Unknown, |session| {
                session.used = now;
                Caller::User
            });
        }
        let basic = request.field("authorization").and_then(|value| value.strip_prefix("Basic "));
        let decoded = basic.and_then(|text| STANDARD.decode(text.trim()).ok());
        let pair = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        match pair.as_deref().and_then(|pair| pair.split_once(':')) {
            Some((user, password)) if self.knows(user, password) => Caller::User,
            _ => Caller::Unknown,
        }
    }

    /// Answers what is about sessions; `token` makes one that nobody can guess.
    pub(super) fn respond(
        &mut self,
        request: &Request,
        caller: Caller,
        now: Duration,
        token: &mut dyn FnMut() -> Option<String>,
    ) -> Option<Response> {
        let path = request.path();
        if path == COLLECTION || path == OLD_COLLECTION {
            return Some(match request.method.as_str() {
                "POST" => self.open(&request.body, now, token),
                "GET" if caller == Caller::User => self.list(),
                "GET" => Response::unauthorized(),
                _ => Response::error(405, "sessions are listed by GET and opened by POST"),
            });
        }
        let rest = path.strip_prefix(COLLECTION).or_else(|| path.strip_prefix(OLD_COLLECTION))?;
        let number = rest.strip_prefix('/')?;
        if caller == Caller::Unknown {
            return Some(Response::unauthorized());
        }
        let known = self.sessions.iter().position(|session| session.number.to_string() == number);
        Some(match (known, request.method.as_str()) {
            (None, _) => Response::error(404, "there is no such session"),
            (Some(_), "GET") => Response::ok(&self.resource(number)),
            (Some(index), "DELETE") => {
                self.sessions.remove(index);
                Response { status: 204, fields: Vec::new(), body: String::new() }
            }
            (Some(_), _) => Response::error(405, "a session is read by GET and ended by DELETE"),
        })
    }

    fn open(&mut self, body: &[u8], now: Duration, token: &mut dyn FnMut() -> Option<String>) -> Response {
        let Ok(login) = serde_json::from_slice::<Login>(body) else {
            return Response::error(400, "a session needs UserName and Password");
        };
        if !self.knows(&login.user_name, &login.password) {
            return Response::unauthorized();
        }
        if self.sessions.len() >= SESSIONS {
            return Response::error(503, "there are too many sessions");
        }
        let Some(token) = token() else { return Response::error(503, "there is no token to be had") };
        self.last += 1;
        let number = self.last.to_string();
        self.sessions.push(Session { number: self.last, token: token.clone(), used: now });
        Response {
            status: 201,
            fields: vec![("X-Auth-Token", token), ("Location", format!("{COLLECTION}/{number}"))],
            body: self.resource(&number).to_string(),
        }
    }

    fn list(&self) -> Response {
        let members =
            self.sessions.iter().map(|session| json!({ "@odata.id": format!("{COLLECTION}/{}", session.number) }));
        Response::ok(&json!({
            "@odata.id": COLLECTION,
            "@odata.type": "#SessionCollection.SessionCollection",
            "Name": "Sessions",
            "Members": members.collect::<Vec<_>>(),
            "Members@odata.count": self.sessions.len(),
        }))
    }

    fn resource(&self, number: &str) -> serde_json::Value {
        json!({
            "@odata.id": format!("{COLLECTION}/{number}"),
            "@odata.type": "#Session.v1_3_0.Session",
            "Id": number,
            "Name": "User Session",
            "UserName": self.user,
        })
    }

    fn knows(&self, user: &str, password: &str) -> bool {
        same(&self.user, user) & same(&self.password, password)
    }
}

/// Compares in a time that does not say where the difference is.
fn same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && differing == 0
}
