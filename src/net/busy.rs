//! Asking again and again for a short time, instead of sleeping: what comes meanwhile costs no change
//! of threads, and that costs more than the asking.

use std::cell::Cell;
use std::hint;
use std::time::{Duration, Instant};

/// For how long, unless told otherwise: about what it costs to sleep and to be woken.
const TIME: Duration = Duration::from_micros(30);
/// Of what the score has room for; an attempt in vain costs as much as so many gain.
const MOST: u32 = 16;
const VAIN: u32 = 4;
/// Where it mostly is in vain, every how many sleeps it is tried all the same.
const TRIED_EVERY: u32 = 256;

/// Whether to ask, which is so where four of five attempts find something.
#[derive(Debug)]
pub struct Busy {
    time: Cell<Duration>,
    on: Cell<bool>,
    score: Cell<u32>,
    /// Sleeps since it was tried.
    sleeps: Cell<u32>,
}

impl Default for Busy {
    fn default() -> Self {
        Self {
            time: Cell::new(TIME),
            on: Cell::new(false),
            score: Cell::new(0),
            sleeps: Cell::new(0),
        }
    }
}

impl Busy {
    /// How long to ask; zero is not at all.
    pub fn set_time(&self, time: Duration) {
        self.time.set(time);
        self.on.set(false);
    }

    /// Whether there is to be no sleep before it is asked.
    pub fn is_on(&self) -> bool {
        self.on.get()
    }

    /// Something was ready after a sleep. Whether to ask instead of the next one.
    pub fn begin(&self) -> bool {
        if self.on.get() || self.time.get().is_zero() {
            return self.on.get();
        }
        let sleeps = self.sleeps.get() + 1;
        let on = self.score.get() >= VAIN || sleeps >= TRIED_EVERY;
        self.sleeps.set(if on { 0 } else { sleeps });
        self.on.set(on);
        on
    }

    /// Calls `ask` until it counts something, or the time has passed: then the next thing is a sleep.
    pub fn until_some(&self, mut ask: impl FnMut() -> usize) -> usize {
        let begin = Instant::now();
        loop {
            let count = ask();
            if count > 0 {
                self.score.set(MOST.min(self.score.get() + 1));
                return count;
            }
            if begin.elapsed() >= self.time.get() {
                self.score.set(self.score.get().saturating_sub(VAIN));
                self.on.set(false);
                return 0;
            }
            hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_while_there_is_something() {
        let busy = Busy::default();
        let tried = (0..).position(|_| busy.begin()).unwrap();
        assert_eq!(tried as u32 + 1, TRIED_EVERY);
        for _ in 0..100 {
            assert_eq!(busy.until_some(|| 3), 3);
            assert!(busy.is_on());
        }
        assert_eq!(busy.until_some(|| 0), 0);
        assert!(!busy.is_on());
        assert!(busy.begin(), "one in vain is forgiven");
    }

    #[test]
    fn it_is_seldom_tried_where_it_is_in_vain() {
        let busy = Busy::default();
        busy.set_time(Duration::from_nanos(1));
        let mut attempts = 0;
        for turn in 0..6400 {
            if busy.begin() {
                attempts += 1;
                busy.until_some(|| usize::from(turn % 3 == 0));
                busy.until_some(|| 0);
            }
        }
        assert!(attempts < 200, "{attempts} of 6400");
    }

    #[test]
    fn it_can_be_switched_off() {
        let busy = Busy::default();
        busy.set_time(Duration::ZERO);
        assert!((0..1000).all(|_| !busy.begin()));
    }
}
