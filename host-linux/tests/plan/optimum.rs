//! Plans against every way to count the drives out.

use proptest::prelude::*;
use wattline::plan::{CapPlan, CapQuestion, Sharing};
use wattline_core::profile::{Measured, Profile, StateProfile, Work, d5_p5336};
use wattline_core::units::{BytesPerSecond, Milliwatts};

/// Milliwatts and bytes per second of one drive.
type Row = (u64, u64);

/// The published rows: watts over the base and MB/s of 24 drives. The switch's 109 and 105 GB/s count as measured.
const WRITING: [Row; 3] = [published(627, 82_500), published(363, 34_400), published(264, 17_300)];
const READING: [Row; 3] = [published(396, 109_000), published(396, 105_000), published(297, 79_800)];

const fn published(watts: u64, megabytes_per_second: u64) -> Row {
    (watts * 1000 / 24, megabytes_per_second * 1_000_000 / 24)
}

/// The highest throughput within the milliwatts by trying every count of drives in each state.
fn optimum(rows: &[Row], drives: u64, milliwatts: u64) -> Option<u64> {
    let (&(power, throughput), rest) = rows.split_first()?;
    if rest.is_empty() {
        return (drives * power <= milliwatts).then_some(drives * throughput);
    }
    let tries = (0..=drives).filter_map(|here| {
        let left = milliwatts.checked_sub(here * power)?;
        Some(here * throughput + optimum(rest, drives - here, left)?)
    });
    tries.max()
}

/// The plan's milliwatts and bytes per second, added up from its counts.
fn sum(rows: &[Row], sharing: &Sharing) -> Row {
    let counted = rows.iter().zip(&sharing.drives).map(|((power, throughput), drives)| {
        let drives = u64::from(*drives);
        (drives * power, drives * throughput)
    });
    counted.fold((0, 0), |(power, throughput), (more_power, more)| (power + more_power, throughput + more))
}

struct Question {
    drives: u16,
    cap: u32,
    base: u32,
    margin: u32,
}

/// Checks a plan's limits and sums, and returns its throughput and the optimum. `None` where rightly nothing fits.
fn compare(profile: &Profile, work: Work, rows: &[Row], question: &Question) -> Option<(u64, u64)> {
    let Question { drives, cap, base, margin } = *question;
    let [cap_mw, base_mw, margin_mw] = [cap, base, margin].map(Milliwatts::new);
    let asked = CapQuestion { work, drives, cap: cap_mw, margin: margin_mw, base: Some(base_mw) };
    let plan = CapPlan::new(profile, asked).unwrap();
    let free = u64::from(cap).checked_sub(u64::from(base) + u64::from(margin));
    let best = free.and_then(|free| optimum(rows, drives.into(), free));
    assert_eq!(plan.sharing.is_some(), best.is_some());
    assert_eq!(plan.shortfall().is_none(), best.is_some());
    if let Some(shortfall) = plan.shortfall() {
        let lowest = rows.iter().map(|(power, _)| power).min().unwrap() * u64::from(drives);
        let needed = lowest + u64::from(base) + u64::from(margin);
        assert_eq!(u64::from(shortfall.missing.get()), needed - u64::from(cap));
    }
    let sharing = plan.sharing?;
    let (power, throughput) = sum(rows, &sharing);
    assert_eq!(sharing.drives.iter().sum::<u16>(), drives);
    assert_eq!(u64::from(sharing.load.total.get()), power + u64::from(base));
    assert_eq!(sharing.load.throughput.get(), throughput);
    assert!(power <= free?, "{power} mW of {free:?}");
    let uniform = rows.iter().filter(|(power, _)| u64::from(drives) * power <= free.unwrap());
    let uniform = uniform.map(|(_, throughput)| u64::from(drives) * throughput).max()?;
    assert_eq!(sharing.uniform.load.throughput.get(), uniform);
    assert!(throughput >= uniform, "{throughput} is less than {uniform} of one state for all");
    Some((throughput, best?))
}

fn question(watts: std::ops::Range<u32>) -> impl Strategy<Value = Question> {
    (1u16..=24, watts, 0u32..600_000, 0u32..40_000).prop_map(|(drives, free, base, margin)| Question {
        drives,
        cap: base + margin + free,
        base,
        margin,
    })
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} drives, {} mW, base {} mW, margin {} mW", self.drives, self.cap, self.base, self.margin)
    }
}

fn profile_of(rows: &[Row]) -> Profile {
    let states = rows.iter().map(|(power, throughput)| {
        let mut state = StateProfile::default();
        state.measured.random_read = Some(Measured {
            power: Milliwatts::new(u32::try_from(*power).unwrap()),
            throughput: BytesPerSecond::new(*throughput),
            limited_by_fabric: false,
        });
        state
    });
    Profile { states: states.collect(), ..Profile::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any number of drives, any cap.
    #[test]
    fn a_plan_for_the_published_drive_is_within_a_thousandth(question in question(0..700_000)) {
        for (work, rows) in [(Work::SequentialWrite, WRITING), (Work::SequentialRead, READING)] {
            if let Some((throughput, best)) = compare(&d5_p5336(), work, &rows, &question) {
                prop_assert!(throughput <= best && throughput * 1000 >= best * 999, "{throughput} of {best}, {work}");
            }
        }
    }

    /// Any drive: never over, never below one state for all, and short of the optimum by less than one drive's best.
    #[test]
    fn a_plan_for_any_drive_keeps_its_promises(
        rows in prop::collection::vec((1u64..40_000, 1u64..20_000_000_000), 1..5), question in question(0..700_000),
    ) {
        if let Some((throughput, best)) = compare(&profile_of(&rows), Work::RandomRead, &rows, &question) {
            let one = rows.iter().map(|(_, throughput)| *throughput).max().unwrap();
            prop_assert!(throughput <= best && best - throughput <= one, "{throughput} of {best}");
        }
    }
}

/// Every number of drives at every half watt, writing.
#[test]
fn the_worst_plan_for_the_published_drive() {
    let mut worst = (1.0, String::new());
    for drives in 1..=24u16 {
        for free in (0..=u32::from(drives) * 27_000).step_by(500) {
            let question = Question { drives, cap: free, base: 0, margin: 0 };
            let Some((throughput, best)) = compare(&d5_p5336(), Work::SequentialWrite, &WRITING, &question) else {
                continue;
            };
            let ratio = throughput as f64 / best as f64;
            if ratio < worst.0 {
                worst = (ratio, format!("{question:?}"));
            }
        }
    }
    println!("worst: {:.5} of the optimum, {}", worst.0, worst.1);
    assert!(worst.0 >= 0.999, "{worst:?}");
}
