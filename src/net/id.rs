//! Names of sockets.

/// Names a socket or a listener of one [`Reactor`](super::Reactor).
///
/// ```text
///  31 30            22 21                     0
/// ┌──┬────────────────┬────────────────────────┐
/// │ 0│  generation    │  index                 │
/// └──┴────────────────┴────────────────────────┘
/// ```
///
/// The index is used again as soon as its socket is closed; the generation changes each time, so
/// that news of a closed socket is never taken for news of the next one. It fits in a positive
/// 31-bit integer, which JavaScript engines hold without an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(i32);

impl Id {
    /// How many bits of an id are its index.
    pub const INDEX_BITS: u32 = 22;
    const GENERATION_BITS: u32 = 31 - Self::INDEX_BITS;
    const INDEX_MASK: i32 = (1 << Self::INDEX_BITS) - 1;

    /// How many sockets a reactor can hold.
    pub const MAX_INDEX: usize = Self::INDEX_MASK as usize;

    /// Joins an index of at most [`Id::MAX_INDEX`] and a generation, of which the low bits count.
    pub fn new(index: usize, generation: u32) -> Self {
        debug_assert!(index <= Self::MAX_INDEX);
        let generation = generation & ((1 << Self::GENERATION_BITS) - 1);
        Self((index as i32 & Self::INDEX_MASK) | (generation as i32) << Self::INDEX_BITS)
    }

    /// The id that an integer from JavaScript stands for. Any integer is some id, though rarely
    /// that of a socket.
    pub fn from_bits(bits: i32) -> Self {
        Self(bits)
    }

    /// The id as an integer.
    pub fn bits(self) -> i32 {
        self.0
    }

    /// Where the socket is kept.
    pub fn index(self) -> usize {
        (self.0 & Self::INDEX_MASK) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Id;

    #[test]
    fn index_and_generation_are_kept_apart() {
        let id = Id::new(Id::MAX_INDEX, 0);
        assert_eq!(id.index(), Id::MAX_INDEX);
        assert_eq!(Id::new(5, 1).index(), 5);
        assert_ne!(Id::new(5, 1), Id::new(5, 2));
    }

    #[test]
    fn any_generation_gives_a_positive_integer() {
        for generation in [0, 1, 511, 512, u32::MAX] {
            assert!(Id::new(Id::MAX_INDEX, generation).bits() >= 0);
        }
        assert_eq!(Id::new(1, 512), Id::new(1, 0), "the generation wraps");
    }

    #[test]
    fn an_integer_makes_the_round_trip() {
        for bits in [0, 1, -1, i32::MIN, i32::MAX] {
            assert_eq!(Id::from_bits(bits).bits(), bits);
            assert!(Id::from_bits(bits).index() <= Id::MAX_INDEX);
        }
    }
}
