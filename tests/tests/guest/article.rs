//! The reference experiment with its own tools: what fio and Redfish said in the guest, scaled back, against the
//! figures of the article. What was recorded is that of `tests/guest/article`.

use std::fs;

use wattline_sim::calibration::Article;

use crate::recorded::{Recorded, json};

const RECORDED: Recorded = Recorded("WATTLINE_ARTICLE_RESULTS");
/// What GB/s were multiplied with, as in the script.
const SCALE: f64 = 0.000_25;
/// How far each figure may be from the article's.
const WITHIN: f64 = 0.05;

/// A row: its name, what it should be in watts and GB/s, and what it is.
struct Row {
    name: String,
    watts: [f64; 2],
    gb_s: Option<[f64; 2]>,
}

/// Mean of the meter's readings.
fn watts(row: &str) -> f64 {
    let directory = RECORDED.directory().join(row);
    let names = fs::read_dir(&directory).expect("a row").map(|entry| entry.expect("a file").file_name());
    let names = names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with("power-"));
    let readings: Vec<f64> = names
        .map(|name| json(&RECORDED.file(&format!("{row}/{name}")))["PowerControl"][0]["PowerConsumedWatts"].clone())
        .map(|reading| reading.as_f64().expect("watts"))
        .collect();
    assert!(readings.len() >= 3, "{row}: {} readings", readings.len());
    readings.iter().sum::<f64>() / readings.len() as f64
}

/// What fio says of all its jobs together, scaled back.
fn gb_s(row: &str, direction: &str) -> f64 {
    let report = json(&RECORDED.file(&format!("{row}/fio.json")));
    let jobs = report["jobs"].as_array().expect("jobs");
    let of =
        |key: &str| -> Vec<f64> { jobs.iter().map(|job| job[direction][key].as_f64().expect("a number")).collect() };
    assert!(of("runtime").iter().all(|millis| *millis >= 60_000.0), "{row}: at least a minute");
    assert_eq!(jobs.iter().filter(|job| job["error"] != 0).count(), 0);
    of("bw_bytes").iter().sum::<f64>() / 1e9 / SCALE
}

fn rows() -> Vec<Row> {
    let article = Article::embedded();
    let exists = |name: &str| RECORDED.directory().join(name).is_dir();
    let server = &article.server;
    let idle = [("idle-no-drives", server.idle_no_drives_w), ("idle-drives", server.idle_drives_installed_w)];
    let idle = idle.into_iter().filter(|(name, _)| exists(name)).map(|(name, expected)| Row {
        name: name.into(),
        watts: [expected, watts(name)],
        gb_s: None,
    });
    let work = article.row.iter().map(|row| (format!("{}-{}", row.work.name(), row.ps), row));
    let work = work.filter(|(name, _)| exists(name)).map(|(name, row)| {
        let direction = if name.starts_with("sequential-read") { "read" } else { "write" };
        let gb_s = Some([row.gb_s, gb_s(&name, direction)]);
        Row { watts: [row.total_w, watts(&name)], gb_s, name }
    });
    idle.chain(work).collect()
}

fn off([should, is]: [f64; 2]) -> f64 {
    is / should - 1.0
}

#[test]
#[ignore = "needs the guest: tests/run article"]
fn the_reference_experiment_repeated_by_its_own_tools() {
    let rows = rows();
    println!("| row | W, article | W here | off | GB/s, article | GB/s here | off |\n|---|---|---|---|---|---|---|");
    for Row { name, watts, gb_s } in &rows {
        let percent = |figures| format!("{:+.1} %", 100.0 * off(figures));
        let gb_s = gb_s.map_or("- | - | -".into(), |figures| {
            format!("{:.1} | {:.1} | {}", figures[0], figures[1], percent(figures))
        });
        println!("| {name} | {:.0} | {:.0} | {} | {gb_s} |", watts[0], watts[1], percent(*watts));
    }
    assert!(rows.len() >= 2);
    for row in &rows {
        assert!(off(row.watts).abs() < WITHIN, "{}: {:?} W", row.name, row.watts);
        assert!(row.gb_s.is_none_or(|figures| off(figures).abs() < WITHIN), "{}: {:?} GB/s", row.name, row.gb_s);
    }
}
