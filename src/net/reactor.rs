//! The sockets of one environment.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mio::{Interest, Registry, Token};
use slab::Slab;

use super::pipe::Pipe;
use super::poller::{Poller, SLOT, WAKER};
use super::socket::{ConnectError, set_keep_alive};
use super::{Counters, Id, ListenOptions, Listener, Readiness, Socket, SocketOptions};

/// Owns the sockets of one environment.
///
/// Each socket is registered once, edge-triggered, for reading, writing and hang-up, and never
/// again: what it was ready for, and still is, its owner remembers. A closed descriptor leaves the
/// set of watched ones by itself. Which sockets have become ready the [`Poller`] tells.
#[derive(Debug)]
pub struct Reactor {
    registry: Registry,
    waker: Arc<mio::Waker>,
    /// The pipes that have ended since they were last taken, by the first of their sockets; `None`
    /// until there is a pipe.
    ended: Option<Arc<Mutex<Vec<Id>>>>,
    entries: Slab<Entry>,
    generation: u32,
    counters: Counters,
    received: u64,
}

#[derive(Debug)]
struct Entry {
    id: Id,
    handle: Handle,
}

#[derive(Debug)]
enum Handle {
    Socket(Socket),
    Listener(Listener),
    /// It was the first socket of the pipe.
    Pipe(Pipe),
    /// It was the second socket of the pipe of that one.
    Piped(Id),
    /// It could not be handed to a pipe.
    Gone,
}

impl Reactor {
    /// Makes a reactor without sockets, and what waits for them.
    ///
    /// # Errors
    ///
    /// What `epoll_create1` or `kqueue` report.
    pub fn new() -> io::Result<(Self, Poller)> {
        let poller = Poller::new()?;
        let registry = poller.registry()?;
        // Not when it is first wanted: mio takes a second attempt, after one that failed, for an error.
        let waker = Arc::new(mio::Waker::new(&registry, WAKER)?);
        let reactor = Self {
            registry,
            waker,
            ended: None,
            entries: Slab::new(),
            generation: 0,
            counters: Counters::default(),
            received: 0,
        };
        Ok((reactor, poller))
    }

    /// What makes the poller return, from any thread.
    pub fn waker(&self) -> Arc<mio::Waker> {
        Arc::clone(&self.waker)
    }

    /// What has been done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How many bytes have been received so far, over all sockets.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Begins a connection. The socket becomes writable when the attempt has ended.
    ///
    /// # Errors
    ///
    /// Those of [`Socket::connect`], and too many sockets.
    pub fn connect(
        &mut self,
        address: SocketAddr,
        local: Option<SocketAddr>,
        options: SocketOptions,
    ) -> Result<Id, ConnectError> {
        Ok(self.insert(Handle::Socket(Socket::connect(address, local, options)?))?)
    }

    /// Listens on `address`. The listener becomes readable when there are connections to accept.
    ///
    /// # Errors
    ///
    /// Those of [`Listener::bind`].
    pub fn listen(&mut self, address: SocketAddr, options: ListenOptions) -> io::Result<Id> {
        self.insert(Handle::Listener(Listener::bind(address, options)?))
    }

    /// Accepts one connection of a listener.
    ///
    /// # Errors
    ///
    /// Those of [`Listener::accept`].
    pub fn accept(&mut self, id: Id) -> io::Result<Id> {
        self.counters.accept += 1;
        let Some(Entry { handle: Handle::Listener(listener), .. }) = self.entry(id) else {
            return Err(no_such_socket());
        };
        let socket = listener.accept()?;
        self.insert(Handle::Socket(socket))
    }

    /// The socket with that id.
    ///
    /// # Errors
    ///
    /// `EBADF` where there is none, or no longer.
    pub fn socket(&mut self, id: Id) -> io::Result<&mut Socket> {
        match self.entry(id) {
            Some(Entry { handle: Handle::Socket(socket), .. }) => Ok(socket),
            _ => Err(no_such_socket()),
        }
    }

