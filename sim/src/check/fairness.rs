//! That equal drives get equal shares.

/// The drive whose throughput is farthest from the mean of the others', and how far, as a share of that mean.
/// `None` where there are no others or they do nothing.
#[must_use]
pub fn farthest(drive_gb_s: &[f64]) -> Option<(usize, f64)> {
    let others = drive_gb_s.len().checked_sub(1).filter(|others| *others > 0)?;
    let sum: f64 = drive_gb_s.iter().sum();
    let offs = drive_gb_s.iter().enumerate().map(|(slot, own)| {
        let mean = (sum - own) / others as f64;
        (slot, if mean > 0.0 { (own / mean - 1.0).abs() } else { f64::NAN })
    });
    offs.filter(|(_, off)| off.is_finite()).max_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_starved_drive_is_named() {
        let (slot, off) = farthest(&[1.0, 1.0, 0.5, 1.0]).unwrap();
        assert_eq!((slot, off), (2, 0.5));
        assert_eq!(farthest(&[1.0]), None);
        assert_eq!(farthest(&[0.0, 0.0]), None);
    }
}
