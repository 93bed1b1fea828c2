//! Which sockets have become ready.

use std::io;
use std::time::Duration;

use mio::{Events, Poll, Registry, Token};

use super::Readiness;

/// How many events one question to the kernel can bring.
pub(super) const EVENTS_PER_WAIT: usize = 1024;

/// How many integers an event takes in the ring: the [`Id`](super::Id) and the [`Readiness`].
pub(super) const SLOT: usize = 2;

/// The token of [`Reactor::waker`](super::Reactor::waker). No id is as large.
pub(super) const WAKER: Token = Token(usize::MAX);

/// Waits for the sockets of a [`Reactor`](super::Reactor), on whatever thread.
///
/// Its descriptor, where there is one, becomes readable when there is something to
/// [`collect`](Poller::collect), so that it can stand in another event loop.
#[derive(Debug)]
pub struct Poller {
    poll: Poll,
    events: Events,
    waits: u64,
}

impl Poller {
    /// How many integers the ring of [`Poller::collect`] should hold.
    pub const RING_LEN: usize = 4 * EVENTS_PER_WAIT * SLOT;

    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { poll: Poll::new()?, events: Events::with_capacity(EVENTS_PER_WAIT), waits: 0 })
    }

    pub(super) fn registry(&self) -> io::Result<Registry> {
        self.poll.registry().try_clone()
    }

    /// How often the kernel was asked: `epoll_wait` or `kevent`.
    pub fn waits(&self) -> u64 {
        self.waits
    }

    /// Asks which sockets are ready, without waiting, and writes an id and a [`Readiness`] for each
    /// into `ring`. Returns how many. What finds no room in a ring shorter than
    /// [`Poller::RING_LEN`] is asked for again by the next call.
    ///
    /// # Errors
    ///
    /// What `epoll_wait` or `kevent` report.
    pub fn collect(&mut self, ring: &mut [i32]) -> io::Result<usize> {
        let mut count = 0;
        while ring.len() / SLOT - count >= EVENTS_PER_WAIT {
            let (written, seen) = self.ask(&mut ring[count * SLOT..], Some(Duration::ZERO))?;
            count += written;
            if seen < EVENTS_PER_WAIT {
                break;
            }
        }
        Ok(count)
    }

    /// Waits until a socket is ready or the waker was used, then is as [`Poller::collect`]. `ring`
    /// has room for [`Poller::RING_LEN`] integers at least.
    ///
    /// # Errors
    ///
    /// Those of [`Poller::collect`].
    pub fn wait(&mut self, ring: &mut [i32]) -> io::Result<usize> {
        Ok(self.ask(ring, None)?.0)
    }

    /// One question to the kernel: how many slots it filled, of how many events.
    fn ask(&mut self, ring: &mut [i32], limit: Option<Duration>) -> io::Result<(usize, usize)> {
        loop {
            self.waits += 1;
            match self.poll.poll(&mut self.events, limit) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let mut slots = ring.chunks_exact_mut(SLOT);
        let (mut written, mut seen) = (0, 0);
        for event in &self.events {
            seen += 1;
            if event.token() == WAKER {
                continue;
            }
            let Some(slot) = slots.next() else { break };
            slot[0] = event.token().0 as i32;
            slot[1] = Readiness::from(event).bits();
            written += 1;
        }
        Ok((written, seen))
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for Poller {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.poll.as_raw_fd()
    }
}