    /// Sets whether small segments of a socket are sent at once. It may be in a pipe.
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`], and what `setsockopt` reports.
    pub fn set_no_delay(&mut self, id: Id, no_delay: bool) -> io::Result<()> {
        self.configure(id, |socket| socket.set_tcp_nodelay(no_delay))
    }

    /// Sets whether an idle connection is probed, and after how long; see [`SocketOptions`]. It may
    /// be in a pipe.
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`], and what `setsockopt` reports.
    pub fn set_keep_alive(&mut self, id: Id, keep_alive: Option<Duration>) -> io::Result<()> {
        self.configure(id, |socket| set_keep_alive(socket, keep_alive))
    }

    fn configure(
        &mut self,
        id: Id,
        body: impl FnOnce(&socket2::Socket) -> io::Result<()>,
    ) -> io::Result<()> {
        let first = match self.entry(id).map(|entry| &entry.handle) {
            Some(Handle::Socket(socket)) => return socket.configure(body),
            Some(Handle::Pipe(_)) => id,
            Some(Handle::Piped(first)) => *first,
            _ => return Err(no_such_socket()),
        };
        self.pipe_of(first)?.configure(first != id, body)
    }

    /// Receives from a socket; see [`Socket::recv`].
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`] and [`Socket::recv`].
    pub fn recv(&mut self, id: Id, buffer: &mut [u8]) -> io::Result<usize> {
        self.counters.recv += 1;
        let count = self.socket(id)?.recv(buffer)?;
        self.received += count as u64;
        Ok(count)
    }

    /// Sends on a socket; see [`Socket::send`].
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`] and [`Socket::send`].
    pub fn send(&mut self, id: Id, bytes: &[u8]) -> io::Result<usize> {
        self.counters.send += 1;
        self.socket(id)?.send(bytes)
    }

    /// Sends many slices on a socket; see [`Socket::send_vectored`].
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`] and [`Socket::send_vectored`].
    pub fn send_vectored(&mut self, id: Id, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.counters.send += 1;
        self.socket(id)?.send_vectored(slices)
    }

    /// The address at this end of a socket or listener.
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`] and [`Socket::local_address`].
    pub fn local_address(&mut self, id: Id) -> io::Result<SocketAddr> {
        match self.entry(id) {
            Some(Entry { handle: Handle::Socket(socket), .. }) => socket.local_address(),
            Some(Entry { handle: Handle::Listener(listener), .. }) => listener.local_address(),
            _ => Err(no_such_socket()),
        }
    }

    /// Hands two sockets, or one that is to echo, to a pipe; see [`Pipe::start`]. What the pipe says
    /// is found under the first of them, until that is closed, and its end among
    /// [`Reactor::take_ended`].
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::socket`], and of [`Pipe::start`], after which the sockets are gone.
    pub fn pipe(&mut self, first: Id, second: Option<Id>, splice: bool) -> io::Result<()> {
        self.socket(first)?;
        if let Some(second) = second {
            self.socket(second)?;
        }
        let waker = self.waker();
        let ended = Arc::clone(self.ended.get_or_insert_default());
        let source = self.hand_over(first)?;
        let target = second.map(|second| self.hand_over(second)).transpose()?;
        let pipe = Pipe::start(source, target, splice, move || {
            ended.lock().unwrap_or_else(PoisonError::into_inner).push(first);
            // Fails only where its descriptor is gone, and whoever would be woken with it.
            let _ = waker.wake();
        })?;
        if let Some(entry) = self.entry(first) {
            entry.handle = Handle::Pipe(pipe);
        }
        if let Some(entry) = second.and_then(|second| self.entry(second)) {
            entry.handle = Handle::Piped(first);
        }
        Ok(())
    }

    /// The pipe that a socket is the first of.
    ///
    /// # Errors
    ///
    /// `EBADF` where there is none, or no longer.
    pub fn pipe_of(&mut self, id: Id) -> io::Result<&Pipe> {
        match self.entry(id) {
            Some(Entry { handle: Handle::Pipe(pipe), .. }) => Ok(pipe),
            _ => Err(no_such_socket()),
        }
    }

    /// Writes an id and [`Readiness::PIPE_ENDED`] into `ring` for each pipe that has ended since.
    /// Returns how many. What finds no room is there at the next call.
    pub fn take_ended(&mut self, ring: &mut [i32]) -> usize {
        let Some(ended) = &self.ended else { return 0 };
        let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        let count = ended.len().min(ring.len() / SLOT);
        for (id, slot) in ended.drain(..count).zip(ring.chunks_exact_mut(SLOT)) {
            slot[0] = id.bits();
            slot[1] = Readiness::PIPE_ENDED.bits();
        }
        if !ended.is_empty() {
            let _ = self.waker.wake(); // As in `pipe`.
        }
        count
    }

    /// Takes a socket out, and keeps its place.
    fn hand_over(&mut self, id: Id) -> io::Result<Socket> {
        let entry = self.entry(id).ok_or_else(no_such_socket)?;
        match std::mem::replace(&mut entry.handle, Handle::Gone) {
            Handle::Socket(mut socket) => {
                self.counters.epoll_ctl += 1;
                self.registry.deregister(socket.source())?;
                Ok(socket)
            }
            _ => Err(no_such_socket()),
        }
    }

    /// Closes a socket or a listener. What the kernel has taken is still sent.
    ///
    /// # Errors
    ///
    /// `EBADF` where there is none with that id, or no longer.
    pub fn close(&mut self, id: Id) -> io::Result<()> {
        self.entry(id).ok_or_else(no_such_socket)?;
        self.entries.remove(id.index());
        Ok(())
    }

    /// Closes a socket by a reset, or the pipe that it is the first of: what has not arrived is lost,
    /// and the peer is told so. A listener is closed.
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::close`].
    pub fn reset(&mut self, id: Id) -> io::Result<()> {
        match self.entry(id).map(|entry| &entry.handle) {
            // Where that can't be set, the connection is gone already.
            Some(Handle::Socket(socket)) => drop(socket.reset_on_close()),
            Some(Handle::Pipe(pipe)) => pipe.reset_on_drop(),
            _ => {}
        }
        self.close(id)
    }

    /// Closes all sockets and listeners.
    pub fn close_all(&mut self) {
        self.entries.clear();
    }

    fn insert(&mut self, mut handle: Handle) -> io::Result<Id> {
        let vacant = self.entries.vacant_entry();
        if vacant.key() > Id::MAX_INDEX {
            return Err(too_many());
        }
        self.generation = self.generation.wrapping_add(1);
        let id = Id::new(vacant.key(), self.generation);
        let token = Token(id.bits() as usize);
        self.counters.epoll_ctl += 1;
        match &mut handle {
            Handle::Socket(socket) => {
                let both = Interest::READABLE | Interest::WRITABLE;
                self.registry.register(socket.source(), token, both)?;
            }
            Handle::Listener(listener) => {
                self.registry.register(listener.source(), token, Interest::READABLE)?;
            }
            Handle::Pipe(_) | Handle::Piped(_) | Handle::Gone => {} // What a socket becomes; none is made so.
        }
        vacant.insert(Entry { id, handle });
        Ok(id)
    }

    fn entry(&mut self, id: Id) -> Option<&mut Entry> {
        self.entries.get_mut(id.index()).filter(|entry| entry.id == id)
    }
}

