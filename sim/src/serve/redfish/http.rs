//! HTTP/1.1, as much of it as one request needs.

use std::io::{self, Read};

use serde_json::{Value, json};

/// Bytes of a request's head, at most.
const MAX_HEAD: usize = 8192;
/// Bytes of a request's body, at most.
const MAX_BODY: usize = 4096;
/// Header fields, at most.
const MAX_FIELDS: usize = 64;

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    target: String,
    /// Names in lower case.
    fields: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    #[cfg(test)]
    pub(super) fn new(method: &str, target: &str, fields: &[(&str, &str)], body: &str) -> Self {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { method: method.into(), target: target.into(), fields, body: body.into() }
    }

    /// The path, without what follows a question mark, and without a slash at its end.
    pub(super) fn path(&self) -> &str {
        let path = self.target.split(['?', '#']).next().unwrap_or_default();
        path.trim_end_matches('/')
    }

    /// The first header field of this name, which is in lower case.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a request, or what answers it where it is none that can be served.
///
/// # Errors
///
/// Where the connection ends before that is clear.
pub(super) fn read(from: &mut impl Read) -> io::Result<Result<Request, Response>> {
    let mut bytes = Vec::new();
    let (mut request, head, length) = loop {
        match head(&bytes) {
            Ok(Some(found)) => break found,
            Ok(None) if bytes.len() >= MAX_HEAD => return Ok(Err(Response::error(431, "the head is too long"))),
            Ok(None) => more(from, &mut bytes)?,
            Err(response) => return Ok(Err(response)),
        }
    };
    while bytes.len() < head + length {
        more(from, &mut bytes)?;
    }
    request.body = bytes.get(head..head + length).unwrap_or_default().to_vec();
    Ok(Ok(request))
}

fn more(from: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; 1024];
    let count = from.read(&mut piece)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    bytes.extend(piece.iter().take(count));
    Ok(())
}

/// The request without its body, where that begins, and how long it is; `None`: it is not complete yet.
fn head(bytes: &[u8]) -> Result<Option<(Request, usize, usize)>, Response> {
    let bad = |what: &str| Response::error(400, what);
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= MAX_HEAD => length,
        Ok(httparse::Status::Complete(_)) => return Err(Response::error(431, "the head is too long")),
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(bad(&error.to_string())),
    };
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        ..Request::default()
    };
    for field in parsed.headers.iter() {
        let value = std::str::from_utf8(field.value).map_err(|_| bad("a header field is no text"))?;
        request.fields.push((field.name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.field("transfer-encoding").is_some() {
        return Err(Response::error(501, "a body needs a Content-Length here"));
    }
    let body = match request.field("content-length") {
        None => 0,
        Some(text) => text.parse().map_err(|_| bad("Content-Length is no number"))?,
    };
    if body > MAX_BODY {
        return Err(Response::error(413, "the body is too long"));
    }
    Ok(Some((request, length, body)))
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Response {
    /// Success with this body.
    pub(super) fn ok(body: &Value) -> Self {
        Self { status: 200, fields: Vec::new(), body: body.to_string() }
    }

    /// A failure, in the form that Redfish gives it.
    pub(super) fn error(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "code": "Base.1.12.GeneralError", "message": message } });
        Self { status, fields: Vec::new(), body: body.to_string() }
    }

    /// Who asks has to say who that is.
    pub(super) fn unauthorized() -> Self {
        let challenge = ("WWW-Authenticate", "Basic realm=\"RedfishService\"".to_owned());
        Self { fields: vec![challenge], ..Self::error(401, "this needs a user or a session") }
    }

    /// Its bytes.
    pub(super) fn encode(&self) -> Vec<u8> {
        let reason = match self.status {
            200 => "OK",
            201 => "Created",
            204 => "No Content",
            400 => "Bad Request",
            401 => "Unauthorized",
            404 => "Not Found",
            405 => "Method Not Allowed",
            413 => "Content Too Large",
            431 => "Request Header Fields Too Large",
            501 => "Not Implemented",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let mut text = format!("HTTP/1.1 {} {reason}\r\nOData-Version: 4.0\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.fields {
            text += &format!("{name}: {value}\r\n");
        }
        if self.status != 204 {
            text += &format!("Content-Type: application/json;charset=utf-8\r\nContent-Length: {}\r\n", self.body.len());
        }
        text += "\r\n";
        if self.status != 204 {
            text += &self.body;
        }
        text.into_bytes()
    }
}
