//! Latencies in constant memory.

/// Values below this are counted exactly; above, each power of two is cut into half as many steps.
const STEPS: u64 = 128;
const STEP_BITS: u32 = STEPS.trailing_zeros();
const HALF: usize = STEPS as usize / 2;

/// Counts of nanoseconds in steps that grow with the value, at most 1.6 % wide.
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    /// An empty histogram that has room for every `u64`.
    fn default() -> Self {
        Self { counts: vec![0; step(u64::MAX) + 1], total: 0 }
    }
}

impl Histogram {
    /// Counts one value so many times.
    pub fn record(&mut self, nanoseconds: u64, times: u64) {
        self.counts[step(nanoseconds)] += times;
        self.total += times;
    }

    /// Forgets every value.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// The value that a `share` from 0 to 1 of the recorded ones do not exceed, to the width of a
    /// step; `None` without values.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let step = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(lower_bound(step))
    }
}

/// The step that counts a value: the value itself while small, then its leading bits.
fn step(value: u64) -> usize {
    if value < STEPS {
        return value as usize;
    }
    let shift = value.ilog2() + 1 - STEP_BITS;
    HALF * shift as usize + (value >> shift) as usize
}

/// The smallest value that a step counts.
fn lower_bound(step: usize) -> u64 {
    if step < STEPS as usize {
        return step as u64;
    }
    let shift = step / HALF - 1;
    ((step - HALF * shift) as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_contiguous_and_narrow() {
        for index in 0..step(u64::MAX) {
            let (low, next) = (lower_bound(index), lower_bound(index + 1));
            assert_eq!(step(low), index);
            assert_eq!(step(next - 1), index);
            assert!(next - low <= 1 + low / 64);
        }
    }

    #[test]
    fn quantiles_lie_within_a_step() {
        let mut histogram = Histogram::default();
        for value in 1..=10_000 {
            histogram.record(value, 1);
        }
        for (share, exact) in [(0.5, 5_000.0), (0.99, 9_900.0), (1.0, 10_000.0)] {
            let found = histogram.quantile(share).expect("there are values") as f64;
            assert!((found / exact - 1.0).abs() < 0.016, "{share}: {found}");
        }
        assert_eq!(histogram.quantile(0.0), Some(1));
    }

    #[test]
    fn nothing_recorded_has_no_quantile() {
        let mut histogram = Histogram::default();
        histogram.record(u64::MAX, 3);
        histogram.clear();
        assert_eq!(histogram.quantile(0.5), None);
    }
}
