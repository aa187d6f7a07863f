//! `wattline-sim serve`.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use wattline_sim::calibration::Calibration;
use wattline_sim::idle::catalogue::{self, PowerTable};
use wattline_sim::scenario;
use wattline_sim::serve::{self, Options, RedfishOptions};

use super::{CliError, print};

pub(super) const EXAMPLES: &str = "\
Examples:
  wattline-sim serve r760-article --throughput-scale 0.00025
  nvme connect -t tcp -a 127.0.0.1 -s 4420 -n nqn.2026-01.invalid.wattline:drive-0
  curl --cacert redfish.pem -u root:calvin https://127.0.0.1:4443/redfish/v1/Chassis/System.Embedded.1/Power";

#[derive(Debug, Args)]
pub(super) struct ServeArguments {
    /// Name of a built-in scenario, or path of a TOML file. Its jobs, rows, caps and governor mean nothing here.
    scenario: String,
    /// Where the NVMe/TCP target listens.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4420")]
    listen: SocketAddr,
    /// Where the management controller listens (Redfish over HTTPS).
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4443")]
    redfish: SocketAddr,
    /// The management controller's one user.
    #[arg(long, value_name = "NAME:PASSWORD", default_value = "root:calvin", value_parser = user)]
    redfish_user: (String, String),
    /// Writes the management controller's certificate, which nobody else vouches for.
    #[arg(long, value_name = "FILE.pem")]
    certificate: Option<PathBuf>,
    /// Lets other machines connect. The target has no authentication: whoever reaches it may read, write and reset.
    #[arg(long)]
    anywhere: bool,
    /// What GB/s are multiplied with, above 0 and at most 1. Watts, heat and time are never scaled.
    #[arg(long, value_name = "X", default_value_t = 1.0, allow_hyphen_values = true)]
    throughput_scale: f64,
    /// Capacity of each drive in MiB. What is written and not zero is kept in memory.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    capacity: u32,
    /// Seed of all chance, instead of 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// JSON file of posted power tables: the drives have these, in the file's order, each table once. Only tables with
    /// non-operational states count. Drives after the last table are reference drives.
    #[arg(long, value_name = "FILE.json")]
    catalogue: Option<PathBuf>,
    /// The table of the first drive, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "catalogue")]
    first_table: usize,
}

/// Serves until it is killed.
pub(super) fn run(arguments: &ServeArguments, calibration: &Calibration) -> Result<bool, CliError> {
    let scenario = scenario::load(&arguments.scenario)?;
    let (user, password) = arguments.redfish_user.clone();
    let options = Options {
        listen: arguments.listen,
        redfish: Some(RedfishOptions { listen: arguments.redfish, user, password }),
        anywhere: arguments.anywhere,
        throughput_scale: arguments.throughput_scale,
        capacity: u64::from(arguments.capacity) << 20,
        seed: arguments.seed,
        tables: tables(arguments)?,
    };
    let server = serve::start(&scenario, calibration, &options)?;
    let mut text = format!("NVMe/TCP: {}\n", server.address);
    if let Some((address, certificate)) = &server.redfish {
        text += &format!("Redfish: https://{address}/redfish/v1\n");
        if let Some(path) = &arguments.certificate {
            super::write(path, "certificate", certificate.as_bytes())?;
        }
    }
    for (slot, name) in server.subsystems().iter().enumerate() {
        let table = options.tables.get(slot).map_or("", |table| &table.name);
        text += format!("{name} {table}").trim_end();
        text.push('\n');
    }
    print(&text)?;
    server.wait();
    Ok(true)
}

fn tables(arguments: &ServeArguments) -> Result<Vec<PowerTable>, CliError> {
    let Some(path) = &arguments.catalogue else { return Ok(Vec::new()) };
    let unreadable = |source| CliError::Unreadable { path: path.clone(), source };
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let tables = catalogue::read(&text).map_err(|source| CliError::NoCatalogue { path: path.clone(), source })?;
    Ok(tables.into_iter().skip(arguments.first_table).collect())
}

fn user(text: &str) -> Result<(String, String), String> {
    let (name, password) = text.split_once(':').ok_or("a name, a colon and a password")?;
    Ok((name.to_owned(), password.to_owned()))
}
