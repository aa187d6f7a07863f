//! Writes a drive of `host-linux/data/drives.json` in the formats that tools write. It shares no code with the readers,
//! but for the page, which the core encodes.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};
use wattline_core::nvme::identify::Text;
use wattline_core::nvme::{IdentifyController, Power, PowerScale, PowerStateDescriptor, ScaledPower};
use wattline_core::units::{Kelvin, Microseconds};

/// A drive as posted.
#[derive(Deserialize)]
pub(crate) struct Drive {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) firmware: Option<String>,
    pub(crate) apsta: Option<u8>,
    pub(crate) wctemp: Option<u16>,
    pub(crate) cctemp: Option<u16>,
    pub(crate) hctma: Option<u16>,
    pub(crate) mntmt: Option<u16>,
    pub(crate) mxtmt: Option<u16>,
    pub(crate) rtd3r: Option<u32>,
    pub(crate) rtd3e: Option<u32>,
    pub(crate) states: Vec<State>,
}

/// A power state as posted.
#[derive(Deserialize)]
pub(crate) struct State {
    pub(crate) mp_w: f64,
    pub(crate) mxps: u8,
    pub(crate) nops: u8,
    pub(crate) enlat_us: u32,
    pub(crate) exlat_us: u32,
    pub(crate) rrt: u8,
    pub(crate) rrl: u8,
    pub(crate) rwt: u8,
    pub(crate) rwl: u8,
    pub(crate) idle_w: Option<f64>,
    pub(crate) active_w: Option<f64>,
    pub(crate) smartctl_active_text: Option<String>,
    pub(crate) raw: Option<String>,
}

/// All drives.
pub(crate) fn drives() -> Vec<Drive> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/drives.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Watts in tenths of a milliwatt.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a drive takes less than 400 kW")]
pub(crate) fn tenths_of_milliwatt(watts: f64) -> u32 {
    let tenths = (watts * 10_000.0).round();
    assert!((tenths - watts * 10_000.0).abs() < 1e-6, "{watts} W is finer than any scale");
    tenths as u32
}

impl State {
    /// The raw MP.
    fn mp(&self) -> u16 {
        let tenths = tenths_of_milliwatt(self.mp_w);
        u16::try_from(if self.mxps == 1 { tenths } else { tenths / 100 }).unwrap()
    }

    /// MP as smartctl prints it.
    fn mp_text(&self) -> String {
        if self.mxps == 1 { format!("{:.4}W", self.mp_w) } else { format!("{:.2}W", self.mp_w) }
    }

    /// Count and scale code of an idle or active power: the finer scale where the count fits.
    fn count_and_scale(watts: Option<f64>) -> (u16, u8) {
        let tenths = watts.map_or(0, tenths_of_milliwatt);
        match u16::try_from(tenths) {
            Ok(0) => (0, 0),
            Ok(count) => (count, 1),
            Err(_) => (u16::try_from(tenths / 100).unwrap(), 2),
        }
    }

    fn descriptor(&self) -> PowerStateDescriptor {
        let scale = |code| if code == 1 { PowerScale::TenthMilliwatt } else { PowerScale::TenMilliwatts };
        let power = |(count, code)| Power::new(count, scale(code));
        let latency = |micros| (micros != 0).then(|| Microseconds::new(u64::from(micros)));
        PowerStateDescriptor {
            max_power: power((self.mp(), self.mxps)),
            non_operational: self.nops == 1,
            entry_latency: latency(self.enlat_us),
            exit_latency: latency(self.exlat_us),
            relative_read_throughput: self.rrt,
            relative_read_latency: self.rrl,
            relative_write_throughput: self.rwt,
            relative_write_latency: self.rwl,
            idle_power: ScaledPower::of(power(Self::count_and_scale(self.idle_w))),
            active_power: ScaledPower::of(power(Self::count_and_scale(self.active_w))),
            ..PowerStateDescriptor::default()
        }
    }
}

