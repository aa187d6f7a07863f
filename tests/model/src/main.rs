//! Searches every world and prints what was seen. `--full`: to the full depth.

use std::process::ExitCode;

use wattline_model::{Checked, Limits, WORLDS, explore};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let full = arguments.iter().any(|argument| argument == "--full");
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let states = if full { 2_500_000 } else { 1_000_000 };
    println!("{:<22} {:>9} {:>11} {:>6}", "world", "states", "steps", "depth");
    let mut failed = false;
    for world in WORLDS.iter().filter(|world| named.is_empty() || named.iter().any(|name| *name == world.name)) {
        let depth = world.depth[usize::from(full)];
        let search = explore(&Checked::new(*world), Limits { depth, states, threads });
        let end = if search.closed { "all there is" } else { "" };
        println!("{:<22} {:>9} {:>11} {:>6} {end}", world.name, search.states, search.steps, search.depth);
        if let Some((way, broken)) = search.broken {
            failed = true;
            println!("  broken: {}\n  {}\n  by", broken.rule, broken.how);
            for step in way {
                println!("    {step:?}");
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
