use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::shelf::Snapshot;
use super::*;

fn server() -> Snapshot {
    Snapshot { watts: vec![594.0, 627.0, 858.0], inlet_c: 25.0, drives_c: vec![(0, 33.8), (7, 40.2)] }
}

fn ask(access: &mut Access, request: &Request, seconds: u64) -> Response {
    let now = Duration::from_secs(seconds);
    let caller = access.caller(request, now);
    let mut tokens = 0;
    let token = &mut || {
        tokens += 1;
        Some(format!("token-{seconds}-{tokens}"))
    };
    let response = access.respond(request, caller, now, token);
    response.unwrap_or_else(|| if caller == Caller::User { Response::ok(&json!({})) } else { Response::unauthorized() })
}

fn body(response: &Response) -> Value {
    serde_json::from_str(&response.body).unwrap()
}

fn login(password: &str) -> Request {
    let body = format!(r#"{{"UserName": "root", "Password": "{password}"}}"#);
    Request::new("POST", "/redfish/v1/SessionService/Sessions/", &[], &body)
}

#[test]
fn the_password_opens_and_nothing_else_does() {
    let mut access = Access::new("root", "calvin");
    let basic = |text: &str| Request::new("GET", "/redfish/v1/Chassis", &[("authorization", text)], "");
    // `printf root:calvin | base64`, and the same of root:calvi and of root alone.
    assert_eq!(ask(&mut access, &basic("Basic cm9vdDpjYWx2aW4="), 0).status, 200);
    for wrong in ["Basic cm9vdDpjYWx2aQ==", "Basic cm9vdA==", "Basic ====", "Bearer cm9vdDpjYWx2aW4=", ""] {
        let response = ask(&mut access, &basic(wrong), 0);
        assert_eq!(response.status, 401, "{wrong}");
        assert!(response.fields.iter().any(|(name, _)| *name == "WWW-Authenticate"));
    }
    assert_eq!(ask(&mut access, &login("wrong"), 0).status, 401);
    assert_eq!(ask(&mut access, &Request::new("POST", "/redfish/v1/Sessions", &[], "{}"), 0).status, 400);
}

#[test]
fn a_session_lasts_while_it_is_used_and_until_it_is_ended() {
    let mut access = Access::new("root", "calvin");
    let opened = ask(&mut access, &login("calvin"), 0);
    assert_eq!(opened.status, 201);
    let field = |name| opened.fields.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()).unwrap();
    let (token, place) = (field("X-Auth-Token"), field("Location"));
    assert_eq!(body(&opened)["@odata.id"], place.as_str());
    let with = |method, path: &str, token: &str| Request::new(method, path, &[("x-auth-token", token)], "");
    let chassis = with("GET", "/redfish/v1/Chassis", &token);
    for at in [1, 1799, 3598] {
        assert_eq!(ask(&mut access, &chassis, at).status, 200, "{at}");
    }
    assert_eq!(ask(&mut access, &with("GET", "/redfish/v1/Chassis", "token"), 3598).status, 401);
    assert_eq!(ask(&mut access, &chassis, 3598 + 1800).status, 401, "too long ago");

    let again = ask(&mut access, &login("calvin"), 6000);
    let token = again.fields[0].1.clone();
    let place = again.fields[1].1.clone();
    assert_eq!(ask(&mut access, &Request::new("DELETE", &place, &[], ""), 6001).status, 401, "by somebody else");
    assert_eq!(ask(&mut access, &with("DELETE", &place, &token), 6001).status, 204);
    assert_eq!(ask(&mut access, &with("GET", "/redfish/v1/Chassis", &token), 6002).status, 401);
}

#[test]
fn sessions_do_not_grow_without_end() {
    let mut access = Access::new("root", "calvin");
    let statuses: Vec<_> = (0..20).map(|at| ask(&mut access, &login("calvin"), at).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 8);
    assert_eq!(ask(&mut access, &login("calvin"), 4000).status, 201, "the old ones have ended");
}

/// Every link that a resource has leads to a resource that says so itself.
#[test]
fn every_link_leads_somewhere() {
    fn links(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| match value {
                Value::String(text) if key == "@odata.id" => into.push(text.clone()),
                value => links(value, into),
            }),
            Value::Array(values) => values.iter().for_each(|value| links(value, into)),
            _ => {}
        }
    }
    let server = server();
    let mut todo = vec!["/redfish/v1".to_owned()];
    let mut seen = std::collections::BTreeSet::new();
    while let Some(path) = todo.pop() {
        // Sessions are not among the resources; parts of Power and Thermal have names, but no resource of their own.
        if path.contains("/Sessions") || path.contains("/Power/") || path.contains("/Thermal/") {
            continue;
        }
        if seen.insert(path.clone()) {
            let resource = resources::get(&path, &server).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(resource["@odata.id"], path.as_str());
            links(&resource, &mut todo);
        }
    }
    assert_eq!(seen.len(), 11, "{seen:?}");
    assert_eq!(resources::get("/redfish/v1/Chassis/System.Embedded.1/Sensors/Disk.Bay.1", &server), None);
}

#[test]
fn watts_are_the_meters() {
    let power = resources::get("/redfish/v1/Chassis/System.Embedded.1/Power", &server()).unwrap();
    let control = &power["PowerControl"][0];
    assert_eq!(control["PowerConsumedWatts"], 858);
    let metrics = &control["PowerMetrics"];
    assert_eq!(metrics["AverageConsumedWatts"], 693);
    assert_eq!((&metrics["MinConsumedWatts"], &metrics["MaxConsumedWatts"]), (&json!(594), &json!(858)));
    let sensor = "/redfish/v1/Chassis/System.Embedded.1/Sensors/SystemBoardPwrConsumption";
    assert_eq!(resources::get(sensor, &server()).unwrap()["Reading"], 858);
}

#[test]
fn requests_are_read_and_refused_by_length() {
    let read = |text: &str| http::read(&mut Cursor::new(text.as_bytes().to_vec()));
    let request =
        read("POST /redfish/v1/Sessions/?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}rest").unwrap();
    let request = request.unwrap();
    assert_eq!((request.method.as_str(), request.path()), ("POST", "/redfish/v1/Sessions"));
    assert_eq!((request.field("host"), request.body.as_slice()), (Some("x"), b"{}".as_slice()));
    let status = |text: &str| read(text).unwrap().unwrap_err().status;
    assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 4097\r\n\r\n"), 413);
    assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), 400);
    assert_eq!(status("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"), 400);
    assert_eq!(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 501);
    assert_eq!(status(&format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(9000))), 431);
    assert_eq!(status(&format!("GET /{}", "x".repeat(9000))), 431);
    assert!(read("GET / HTTP/1.1\r\nHost").is_err(), "it ended too early");
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        if let Ok(Ok(request)) = http::read(&mut Cursor::new(bytes)) {
            let mut access = Access::new("root", "calvin");
            ask(&mut access, &request, 0);
            resources::get(request.path(), &server());
        }
    }
}