/// The Identify Controller page. What was not posted is 0. `None` where a name is longer than its field.
pub(crate) fn page(drive: &Drive) -> Option<Vec<u8>> {
    let firmware = drive.firmware.as_deref().unwrap_or_default();
    if drive.model.len() > 40 || firmware.len() > 8 {
        return None;
    }
    let temperature = |kelvin: Option<u16>| kelvin.filter(|&kelvin| kelvin != 0).map(Kelvin::new);
    let latency = |micros: Option<u32>| micros.filter(|&micros| micros != 0).map(|us| Microseconds::new(us.into()));
    let controller = IdentifyController {
        model: Text::new(&drive.model),
        firmware: Text::new(firmware),
        rtd3_resume_latency: latency(drive.rtd3r),
        rtd3_entry_latency: latency(drive.rtd3e),
        apst_supported: drive.apsta == Some(1),
        warning_temperature: temperature(drive.wctemp),
        critical_temperature: temperature(drive.cctemp),
        hctm_supported: drive.hctma == Some(1),
        min_thermal_management_temperature: temperature(drive.mntmt),
        max_thermal_management_temperature: temperature(drive.mxtmt),
        power_states: drive.states.iter().map(State::descriptor).collect(),
        ..IdentifyController::default()
    };
    let mut page = [0; IdentifyController::LENGTH];
    controller.encode(&mut page);
    Some(page.to_vec())
}

/// A page as a hex dump.
pub(crate) fn hex_dump(page: &[u8]) -> String {
    let mut text = "# Identify Controller\n".to_owned();
    for (line, bytes) in page.chunks(16).enumerate() {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{:04x}: {}", line * 16, bytes.join(" ")).unwrap();
    }
    text
}

/// How nvme-cli writes MXPS and NOPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NvmeFlags {
    /// One byte, as in 2.3.
    Byte,
    /// Two keys, as in later versions.
    Keys,
}

/// `nvme id-ctrl -o json`. A key that was not posted is left out.
pub(crate) fn nvme_json(drive: &Drive, flags: NvmeFlags) -> String {
    let psds: Vec<Value> = drive.states.iter().map(|state| nvme_psd(state, flags)).collect();
    let mut document = json!({
        "vid": 0, "sn": "S                   ", "mn": format!("{:40}", drive.model), "tnvmcap": "0",
        "npss": drive.states.len() - 1, "psds": psds,
    });
    let posted = [
        ("fr", drive.firmware.as_ref().map(|firmware| format!("{firmware:8}").into())),
        ("apsta", drive.apsta.map(Value::from)),
        ("wctemp", drive.wctemp.map(Value::from)),
        ("cctemp", drive.cctemp.map(Value::from)),
        ("hctma", drive.hctma.map(Value::from)),
        ("mntmt", drive.mntmt.map(Value::from)),
        ("mxtmt", drive.mxtmt.map(Value::from)),
        ("rtd3r", drive.rtd3r.map(Value::from)),
        ("rtd3e", drive.rtd3e.map(Value::from)),
    ];
    for (key, value) in posted {
        if let Some(value) = value {
            document[key] = value;
        }
    }
    document.to_string()
}

fn nvme_psd(state: &State, flags: NvmeFlags) -> Value {
    let (idle_power, idle_scale) = State::count_and_scale(state.idle_w);
    let (active_power, active_scale) = State::count_and_scale(state.active_w);
    let mut psd = json!({
        "max_power": state.mp(), "entry_lat": state.enlat_us, "exit_lat": state.exlat_us,
        "read_tput": state.rrt, "read_lat": state.rrl, "write_tput": state.rwt, "write_lat": state.rwl,
        "idle_power": idle_power, "idle_scale": idle_scale,
        "active_power": active_power, "active_power_work": 0, "active_scale": active_scale,
    });
    match flags {
        NvmeFlags::Byte => psd["flags"] = (state.mxps | state.nops << 1).into(),
        NvmeFlags::Keys => {
            psd["max_power_scale"] = state.mxps.into();
            psd["non-operational_state"] = state.nops.into();
        }
    }
    psd
}

