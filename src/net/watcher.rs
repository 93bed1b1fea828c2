//! A poller on a thread of the runtime, where the event loop can't wait for it.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::poller::SLOT;
use super::{Poller, Reactor};
use crate::runtime::spawn_thread;

/// Waits for the sockets of a reactor and keeps what became ready until it is taken.
///
/// ```text
///  thread of the runtime             thread of the environment
///
///  wait ──▶ ready sockets ──┐
///           notify, once ───┼──────▶ take
///  wait, if there is room ◀─┘
/// ```
///
/// Dropping it stops the thread.
#[derive(Debug)]
pub struct Watcher {
    shared: Arc<Shared>,
    waker: Arc<mio::Waker>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Something was taken, or it is to stop.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Ids and what they are ready for, in order.
    ready: Vec<i32>,
    notified: bool,
    stopped: bool,
    waits: u64,
}

impl Watcher {
    /// Starts to wait. `notify` is called, on another thread, when there is something to take, and
    /// then not again until it was taken; and never after [`Watcher::stop`] has returned. It must
    /// not call back into the watcher.
    ///
    /// # Errors
    ///
    /// What making the runtime or the waker reports.
    pub fn start(
        reactor: &mut Reactor,
        poller: Poller,
        notify: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let waker = reactor.waker();
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        // Without it the thread would not see that it was used: a closed descriptor tells nothing.
        let kept = Arc::clone(&waker);
        spawn_thread(move || {
            theirs.run(poller, notify);
            drop(kept);
        })?;
        Ok(Self { shared, waker })
    }

    /// Takes what became ready, in order, as much as finds room in `ring`. Returns how many.
    pub fn take(&self, ring: &mut [i32]) -> usize {
        let mut state = self.shared.lock();
        let length = state.ready.len().min(ring.len() / SLOT * SLOT);
        ring[..length].copy_from_slice(&state.ready[..length]);
        state.ready.drain(..length);
        state.notified = false;
        self.shared.changed.notify_one();
        length / SLOT
    }

    /// How often the kernel was asked.
    pub fn waits(&self) -> u64 {
        self.shared.lock().waits
    }

    /// Ends it.
    pub fn stop(&self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
        let _ = self.waker.wake(); // Fails only where its descriptor is gone, and the poller with it.
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, mut poller: Poller, notify: impl Fn()) {
        let mut ring = vec![0; Poller::RING_LEN];
        // An error of the wait itself is lasting: there is nothing to wait with.
        while let Ok(count) = poller.wait(&mut ring) {
            let mut state = self.lock();
            if state.stopped {
                return;
            }
            state.ready.extend_from_slice(&ring[..count * SLOT]);
            state.waits = poller.waits();
            if !state.notified {
                state.notified = true;
                notify();
            }
            // The kernel puts together what happens to a socket meanwhile.
            while state.ready.len() >= Poller::RING_LEN && !state.stopped {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use super::*;
    use crate::net::{ListenOptions, Readiness};

    const LIMIT: Duration = Duration::from_secs(10);
    const MOMENT: Duration = Duration::from_millis(50);

    #[test]
    fn one_notice_for_what_is_not_yet_taken() {
        let (mut reactor, poller) = Reactor::new().unwrap();
        let (notices, heard) = channel();
        let watcher = Watcher::start(&mut reactor, poller, move || notices.send(()).unwrap());
        let watcher = watcher.unwrap();
        let any = "127.0.0.1:0".parse().unwrap();
        let mut ring = vec![0; Poller::RING_LEN];
        for _ in 0..2 {
            let listener = reactor.listen(any, ListenOptions::default()).unwrap();
            let address = reactor.local_address(listener).unwrap();
            let _first = TcpStream::connect(address).unwrap();
            heard.recv_timeout(LIMIT).unwrap();
            let _second = TcpStream::connect(address).unwrap();
            assert_eq!(heard.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
            let count = watcher.take(&mut ring);
            assert!(count > 0);
            assert_eq!(ring[..2], [listener.bits(), Readiness::READABLE.bits()]);
            assert_eq!(watcher.take(&mut ring), 0);
        }
    }

    #[test]
    fn the_waker_is_a_notice_too() {
        let (mut reactor, poller) = Reactor::new().unwrap();
        let waker = reactor.waker();
        let (notices, heard) = channel();
        let watcher = Watcher::start(&mut reactor, poller, move || notices.send(()).unwrap());
        waker.wake().unwrap();
        heard.recv_timeout(LIMIT).unwrap();
        assert_eq!(watcher.unwrap().take(&mut [0; 2]), 0);
    }

    #[test]
    fn it_ends_when_it_is_dropped_with_the_reactor() {
        for _ in 0..200 {
            let (mut reactor, poller) = Reactor::new().unwrap();
            let (notices, heard) = channel::<()>();
            let watcher = Watcher::start(&mut reactor, poller, move || notices.send(()).unwrap());
            drop((watcher.unwrap(), reactor));
            // The thread gives up its end of the channel.
            assert_eq!(heard.recv_timeout(LIMIT), Err(RecvTimeoutError::Disconnected));
        }
    }
}
