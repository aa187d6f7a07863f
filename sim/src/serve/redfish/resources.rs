//! What there is to be asked for: service root, chassis, its power and temperatures, sensors. Names and paths are those
//! of an iDRAC9; property meanings are those of the Redfish schema.

use serde_json::{Value, json};

use crate::serve::shelf::Snapshot;

const ROOT: &str = "/redfish/v1";
const CHASSIS: &str = "/redfish/v1/Chassis/System.Embedded.1";

/// Whether anybody may ask for it.
pub(super) fn is_open(path: &str) -> bool {
    path == "/redfish" || path == ROOT
}

/// The resource at this path, if there is one.
pub(super) fn get(path: &str, server: &Snapshot) -> Option<Value> {
    if let Some(below) = path.strip_prefix(CHASSIS) {
        return match below {
            "" => Some(chassis()),
            "/Power" => Some(power(server)),
            "/Thermal" => Some(thermal(server)),
            "/Sensors" => Some(sensors(server)),
            _ => sensor(below.strip_prefix("/Sensors/")?, server),
        };
    }
    match path {
        "/redfish" => Some(json!({ "v1": format!("{ROOT}/") })),
        ROOT => Some(root()),
        "/redfish/v1/Chassis" => Some(collection("Chassis", &[CHASSIS.to_owned()], path)),
        "/redfish/v1/SessionService" => Some(json!({
            "@odata.id": path,
            "@odata.type": "#SessionService.v1_1_8.SessionService",
            "Id": "SessionService",
            "Name": "Session Service",
            "ServiceEnabled": true,
            "SessionTimeout": 1800,
            "Sessions": { "@odata.id": format!("{path}/Sessions") },
        })),
        _ => None,
    }
}

fn root() -> Value {
    json!({
        "@odata.id": ROOT,
        "@odata.type": "#ServiceRoot.v1_11_0.ServiceRoot",
        "Id": "RootService",
        "Name": "Root Service",
        "Product": "wattline-sim",
        "RedfishVersion": "1.11.0",
        "Chassis": { "@odata.id": format!("{ROOT}/Chassis") },
        "SessionService": { "@odata.id": format!("{ROOT}/SessionService") },
        "Links": { "Sessions": { "@odata.id": format!("{ROOT}/SessionService/Sessions") } },
    })
}

fn chassis() -> Value {
    let below = |name: &str| json!({ "@odata.id": format!("{CHASSIS}/{name}") });
    json!({
        "@odata.id": CHASSIS,
        "@odata.type": "#Chassis.v1_17_0.Chassis",
        "Id": "System.Embedded.1",
        "Name": "Computer System Chassis",
        "ChassisType": "StandAlone",
        "Manufacturer": "Wattline",
        "Model": "Virtual server",
        "PowerState": "On",
        "Status": { "Health": "OK", "State": "Enabled" },
        "Power": below("Power"),
        "Thermal": below("Thermal"),
        "Sensors": below("Sensors"),
    })
}

fn collection(name: &str, members: &[String], path: &str) -> Value {
    let ids: Vec<_> = members.iter().map(|id| json!({ "@odata.id": id })).collect();
    json!({
        "@odata.id": path,
        "@odata.type": format!("#{name}Collection.{name}Collection"),
        "Name": format!("{name} Collection"),
        "Members": ids,
        "Members@odata.count": members.len(),
    })
}

/// The meter's last reading and what it was in the last minute, in whole watts.
fn power(server: &Snapshot) -> Value {
    let watts = &server.watts;
    let mean = watts.iter().sum::<f64>() / watts.len().max(1) as f64;
    json!({
        "@odata.id": format!("{CHASSIS}/Power"),
        "@odata.type": "#Power.v1_7_0.Power",
        "Id": "Power",
        "Name": "Power",
        "PowerControl": [{
            "@odata.id": format!("{CHASSIS}/Power/PowerControl"),
            "MemberId": "PowerControl",
            "Name": "System Power Control",
            "PowerConsumedWatts": whole(reading(server)),
            "PowerMetrics": {
                "AverageConsumedWatts": whole(mean),
                "IntervalInMin": 1,
                "MaxConsumedWatts": whole(watts.iter().copied().fold(0.0, f64::max)),
                "MinConsumedWatts": whole(watts.iter().copied().fold(f64::MAX, f64::min)),
            },
        }],
        "PowerSupplies": [],
    })
}

fn reading(server: &Snapshot) -> f64 {
    server.watts.last().copied().unwrap_or(0.0)
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, which is what is meant")]
fn whole(value: f64) -> i64 {
    libm::round(value) as i64
}

fn thermal(server: &Snapshot) -> Value {
    let temperatures = temperatures(server).map(|(id, name, celsius)| {
        json!({
            "@odata.id": format!("{CHASSIS}/Thermal/Temperatures/{id}"),
            "MemberId": id,
            "Name": name,
            "ReadingCelsius": whole(celsius),
            "Status": { "Health": "OK", "State": "Enabled" },
        })
    });
    json!({
        "@odata.id": format!("{CHASSIS}/Thermal"),
        "@odata.type": "#Thermal.v1_7_0.Thermal",
        "Id": "Thermal",
        "Name": "Thermal",
        "Temperatures": temperatures.collect::<Vec<_>>(),
        "Fans": [],
    })
}

/// Identifier, name and °C of each temperature.
fn temperatures(server: &Snapshot) -> impl Iterator<Item = (String, String, f64)> + '_ {
    let inlet = ("SystemBoardInletTemp".to_owned(), "System Board Inlet Temp".to_owned(), server.inlet_c);
    let drives = server
        .drives_c
        .iter()
        .map(|(slot, celsius)| (format!("Disk.Bay.{slot}"), format!("Drive in bay {slot}"), *celsius));
    std::iter::once(inlet).chain(drives)
}

const METER: &str = "SystemBoardPwrConsumption";

fn sensors(server: &Snapshot) -> Value {
    let ids = std::iter::once(METER.to_owned()).chain(temperatures(server).map(|(id, ..)| id));
    let members: Vec<_> = ids.map(|id| format!("{CHASSIS}/Sensors/{id}")).collect();
    collection("Sensor", &members, &format!("{CHASSIS}/Sensors"))
}

fn sensor(id: &str, server: &Snapshot) -> Option<Value> {
    let (name, reading, kind, unit) = if id == METER {
        ("System Board Pwr Consumption".to_owned(), reading(server), "Power", "W")
    } else {
        let (_, name, celsius) = temperatures(server).find(|(known, ..)| known == id)?;
        (name, celsius, "Temperature", "Cel")
    };
    Some(json!({
        "@odata.id": format!("{CHASSIS}/Sensors/{id}"),
        "@odata.type": "#Sensor.v1_5_0.Sensor",
        "Id": id,
        "Name": name,
        "Reading": whole(reading),
        "ReadingType": kind,
        "ReadingUnits": unit,
        "Status": { "Health": "OK", "State": "Enabled" },
    }))
}
