//! What a server returns for what it has read.

use crate::task::Mode;

/// The most that a server reads at once.
pub const BUFFER_BYTES: usize = 64 << 10;

/// Answers to whatever one read may bring.
pub struct Answers {
    mode: Mode,
    size: usize,
    /// As many replies as one read can complete messages; they leave in one write.
    replies: Vec<u8>,
}

impl Answers {
    /// Answers to messages of `size` bytes.
    pub fn new(mode: Mode, size: usize) -> Self {
        let replies = match mode {
            Mode::Echo => Vec::new(),
            Mode::Reply => reply(size).repeat(BUFFER_BYTES.div_ceil(size)),
        };
        Self { mode, size, replies }
    }

    /// The bytes to write once `read` was read. `partial` counts the bytes of a message that has not
    /// come in completely; each connection has its own, which begins at 0.
    pub fn to<'a>(&'a self, read: &'a [u8], partial: &mut usize) -> &'a [u8] {
        let length = match self.mode {
            Mode::Echo => read.len(),
            Mode::Reply => {
                let bytes = *partial + read.len();
                *partial = bytes % self.size;
                bytes - *partial
            }
        };
        self.of_length(read, length)
    }

    /// The same bytes once more, by how many they were.
    pub fn of_length<'a>(&'a self, read: &'a [u8], length: usize) -> &'a [u8] {
        match self.mode {
            Mode::Echo => &read[..length],
            Mode::Reply => &self.replies[..length],
        }
    }
}

/// What the load generator expects with `--verify=reply`.
fn reply(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at ^ (at >> 8)) as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_what_was_read() {
        let answers = Answers::new(Mode::Echo, 64);
        assert_eq!(answers.to(b"abc", &mut 0), b"abc");
    }

    #[test]
    fn each_message_has_its_reply_wherever_reads_cut_it() {
        let answers = Answers::new(Mode::Reply, 3);
        let mut partial = 0;
        let lengths = [2, 1, 7, 2].map(|length| answers.to(&[0; 7][..length], &mut partial).len());
        assert_eq!(lengths, [0, 3, 6, 3]);
        assert_eq!(answers.to(&[0; 6], &mut partial), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn there_are_replies_for_the_longest_read() {
        for size in [1, 64, 1000, BUFFER_BYTES, BUFFER_BYTES + 1] {
            let answers = Answers::new(Mode::Reply, size);
            let mut partial = size - 1;
            let length = answers.to(&[0; BUFFER_BYTES], &mut partial).len();
            assert_eq!(length + partial, size - 1 + BUFFER_BYTES);
        }
    }
}
