//! A checker that finds nothing proves nothing: each planted error is found, and by the rule that is about it.

use wattline_model::{Checked, Limits, Plant, WORLDS, World, explore};

fn world(name: &str) -> World {
    *WORLDS.iter().find(|world| world.name == name).expect("a world of this name")
}

#[test]
fn every_planted_error_is_found() {
    let cases = [
        (Plant::TrustsLowerings, "three at rest", "a drive counts for all that it may take"),
        (Plant::OverlooksResets, "three at rest", "too much is shed at once"),
        (Plant::OverlooksRemovals, "three at rest", "no command goes to an absent drive"),
        (Plant::RaisesTwice, "two at rest", "one command to a drive is in flight at most"),
        (Plant::TakesAnyAnswer, "two at rest", "an answer to nothing changes nothing"),
        (Plant::SkipsReadBacks, "two at rest", "a drive that is not known is read"),
        (Plant::PromisesMore, "three at rest", "a raise is paid with watts that are confirmed"),
        (Plant::ShedsLater, "two at rest", "too much is shed at once"),
        (Plant::KeepsQuiet, "two at rest", "it is said when the cap cannot be held"),
        (Plant::NeverTurns, "turns of three", "every drive has its turn"),
    ];
    for plant in Plant::ALL {
        let (_, name, rule) = cases.iter().find(|(of, ..)| *of == plant).expect("a case for every plant");
        let checked = Checked { world: world(name), plant: Some(plant) };
        let search = explore(&checked, Limits { depth: checked.world.depth[0], states: 100_000, threads: 1 });
        let (way, broken) = search.broken.unwrap_or_else(|| panic!("{plant:?} is not found"));
        // One line for each, for those who want to see it (--nocapture).
        println!("{plant:?} is found after {} states by {way:?}: {}: {}", search.states, broken.rule, broken.how);
        assert_eq!(broken.rule, *rule, "{plant:?}: {}", broken.how);
        assert!(way.len() <= 3, "{plant:?} is found by {way:?} only");
    }
}

/// The search itself does not depend on how the work is shared.
#[test]
fn threads_change_nothing() {
    let checked = Checked::new(world("two at rest"));
    let [one, three] = [1, 3].map(|threads| {
        let search = explore(&checked, Limits { depth: 4, states: 100_000, threads });
        assert_eq!(search.broken, None);
        (search.states, search.depth, search.steps)
    });
    assert_eq!(one, three);
}
