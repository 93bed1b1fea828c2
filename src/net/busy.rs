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
/// A turn that received more gains nothing by coming early: where bytes are many, what came while one
/// slept is received together with what comes next, and that saves more than the sleep costs.
const MUCH: u64 = 32 * 1024;
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
    /// Whether what is ready had to be waited for.
    waited: Cell<bool>,
    /// Bytes received by then.
    received: Cell<u64>,
}

impl Default for Busy {
    fn default() -> Self {
        Self {
            time: Cell::new(TIME),
            on: Cell::new(false),
            score: Cell::new(0),
            sleeps: Cell::new(0),
            waited: Cell::new(false),
            received: Cell::new(0),
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
        self.waited.set(false);
        on
    }

    /// Calls `ask` until it counts something, or the time has passed: then the next thing is a sleep.
    /// `received` is how many bytes have been received so far, in all.
    pub fn until_some(&self, received: u64, mut ask: impl FnMut() -> usize) -> usize {
        let much = received - self.received.replace(received) > MUCH;
        if self.waited.take() && much {
            self.fail();
        }
        let mut count = ask();
        if count == 0 && self.on.get() {
            self.waited.set(true);
            let begin = Instant::now();
            while count == 0 && begin.elapsed() < self.time.get() {
                hint::spin_loop();
                count = ask();
            }
            if count == 0 {
                self.fail();
                self.on.set(false);
            }
        }
        if count > 0 {
            self.score.set(MOST.min(self.score.get() + 1));
        }
        count
    }

    /// An attempt that did not pay.
    fn fail(&self) {
        self.score.set(self.score.get().saturating_sub(VAIN));
        if self.score.get() < VAIN {
            self.on.set(false);
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
            assert_eq!(busy.until_some(0, || 3), 3);
            assert!(busy.is_on());
        }
        assert_eq!(busy.until_some(0, || 0), 0);
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
                busy.until_some(0, || usize::from(turn % 3 == 0));
                busy.until_some(0, || 0);
            }
        }
        assert!(attempts < 200, "{attempts} of 6400");
    }

    #[test]
    fn it_is_given_up_where_much_comes_each_time() {
        let busy = Busy::default();
        let mut received = 0;
        let mut turn = |bytes| {
            if !busy.begin() {
                return false;
            }
            received += bytes;
            let mut asked = 0;
            busy.until_some(received, || {
                asked += 1;
                usize::from(asked > 3)
            });
            true
        };
        let count_of =
            |turn: &mut dyn FnMut(u64) -> bool, bytes| (0..10_000).filter(|_| turn(bytes)).count();
        assert!(count_of(&mut turn, MUCH) > 9_000);
        assert!(count_of(&mut turn, MUCH + 1) < 200);
        assert!(count_of(&mut turn, MUCH) > 9_000);
    }

    #[test]
    fn what_need_not_be_waited_for_is_no_reason_against_it() {
        let busy = Busy::default();
        while !busy.begin() {}
        for turn in 0..1000 {
            assert_eq!(busy.until_some(turn * 1_000_000, || 1), 1);
        }
        assert!(busy.is_on());
    }

    #[test]
    fn it_can_be_switched_off() {
        let busy = Busy::default();
        busy.set_time(Duration::ZERO);
        assert!((0..1000).all(|_| !busy.begin()));
    }
}
