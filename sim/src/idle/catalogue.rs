//! Real drives' power tables, from a JSON file of posts about them: one table for all posts that say the same.

use std::fmt;

use serde::Deserialize;
use wattline_core::apst::Drive;
use wattline_core::nvme::{Power, PowerScale, PowerStateDescriptor, ScaledPower};
use wattline_core::units::Microseconds;

/// A power table, and who posted it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerTable {
    /// Model and firmware of the first post.
    pub name: String,
    /// How many posts say the same.
    pub posts: usize,
    /// The states.
    pub states: Vec<PowerStateDescriptor>,
}

impl PowerTable {
    /// As a drive of which it is not known whether it has the feature.
    #[must_use]
    pub fn drive(&self) -> Drive<'_> {
        Drive { states: &self.states, supported: None }
    }
}

#[derive(Deserialize)]
struct Post {
    model: String,
    firmware: Option<String>,
    states: Vec<PostedState>,
}

#[derive(Deserialize)]
struct PostedState {
    mp_w: Option<f64>,
    mxps: Option<u8>,
    nops: Option<u8>,
    enlat_us: Option<u64>,
    exlat_us: Option<u64>,
    idle_w: Option<f64>,
}

/// Reads the file; the tables with non-operational states, in the file's order.
///
/// # Errors
///
/// If it is no JSON of this form.
pub fn read(json: &str) -> Result<Vec<PowerTable>, serde_json::Error> {
    let posts: Vec<Post> = serde_json::from_str(json)?;
    let mut tables: Vec<PowerTable> = Vec::new();
    for post in &posts {
        let states: Vec<_> = post.states.iter().map(descriptor).collect();
        if !states.iter().any(|state| state.non_operational) {
            continue;
        }
        match tables.iter_mut().find(|table| table.states == states) {
            Some(table) => table.posts += 1,
            None => tables.push(PowerTable { name: name(post).to_string(), posts: 1, states }),
        }
    }
    Ok(tables)
}

fn name(post: &Post) -> impl fmt::Display {
    let firmware = post.firmware.as_deref().map_or_else(String::new, |firmware| format!(" ({firmware})"));
    format!("{}{firmware}", post.model)
}

fn descriptor(state: &PostedState) -> PowerStateDescriptor {
    let scale = if state.mxps == Some(1) { PowerScale::TenthMilliwatt } else { PowerScale::TenMilliwatts };
    let latency = |micros: Option<u64>| micros.filter(|micros| *micros > 0).map(Microseconds::new);
    PowerStateDescriptor {
        max_power: state.mp_w.and_then(|watts| power(watts, scale)),
        non_operational: state.nops == Some(1),
        entry_latency: latency(state.enlat_us),
        exit_latency: latency(state.exlat_us),
        idle_power: ScaledPower::of(state.idle_w.and_then(finest_power)),
        ..PowerStateDescriptor::default()
    }
}

/// The list does not keep the scale of idle power; the finer one where the count fits is as exact.
fn finest_power(watts: f64) -> Option<Power> {
    power(watts, PowerScale::TenthMilliwatt).or_else(|| power(watts, PowerScale::TenMilliwatts))
}

/// `None` for what a field cannot hold, and for 0, which means that it is not reported.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates; compared with what it was"
)]
fn power(watts: f64, scale: PowerScale) -> Option<Power> {
    let step = if scale == PowerScale::TenthMilliwatt { 0.0001 } else { 0.01 };
    let count = libm::round(watts / step);
    let exact = count as u16;
    Power::new(exact, scale).filter(|_| f64::from(exact) == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_that_say_the_same_are_one_table_and_zero_is_not_reported() {
        let post = |model: &str, exit: u64| {
            let states = [
                r#"{"mp_w": 3.5, "mxps": 0, "nops": 0, "enlat_us": 0, "exlat_us": 0, "idle_w": 0.63}"#.to_owned(),
                format!(
                    r#"{{"mp_w": 0.005, "mxps": 1, "nops": 1, "enlat_us": 9, "exlat_us": {exit}, "idle_w": null}}"#
                ),
            ];
            format!(r#"{{"model": "{model}", "firmware": "1", "states": [{}]}}"#, states.join(","))
        };
        let tables = read(&format!("[{},{},{}]", post("A", 5), post("B", 5), post("C", 0))).unwrap();
        assert_eq!(
            tables.iter().map(|table| (&*table.name, table.posts)).collect::<Vec<_>>(),
            [("A (1)", 2), ("C (1)", 1)]
        );
        let [waiting, asleep] = tables[0].states[..] else { panic!("two states") };
        assert_eq!(waiting.idle_power.power().map(Power::tenths_of_milliwatt), Some(6300));
        assert_eq!(asleep.max_power.map(Power::tenths_of_milliwatt), Some(50));
        assert_eq!(tables[1].states[1].exit_latency, None);
    }

    /// Every figure that a descriptor can hold at one of its scales is kept.
    #[test]
    fn idle_powers_of_a_watt_and_of_a_hundred_are_read() {
        for (watts, tenths) in [(0.0018, 18), (6.5535, 65_535), (7.0, 70_000), (655.35, 6_553_500)] {
            assert_eq!(finest_power(watts).map(Power::tenths_of_milliwatt), Some(tenths), "{watts}");
        }
        assert_eq!((finest_power(0.0), finest_power(655.36)), (None, None));
    }
}
