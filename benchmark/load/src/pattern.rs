//! The bytes that are sent, and the check of those that return.

use crate::options::Verify;

/// A prime, so that neither messages nor buffers of a round size hide a shift.
const ECHO_PERIOD: usize = 65_521;

/// An endless sequence of bytes that repeats after a period.
pub struct Pattern {
    /// One period and what follows it, so that any span to be sent is one slice.
    bytes: Vec<u8>,
    period: usize,
}

impl Pattern {
    /// A pattern for messages of `size` bytes of which at most `span` bytes are asked for at once.
    pub fn new(verify: Verify, size: usize, span: usize) -> Self {
        let period = match verify {
            // The same few bytes every time leave the most of the cache to the server.
            Verify::Nothing => 1,
            Verify::Echo => ECHO_PERIOD,
            Verify::Reply => size,
        };
        let bytes = (0..period + span).map(|at| byte(at % period)).collect();
        Self { bytes, period }
    }

    /// The longest possible slice from `position` on, limited to `length`.
    pub fn slice(&self, position: u64, length: usize) -> &[u8] {
        let start = (position % self.period as u64) as usize;
        let rest = &self.bytes[start..];
        &rest[..length.min(rest.len())]
    }

    /// Where `received`, which begins at `position`, first differs from the pattern.
    pub fn mismatch(&self, position: u64, received: &[u8]) -> Option<u64> {
        let mut at = 0;
        while at < received.len() {
            let expected = self.slice(position + at as u64, received.len() - at);
            let found = &received[at..at + expected.len()];
            if expected != found {
                let equal = expected.iter().zip(found).take_while(|(a, b)| a == b);
                return Some(position + (at + equal.count()) as u64);
            }
            at += expected.len();
        }
        None
    }
}

/// One byte of a period. Servers that answer by themselves build their reply by the same rule.
fn byte(at: usize) -> u8 {
    (at ^ (at >> 8)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_bytes_match_wherever_they_are_cut() {
        let pattern = Pattern::new(Verify::Echo, 64, 1000);
        let stream: Vec<u8> = (0..200_000).map(|at| byte(at % ECHO_PERIOD)).collect();
        for length in [1, 7, 1000, 65_521, 70_000] {
            let mut position = 0;
            for chunk in stream.chunks(length) {
                assert_eq!(pattern.mismatch(position, chunk), None);
                position += chunk.len() as u64;
            }
        }
    }

    #[test]
    fn the_first_wrong_byte_is_found() {
        let pattern = Pattern::new(Verify::Echo, 64, 64);
        let mut chunk: Vec<u8> = (100..70_000).map(|at| byte(at % ECHO_PERIOD)).collect();
        chunk[69_000] ^= 1;
        chunk[69_500] ^= 1;
        assert_eq!(pattern.mismatch(100, &chunk), Some(69_100));
    }

    #[test]
    fn a_lost_or_repeated_buffer_is_noticed() {
        let pattern = Pattern::new(Verify::Echo, 64, 65_536);
        for shift in [1, 64, 256, 65_536, 131_072] {
            let shifted = pattern.slice(shift, 4096);
            assert!(pattern.mismatch(0, shifted).is_some(), "shift {shift}");
        }
    }

    #[test]
    fn replies_repeat_the_first_message() {
        let pattern = Pattern::new(Verify::Reply, 300, 1000);
        let message: Vec<u8> = (0..300).map(byte).collect();
        assert_eq!(pattern.mismatch(0, &message.repeat(9)), None);
        assert_eq!(pattern.mismatch(600, &message), None);
        assert_eq!(pattern.mismatch(601, &message), Some(601));
    }
}
