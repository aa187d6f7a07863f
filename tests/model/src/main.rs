//! Searches every world and prints what was seen. `--full`: to the full depth. Names of worlds: only those.

use std::process::ExitCode;

use wattline_model::{Broken, Checked, Limits, Step, WORLDS, World, explore, stroll};

/// Ways that are gone by chance in each world, and their steps.
const WAYS: usize = 500;
const STEPS: usize = 150;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let full = arguments.iter().any(|argument| argument == "--full");
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{:<22} {:>9} {:>11} {:>6}", "world", "states", "steps", "depth");
    let mut failed = false;
    for world in WORLDS.iter().filter(|world| named.is_empty() || named.iter().any(|name| *name == world.name)) {
        let depth = world.depth[usize::from(full)];
        let search = explore(&Checked::new(*world), Limits { depth, states: MOST, threads });
        let end = if search.closed { "all there is" } else { "" };
        println!("{:<22} {:>9} {:>11} {:>6} {end}", world.name, search.states, search.steps, search.depth);
        let unlimited = Checked::new(World { incidents: u8::MAX, ..*world });
        let ways = if full { 20 * WAYS } else { WAYS };
        let strolled = stroll(&unlimited, 1, ways, STEPS);
        for (way, broken) in search.broken.into_iter().chain(strolled.err()) {
            failed = true;
            tell(&way, &broken);
        }
        if search.depth < depth && !search.closed {
            failed = true;
            println!("  not the depth that was to be reached");
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// States that fit into 8 GiB.
const MOST: usize = 3_000_000;

fn tell(way: &[Step], broken: &Broken) {
    println!("  broken: {}\n  {}\n  by", broken.rule, broken.how);
    for step in way {
        println!("    {step:?}");
    }
}