/// `smartctl -j -a`, 7.5.
pub(crate) fn smartctl_json(drive: &Drive) -> String {
    let states: Vec<Value> = drive.states.iter().map(smartctl_state).collect();
    let mut document = json!({
        "smartctl": { "version": [7, 5] }, "device": { "protocol": "NVMe" },
        "model_name": drive.model, "nvme_power_states": states,
    });
    if let Some(firmware) = &drive.firmware {
        document["firmware_version"] = firmware.clone().into();
    }
    for (key, kelvin) in [("warning", drive.wctemp), ("critical", drive.cctemp)] {
        if let Some(kelvin) = kelvin.filter(|&kelvin| kelvin != 0) {
            document["nvme_composite_temperature_threshold"][key] = (i32::from(kelvin) - 273).into();
        }
    }
    document.to_string()
}

fn smartctl_state(state: &State) -> Value {
    let (scale, units_per_watt) = if state.mxps == 1 { (1, 10_000) } else { (2, 100) };
    let mut value = json!({
        "non_operational_state": state.nops == 1,
        "relative_read_latency": state.rrl, "relative_read_throughput": state.rrt,
        "relative_write_latency": state.rwl, "relative_write_throughput": state.rwt,
        "entry_latency_us": state.enlat_us, "exit_latency_us": state.exlat_us,
        "max_power": { "value": state.mp(), "scale": scale, "units_per_watt": units_per_watt },
    });
    if state.smartctl_active_text.is_some() {
        value["active_power"] = json!({ "value": 9999, "scale": 2, "units_per_watt": 100 });
    }
    value
}

/// The table that smartctl prints, between its neighbours.
pub(crate) fn smartctl_capabilities(drive: &Drive) -> String {
    let mut text = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\
                    \n=== START OF INFORMATION SECTION ===\n"
        .to_owned();
    text.push_str(&thresholds_and_table(drive));
    text
}

/// `smartctl -a` of a namespace.
pub(crate) fn smartctl_all(drive: &Drive) -> String {
    let mut text = "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\
                    \n=== START OF INFORMATION SECTION ===\n"
        .to_owned();
    writeln!(text, "Model Number:                       {}", drive.model).unwrap();
    writeln!(text, "Serial Number:                      S").unwrap();
    if let Some(firmware) = &drive.firmware {
        writeln!(text, "Firmware Version:                   {firmware}").unwrap();
    }
    text.push_str(&thresholds_and_table(drive));
    text.push_str(
        "\nSupported LBA Sizes (NSID 0x1)\nId Fmt  Data  Metadt  Rel_Perf\n 0 +     512       0         2\n \
         1 -    4096       0         1\n\n=== START OF SMART DATA SECTION ===\n\
         Warning  Comp. Temperature Time:    0\nCritical Comp. Temperature Time:    0\n",
    );
    text
}

/// Text as posts show it: empty lines and repeated spaces are lost.
pub(crate) fn as_posted(text: &str) -> String {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Some models have two spaces in a row, which the comparison is to find again.
    let posted = |line: &str| match line.split_once(':') {
        Some((name, value)) => format!("{}: {}", words(name), value.trim()),
        None => words(line),
    };
    text.lines().map(posted).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// `smartctl --json=o`, which holds the text line by line.
pub(crate) fn smartctl_json_with_output(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    json!({ "smartctl": { "version": [7, 4], "output": lines }, "model_name": "?" }).to_string()
}

fn thresholds_and_table(drive: &Drive) -> String {
    let mut text = String::new();
    for (name, kelvin) in [("Warning ", drive.wctemp), ("Critical", drive.cctemp)] {
        if let Some(kelvin) = kelvin.filter(|&kelvin| kelvin != 0) {
            writeln!(text, "{name} Comp. Temp. Threshold:     {} Celsius", i32::from(kelvin) - 273).unwrap();
        }
    }
    text.push_str("\nSupported Power States\n");
    text.push_str("St Op     Max   Active     Idle   RL RT WL WT  Ent_Lat  Ex_Lat\n");
    for (number, state) in drive.states.iter().enumerate() {
        writeln!(
            text,
            "{number:2} {} {:>9} {:>8} {:>8} {:3} {:2} {:2} {:2} {:8} {:7}",
            if state.nops == 1 { '-' } else { '+' },
            state.mp_text(),
            state.smartctl_active_text.as_deref().unwrap_or("- "),
            "- ",
            state.rrl,
            state.rrt,
            state.rwl,
            state.rwt,
            state.enlat_us,
            state.exlat_us,
        )
        .unwrap();
    }
    text
}
