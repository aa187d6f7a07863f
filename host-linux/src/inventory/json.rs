//! JSON: which tool wrote it.

use serde_json::Value;

use super::{Inventory, InventoryError, Resemblance, excerpt, nvme_json, smartctl_json, smartctl_text};

/// Reads the JSON of nvme-cli or smartctl.
pub(super) fn read(text: &str) -> Result<Inventory, InventoryError> {
    let document: Value = serde_json::from_str(text).map_err(InventoryError::Json)?;
    if document.get("psds").is_some() {
        nvme_json::read(document)
    } else if document.get("nvme_power_states").is_some() {
        smartctl_json::read(document)
    } else if let Some(output) = smartctl_output(&document) {
        smartctl_text::read(&output)
    } else {
        Err(InventoryError::JsonShape(resemblance(&document)))
    }
}

/// The text that `smartctl --json=o` adds line by line. It helps with versions before 7.5, which leave the power
/// states out of their own JSON.
fn smartctl_output(document: &Value) -> Option<String> {
    let lines: Vec<&str> = document.pointer("/smartctl/output")?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(lines.join("\n"))
}

/// A key that only one command writes, and the command.
const TELLTALES: [(&str, &str); 4] = [
    ("critical_warning", "nvme smart-log"),
    ("Devices", "nvme list"),
    ("nsze", "nvme id-ns"),
    ("Subsystems", "nvme list-subsys"),
];

fn resemblance(document: &Value) -> Resemblance {
    let Some(object) = document.as_object() else { return Resemblance::NotAnObject };
    if object.contains_key("smartctl") {
        return match document.pointer("/smartctl/messages/0/string").and_then(Value::as_str) {
            Some(message) => Resemblance::SmartctlFailure(excerpt(message)),
            None => Resemblance::SmartctlBefore75,
        };
    }
    match TELLTALES.iter().find(|(key, _)| object.contains_key(*key)) {
        Some((_, command)) => Resemblance::Command(command),
        None => Resemblance::Object(object.keys().take(5).map(|key| excerpt(key)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_another_shape_is_named() {
        for (text, looks) in [
            (r#"{"smartctl":{"version":[7,3]},"device":{}}"#, "it looks like smartctl before 7.5"),
            (
                r#"{"smartctl":{"messages":[{"string":"open failed","severity":"error"}]}}"#,
                r#"it looks like a failure of smartctl: "open failed""#,
            ),
            (r#"{"critical_warning":0,"temperature":323}"#, "it looks like `nvme smart-log`"),
            (r#"{"Devices":[]}"#, "it looks like `nvme list`"),
            (r#"{"a":1,"b":2}"#, "it is an object with the keys \"a\", \"b\""),
            ("{}", "it is an empty object"),
            ("[1]", "it is not an object"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("`psds`") && error.contains("`nvme_power_states`"), "{error}");
            assert!(error.ends_with(looks), "{error}");
        }
    }

    #[test]
    fn json_that_ends_early_says_where() {
        let error = read("{\"psds\": [\n").unwrap_err().to_string();
        assert_eq!(error, "it starts like JSON, but is not: EOF while parsing a list at line 2 column 0");
    }
}