#[cfg(not(windows))]
fn no_such_socket() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

#[cfg(not(windows))]
fn too_many() -> io::Error {
    io::Error::from_raw_os_error(libc::EMFILE)
}

/// `WSAENOTSOCK`
#[cfg(windows)]
fn no_such_socket() -> io::Error {
    io::Error::from_raw_os_error(10038)
}

/// `WSAEMFILE`
#[cfg(windows)]
fn too_many() -> io::Error {
    io::Error::from_raw_os_error(10024)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::ops::{Deref, DerefMut};
    use std::time::{Duration, Instant};

    use super::super::Readiness;
    use super::super::poller::{EVENTS_PER_WAIT, SLOT};
    use super::*;

    /// A reactor with what waits for it.
    struct Watched {
        reactor: Reactor,
        poller: Poller,
    }

    impl Watched {
        fn new() -> Self {
            let (reactor, poller) = Reactor::new().unwrap();
            Self { reactor, poller }
        }
    }

    impl Deref for Watched {
        type Target = Reactor;

        fn deref(&self) -> &Reactor {
            &self.reactor
        }
    }

    impl DerefMut for Watched {
        fn deref_mut(&mut self) -> &mut Reactor {
            &mut self.reactor
        }
    }

    /// Collects until `wanted` has been seen of `id`; gives all that was seen of it.
    fn wait_for(reactor: &mut Watched, id: Id, wanted: Readiness) -> i32 {
        let mut ring = vec![0; Poller::RING_LEN];
        let mut seen = 0;
        let start = Instant::now();
        while seen & wanted.bits() != wanted.bits() {
            assert!(start.elapsed() < Duration::from_secs(10), "never became {wanted:?}");
            let count = reactor.poller.collect(&mut ring).unwrap();
            for slot in ring[..count * SLOT].chunks_exact(SLOT) {
                if slot[0] == id.bits() {
                    seen |= slot[1];
                }
            }
            std::thread::yield_now();
        }
        seen
    }

    fn any_port() -> SocketAddr {
        "127.0.0.1:0".parse().unwrap()
    }

    /// A reactor with a connected socket, and the peer of that socket.
    fn connected() -> (Watched, Id, TcpStream) {
        let listener = TcpListener::bind(any_port()).unwrap();
        let mut reactor = Watched::new();
        let id = reactor
            .connect(listener.local_addr().unwrap(), None, SocketOptions::default())
            .unwrap();
        let (peer, _) = listener.accept().unwrap();
        wait_for(&mut reactor, id, Readiness::WRITABLE);
        assert!(reactor.socket(id).unwrap().finish_connect().unwrap());
        (reactor, id, peer)
    }

    #[test]
    fn bytes_go_both_ways() {
        let (mut reactor, id, mut peer) = connected();
        assert_eq!(reactor.send(id, b"ping").unwrap(), 4);
        let mut buffer = [0; 16];
        assert_eq!(peer.read(&mut buffer).unwrap(), 4);
        peer.write_all(b"pong!").unwrap();
        wait_for(&mut reactor, id, Readiness::READABLE);
        assert_eq!(reactor.recv(id, &mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"pong!");
        let nothing = reactor.recv(id, &mut buffer).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn slices_arrive_in_order() {
        let (mut reactor, id, mut peer) = connected();
        let parts: Vec<_> = (0..1024).map(|number| vec![number as u8; 3]).collect();
        let slices: Vec<_> = parts.iter().map(|part| IoSlice::new(part)).collect();
        assert_eq!(reactor.send_vectored(id, &slices).unwrap(), 3072);
        let mut received = vec![0; 3072];
        peer.read_exact(&mut received).unwrap();
        assert_eq!(received, parts.concat());
    }

    #[test]
    fn a_connection_is_accepted_with_its_peer() {
        let mut reactor = Watched::new();
        let listener = reactor.listen(any_port(), ListenOptions::default()).unwrap();
        let none = reactor.accept(listener).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
        let peer = TcpStream::connect(reactor.local_address(listener).unwrap()).unwrap();
        wait_for(&mut reactor, listener, Readiness::READABLE);
        let id = reactor.accept(listener).unwrap();
        let socket = reactor.socket(id).unwrap();
        assert_eq!(socket.peer_address(), Some(peer.local_addr().unwrap()));
        assert_eq!(socket.local_address().unwrap(), peer.peer_addr().unwrap());
    }

    #[test]
    fn no_delay_is_set_at_both_ends_or_at_none() {
        for no_delay in [true, false] {
            let mut reactor = Watched::new();
            let options = SocketOptions { no_delay, ..SocketOptions::default() };
            let listening = ListenOptions { socket: options, ..ListenOptions::default() };
            let listener = reactor.listen(any_port(), listening).unwrap();
            let address = reactor.local_address(listener).unwrap();
            let client = reactor.connect(address, None, options).unwrap();
            wait_for(&mut reactor, listener, Readiness::READABLE);
            let accepted = reactor.accept(listener).unwrap();
            for id in [client, accepted] {
                assert_eq!(reactor.socket(id).unwrap().no_delay().unwrap(), no_delay);
            }
        }
    }

    #[test]
    fn ipv6_listens_for_both_families_unless_told_otherwise() {
        for (ipv6_only, reached) in [(false, true), (true, false)] {
            let mut reactor = Watched::new();
            let options = ListenOptions { ipv6_only, ..ListenOptions::default() };
            let Ok(listener) = reactor.listen("[::]:0".parse().unwrap(), options) else {
                return; // No IPv6 here.
            };
            let port = reactor.local_address(listener).unwrap().port();
            // The IPv4 port of the same number may be somebody else's.
            let _client = TcpStream::connect(("127.0.0.1", port));
            assert_eq!(reactor.accept(listener).is_ok(), reached);
        }
    }

    #[test]
    fn keep_alive_is_set_at_both_ends_or_at_none() {
        for keep_alive in [None, Some(Duration::ZERO), Some(Duration::from_secs(7))] {
            let mut reactor = Watched::new();
            let options = SocketOptions { keep_alive, ..SocketOptions::default() };
            let listening = ListenOptions { socket: options, ..ListenOptions::default() };
            let listener = reactor.listen(any_port(), listening).unwrap();
            let address = reactor.local_address(listener).unwrap();
            let client = reactor.connect(address, None, options).unwrap();
            wait_for(&mut reactor, listener, Readiness::READABLE);
            let accepted = reactor.accept(listener).unwrap();
            for id in [client, accepted] {
                assert_eq!(reactor.socket(id).unwrap().keep_alive().unwrap(), keep_alive.is_some());
                reactor.set_keep_alive(id, None).unwrap();
                assert!(!reactor.socket(id).unwrap().keep_alive().unwrap());
            }
        }
    }

    #[test]
    fn a_connection_may_begin_at_an_address_of_choice() {
        let listener = TcpListener::bind(any_port()).unwrap();
        let mut reactor = Watched::new();
        let local = "127.0.0.3:0".parse().unwrap();
        let options = SocketOptions::default();
        let address = listener.local_addr().unwrap();
        let Ok(id) = reactor.connect(address, Some(local), options) else {
            return; // Some systems have 127.0.0.1 alone.
        };
        let (_peer, from) = listener.accept().unwrap();
        assert_eq!(from, reactor.local_address(id).unwrap());
        assert_eq!(from.ip(), local.ip());
        let foreign = "192.0.2.1:0".parse().unwrap(); // Reserved for documentation, RFC 5737.
        let refused = reactor.connect(address, Some(foreign), options).unwrap_err();
        assert!(matches!(refused, ConnectError::Bind(_)), "{refused}");
    }

    #[test]
    fn a_close_may_be_a_reset() {
        let (mut reactor, id, mut peer) = connected();
        reactor.socket(id).unwrap().reset_on_close().unwrap();
        reactor.close(id).unwrap();
        let error = peer.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_may_be_shared() {
        let mut reactor = Watched::new();
        let options = ListenOptions { reuse_port: true, ..ListenOptions::default() };
        let first = reactor.listen(any_port(), options).unwrap();
        let address = reactor.local_address(first).unwrap();
        reactor.listen(address, options).unwrap();
        let alone = reactor.listen(address, ListenOptions::default()).unwrap_err();
        assert_eq!(alone.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn a_pipe_takes_its_sockets_and_tells_its_end() {
        let mut reactor = Watched::new();
        let listener = TcpListener::bind(any_port()).unwrap();
        let address = listener.local_addr().unwrap();
        let [(first, mut left), (second, mut right)] = [(); 2].map(|()| {
            let id = reactor.connect(address, None, SocketOptions::default()).unwrap();
            wait_for(&mut reactor, id, Readiness::WRITABLE);
            assert!(reactor.socket(id).unwrap().finish_connect().unwrap());
            (id, listener.accept().unwrap().0)
        });
        reactor.pipe(first, Some(second), false).unwrap();
        for id in [first, second] {
            assert!(reactor.socket(id).is_err());
            assert!(reactor.pipe(id, None, false).is_err());
            reactor.set_keep_alive(id, Some(Duration::ZERO)).unwrap();
            reactor
                .configure(id, |socket| {
                    assert!(socket.keepalive()?);
                    Ok(())
                })
                .unwrap();
            reactor.set_no_delay(id, id == first).unwrap();
        }
        for id in [first, second] {
            let is_first = id == first;
            reactor
                .configure(id, |socket| {
                    assert_eq!(socket.tcp_nodelay()?, is_first);
                    Ok(())
                })
                .unwrap();
        }
        left.write_all(b"there").unwrap();
        right.write_all(b"back").unwrap();
        for peer in [&left, &right] {
            peer.shutdown(std::net::Shutdown::Write).unwrap();
        }
        for peer in [&mut left, &mut right] {
            peer.read_to_end(&mut Vec::new()).unwrap();
        }
        let mut ring = vec![0; Poller::RING_LEN];
        assert_eq!(reactor.poller.wait(&mut ring).unwrap(), 0);
        assert_eq!(reactor.take_ended(&mut ring[..1]), 0, "no room");
        assert_eq!(reactor.take_ended(&mut ring), 1);
        assert_eq!(ring[..2], [first.bits(), Readiness::PIPE_ENDED.bits()]);
        assert_eq!(reactor.take_ended(&mut ring), 0);
        let pipe = reactor.pipe_of(first).unwrap();
        assert_eq!((pipe.forward().bytes(), pipe.backward().bytes()), (5, 4));
        assert!(reactor.pipe_of(second).is_err());
        for id in [first, second] {
            reactor.set_no_delay(id, true).expect("it changes nothing any more");
        }
        reactor.close(first).unwrap();
        assert!(reactor.set_no_delay(second, true).is_err());
        reactor.close(second).unwrap();
    }

    #[test]
    fn the_waker_is_no_event() {
        let mut reactor = Watched::new();
        let waker = reactor.waker();
        waker.wake().unwrap();
        reactor.waker().wake().unwrap();
        let mut ring = vec![0; Poller::RING_LEN];
        assert_eq!(reactor.poller.wait(&mut ring).unwrap(), 0);
        assert_eq!(reactor.poller.collect(&mut ring).unwrap(), 0);
    }

    #[test]
    fn the_end_is_a_hangup_after_the_last_bytes() {
        let (mut reactor, id, mut peer) = connected();
        peer.write_all(b"bye").unwrap();
        peer.shutdown(std::net::Shutdown::Write).unwrap();
        wait_for(&mut reactor, id, Readiness::HANGUP);
        assert!(!reactor.socket(id).unwrap().at_end().unwrap());
        let mut buffer = [0; 16];
        assert_eq!(reactor.recv(id, &mut buffer).unwrap(), 3);
        assert!(reactor.socket(id).unwrap().at_end().unwrap());
        assert_eq!(reactor.recv(id, &mut buffer).unwrap(), 0);
    }

    #[test]
    fn a_refused_connection_says_why() {
        let address = TcpListener::bind(any_port()).unwrap().local_addr().unwrap();
        let mut reactor = Watched::new();
        let error = match reactor.connect(address, None, SocketOptions::default()) {
            Ok(id) => {
                wait_for(&mut reactor, id, Readiness::HANGUP);
                reactor.socket(id).unwrap().finish_connect().unwrap_err()
            }
            Err(ConnectError::Connect(error) | ConnectError::Bind(error)) => error,
        };
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[test]
    fn shutdown_ends_one_direction() {
        let (mut reactor, id, mut peer) = connected();
        reactor.socket(id).unwrap().shutdown().unwrap();
        assert_eq!(peer.read(&mut [0; 4]).unwrap(), 0);
        peer.write_all(b"still here").unwrap();
        wait_for(&mut reactor, id, Readiness::READABLE);
        assert_eq!(reactor.recv(id, &mut [0; 16]).unwrap(), 10);
        let gone = reactor.send(id, b"x").unwrap_err();
        let shut_down = Some(10058); // On Windows it has a number and no kind.
        assert!(gone.kind() == io::ErrorKind::BrokenPipe || gone.raw_os_error() == shut_down);
    }

    #[test]
    fn an_id_dies_with_its_socket() {
        let (mut reactor, first, _peer) = connected();
        reactor.close(first).unwrap();
        let second = reactor.listen(any_port(), ListenOptions::default()).unwrap();
        assert_eq!(first.index(), second.index(), "the place is used again");
        let gone = reactor.recv(first, &mut [0; 1]).unwrap_err();
        assert_eq!(gone.raw_os_error(), no_such_socket().raw_os_error());
        assert!(reactor.close(first).is_err());
        assert!(reactor.socket(second).is_err(), "a listener is no socket");
        assert!(reactor.accept(Id::from_bits(-1)).is_err());
        reactor.close(second).unwrap();
    }

    #[test]
    fn watching_costs_one_call_a_socket() {
        let (mut reactor, id, mut peer) = connected();
        let before = reactor.counters();
        for _ in 0..100 {
            peer.write_all(b"x").unwrap();
            wait_for(&mut reactor, id, Readiness::READABLE);
            reactor.recv(id, &mut [0; 16]).unwrap();
            reactor.send(id, b"y").unwrap();
        }
        let after = reactor.counters();
        assert_eq!(before.epoll_ctl, 1);
        assert_eq!(after.epoll_ctl, 1);
        assert_eq!((after.recv - before.recv, after.send - before.send), (100, 100));
        reactor.close(id).unwrap();
        assert_eq!(reactor.counters().epoll_ctl, 1);
    }

    #[test]
    fn more_events_than_one_question_brings_are_collected_together() {
        let mut reactor = Watched::new();
        let address = any_port();
        let count = EVENTS_PER_WAIT + 10;
        // Listeners with a waiting connection are ready without much ado.
        let mut peers = Vec::new();
        for _ in 0..count {
            let id = reactor.listen(address, ListenOptions::default());
            let Ok(id) = id else { return }; // Fewer descriptors allowed than it takes.
            let Ok(peer) = TcpStream::connect(reactor.local_address(id).unwrap()) else {
                return;
            };
            peers.push(peer);
        }
        let mut ring = vec![0; Poller::RING_LEN];
        assert_eq!(reactor.poller.collect(&mut ring).unwrap(), count);
        assert_eq!(reactor.poller.collect(&mut ring).unwrap(), 0, "an edge is told once");
    }
}
