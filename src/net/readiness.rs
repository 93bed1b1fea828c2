//! What the kernel said of a socket.

use mio::event::Event;

/// A set of facts about a socket, as bits, for a slot of the ready ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness(i32);

impl Readiness {
    /// There may be data, a connection to accept, or the end.
    pub const READABLE: Self = Self(1);
    /// There may be room to send, or a connection attempt ended.
    pub const WRITABLE: Self = Self(2);
    /// The peer ended or reset its side, or the socket failed. No further edge will tell of what
    /// is still to be received, so reads go on until the end or the error itself is met.
    pub const HANGUP: Self = Self(4);
    /// The pipe that the socket is the first of has ended.
    pub const PIPE_ENDED: Self = Self(8);

    /// The bits as an integer.
    pub fn bits(self) -> i32 {
        self.0
    }
}

impl From<&Event> for Readiness {
    fn from(event: &Event) -> Self {
        let mut set = 0;
        if event.is_readable() {
            set |= Self::READABLE.0;
        }
        if event.is_writable() {
            set |= Self::WRITABLE.0;
        }
        if event.is_read_closed() || event.is_write_closed() || event.is_error() {
            set |= Self::HANGUP.0;
        }
        Self(set)
    }
}
