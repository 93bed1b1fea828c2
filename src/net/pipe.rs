//! Bytes between two connections, without JavaScript.

use std::cell::RefCell;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::task::coop::consume_budget;

use super::Socket;
use crate::runtime::runtime;

/// How much is received at once, in bytes.
const BUFFER: usize = 128 * 1024;

thread_local! {
    /// One buffer for all pipes of a thread: it stays in the cache, and a pipe that waits has none.
    static HOT: RefCell<Vec<u8>> = RefCell::new(vec![0; BUFFER]);
}

/// What moves between two connections, both ways, or from one back to itself, until both ways have
/// ended or one has failed. The end of one way is passed on, and the other goes on. Dropping it
/// closes the connections.
#[derive(Debug)]
pub struct Pipe {
    state: Arc<State>,
    /// The task has them, until it is over.
    streams: Weak<Streams>,
    task: AbortHandle,
}

#[derive(Debug)]
struct State {
    began: Instant,
    forward: Way,
    backward: Way,
    failure: OnceLock<Failure>,
    resets: AtomicBool,
}

/// The connections of a pipe, wherever it ends.
#[derive(Debug)]
struct Streams {
    first: TcpStream,
    second: Option<TcpStream>,
    state: Arc<State>,
}

impl Drop for Streams {
    fn drop(&mut self) {
        if !self.state.resets.load(Ordering::Relaxed) {
            return;
        }
        for stream in [Some(&self.first), self.second.as_ref()].into_iter().flatten() {
            let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
        }
    }
}

/// One way through a pipe.
#[derive(Debug)]
pub struct Way {
    began: Instant,
    bytes: AtomicU64,
    /// When bytes moved the last time, in milliseconds since the beginning.
    moved: AtomicU64,
    ended: AtomicBool,
}

impl Way {
    fn new(began: Instant) -> Self {
        Self { began, bytes: AtomicU64::new(0), moved: AtomicU64::new(0), ended: false.into() }
    }

    /// So many bytes more have moved.
    pub(super) fn count(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        let now = self.began.elapsed().as_millis();
        self.moved.store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How many bytes the kernel has taken.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether the end came, and was passed on.
    pub fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

/// Why a pipe ended before both ways had.
#[derive(Debug)]
pub struct Failure {
    /// Whether it was the way back.
    pub backward: bool,
    /// The system call.
    pub call: Call,
    /// What it reported.
    pub error: io::Error,
}

/// A system call of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Receiving.
    Read,
    /// Sending.
    Write,
    /// Passing the end on.
    Shutdown,
}

type Outcome<T = ()> = Result<T, (Call, io::Error)>;

impl Pipe {
    /// Begins to move what comes from `first` to `second` and back; without `second`, from `first`
    /// to itself. `on_end` is called once, on another thread, when it has ended by itself. With
    /// `splice`, Linux moves the bytes within the kernel (`splice`); elsewhere it changes nothing.
    ///
    /// # Errors
    ///
    /// What making the runtime or handing the sockets to it reports; they are closed then.
    pub fn start(
        first: Socket,
        second: Option<Socket>,
        splice: bool,
        on_end: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let runtime = runtime()?;
        let _context = runtime.enter();
        let first = TcpStream::from_std(first.into_std())?;
        let second = second.map(|socket| TcpStream::from_std(socket.into_std())).transpose()?;
        let state = Arc::new(State::new());
        let streams = Arc::new(Streams { first, second, state: Arc::clone(&state) });
        let known = Arc::downgrade(&streams);
        let task = runtime.spawn(async move {
            streams.state.run(&streams, splice).await;
            drop(streams);
            on_end();
        });
        Ok(Self { state, streams: known, task: task.abort_handle() })
    }

    /// What goes from the first to the second.
    pub fn forward(&self) -> &Way {
        &self.state.forward
    }

    /// What goes from the second to the first.
    pub fn backward(&self) -> &Way {
        &self.state.backward
    }

    /// How long nothing has moved, either way.
    pub fn idle(&self) -> Duration {
        let State { began, forward, backward, .. } = &*self.state;
        let last = [forward, backward].map(|way| way.moved.load(Ordering::Relaxed));
        began.elapsed().saturating_sub(Duration::from_millis(last[0].max(last[1])))
    }

    /// Dropping it is to reset the connections: what has not arrived is lost, and the peers are told.
    pub fn reset_on_drop(&self) {
        self.state.resets.store(true, Ordering::Relaxed);
    }

    /// Does something with the options of one of its sockets; nothing once it has ended.
    ///
    /// # Errors
    ///
    /// Those of `body`.
    pub(super) fn configure(
        &self,
        is_second: bool,
        body: impl FnOnce(&socket2::Socket) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(streams) = self.streams.upgrade() else { return Ok(()) };
        let stream = streams.second.as_ref().filter(|_| is_second).unwrap_or(&streams.first);
        body(&SockRef::from(stream))
    }

    /// Why it ended early, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        self.state.failure.get()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl State {
    fn new() -> Self {
        let began = Instant::now();
        Self {
            began,
            forward: Way::new(began),
            backward: Way::new(began),
            failure: OnceLock::new(),
            resets: false.into(),
        }
    }

    async fn run(&self, streams: &Streams, splice: bool) {
        let Streams { first, second, .. } = streams;
        let outcome = match second {
            None => self.forward.flow(first, first, splice).await.map_err(forward),
            Some(second) => self.exchange(first, second, splice).await,
        };
        let Err(failure) = outcome else { return };
        // A stream that was cut must not look like one that ended.
        self.resets.store(true, Ordering::Relaxed);
        let _ = self.failure.set(failure);
    }

    /// Moves both ways. Where one has ended nothing is received from its sender any more: that it
    /// fails is looked for while the other way goes on.
    async fn exchange(
        &self,
        first: &TcpStream,
        second: &TcpStream,
        splice: bool,
    ) -> Result<(), Failure> {
        let mut there = pin!(self.forward.flow(first, second, splice));
        let mut back = pin!(self.backward.flow(second, first, splice));
        tokio::select! {
            outcome = &mut there => {
                outcome.map_err(forward)?;
                go_on(back, first).await.map_err(backward)
            }
            outcome = &mut back => {
                outcome.map_err(backward)?;
                go_on(there, second).await.map_err(forward)
            }
        }
    }
}

fn forward((call, error): (Call, io::Error)) -> Failure {
    Failure { backward: false, call, error }
}

fn backward((call, error): (Call, io::Error)) -> Failure {
    Failure { backward: true, call, error }
}

/// The way that is left, to where nothing comes from any more, until it ends or its receiver fails.
async fn go_on(way: impl Future<Output = Outcome>, to: &TcpStream) -> Outcome {
    tokio::select! {
        biased;
        outcome = way => outcome,
        error = failure_of(to) => Err((Call::Write, error)),
    }
}

/// Why a socket failed, as soon as it has.
async fn failure_of(stream: &TcpStream) -> io::Error {
    let failed = stream
        .async_io(Interest::ERROR, || Ok(stream.take_error()?.ok_or(io::ErrorKind::WouldBlock)?));
    failed.await.unwrap_or_else(|error| error)
}

impl Way {
    /// Moves all that comes until the end, and passes that on.
    async fn flow(&self, from: &TcpStream, to: &TcpStream, splice: bool) -> Outcome {
        #[cfg(target_os = "linux")]
        if splice {
            super::splice::flow(from, to, self).await?;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = splice;
        self.copy(from, to).await?;
        let shut = match SockRef::from(to).shutdown(std::net::Shutdown::Write) {
            // There is no connection any more. Where that is no failure, the peer misses nothing.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => {
                to.take_error().and_then(|failure| failure.map_or(Ok(()), Err))
            }
            result => result,
        };
        shut.map_err(|error| (Call::Shutdown, error))?;
        self.ended.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn copy(&self, from: &TcpStream, to: &TcpStream) -> Outcome {
        loop {
            from.readable().await.map_err(|error| (Call::Read, error))?;
            let passed = HOT.with_borrow_mut(|buffer| self.pass(from, to, buffer))?;
            let Some((count, rest)) = passed else { continue };
            if count == 0 {
                return Ok(());
            }
            self.write_all(to, &rest).await?;
            // One pipe must not keep a thread from the others.
            consume_budget().await;
        }
    }

    /// Receives once and sends what can be sent at once. How much came, and the rest of it; `None`
    /// where nothing came.
    fn pass(
        &self,
        from: &TcpStream,
        to: &TcpStream,
        buffer: &mut [u8],
    ) -> Outcome<Option<(usize, Vec<u8>)>> {
        let received = match from.try_read(buffer) {
            // At the end nothing is sent: an empty write would take away why the receiver failed.
            Ok(0) => return Ok(Some((0, Vec::new()))),
            Ok(count) => buffer.get(..count).unwrap_or_default(),
            Err(error) if would_block(&error) => return Ok(None),
            Err(error) => return Err((Call::Read, error)),
        };
        let sent = match to.try_write(received) {
            Ok(count) => count,
            Err(error) if would_block(&error) => 0,
            Err(error) => return Err((Call::Write, error)),
        };
        self.count(sent);
        Ok(Some((received.len(), received.get(sent..).unwrap_or_default().to_vec())))
    }

    async fn write_all(&self, to: &TcpStream, mut bytes: &[u8]) -> Outcome {
        while !bytes.is_empty() {
            to.writable().await.map_err(|error| (Call::Write, error))?;
            match to.try_write(bytes) {
                Ok(count) => {
                    self.count(count);
                    bytes = bytes.get(count..).unwrap_or_default();
                }
                Err(error) if would_block(&error) => {}
                Err(error) => return Err((Call::Write, error)),
            }
        }
        Ok(())
    }
}

pub(super) fn would_block(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    use super::*;
    use crate::net::SocketOptions;

    const LIMIT: Duration = Duration::from_secs(10);

    /// A socket, and the peer that it is connected to.
    fn socket() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut socket = Socket::connect(address, None, SocketOptions::default()).unwrap();
        let (peer, _) = listener.accept().unwrap();
        peer.set_read_timeout(Some(LIMIT)).unwrap();
        while !socket.finish_connect().unwrap() {
            thread::yield_now();
        }
        (socket, peer)
    }

    fn piped(splice: bool) -> (Pipe, TcpStream, TcpStream, Receiver<()>) {
        let ((first, left), (second, right)) = (socket(), socket());
        let (ended, end) = channel();
        let pipe = Pipe::start(first, Some(second), splice, move || ended.send(()).unwrap());
        (pipe.unwrap(), left, right, end)
    }

    fn bytes(length: usize, seed: usize) -> Vec<u8> {
        (0..length).map(|index| ((index * 31 + seed) >> 3) as u8).collect()
    }

    #[test]
    fn both_ways_are_moved_and_each_end_is_passed_on() {
        for splice in [false, true] {
            let (pipe, mut left, mut right, end) = piped(splice);
            let (there, back) = (bytes(5 << 20, 1), bytes(3 << 20, 2));
            let mut to_write = left.try_clone().unwrap();
            let sent = there.clone();
            let writer = thread::spawn(move || {
                to_write.write_all(&sent).unwrap();
                to_write.shutdown(Shutdown::Write).unwrap();
            });
            let mut received = Vec::new();
            right.read_to_end(&mut received).unwrap();
            assert!(received == there, "splice: {splice}");
            writer.join().unwrap();
            // The other way goes on.
            let mut to_write = right.try_clone().unwrap();
            let sent = back.clone();
            let writer = thread::spawn(move || {
                to_write.write_all(&sent).unwrap();
                to_write.shutdown(Shutdown::Write).unwrap();
            });
            received.clear();
            left.read_to_end(&mut received).unwrap();
            assert!(received == back, "splice: {splice}");
            writer.join().unwrap();
            end.recv_timeout(LIMIT).unwrap();
            assert_eq!((pipe.forward().bytes(), pipe.backward().bytes()), (5 << 20, 3 << 20));
            assert!(pipe.forward().ended() && pipe.backward().ended());
            assert!(pipe.failure().is_none());
        }
    }

    #[test]
    fn a_socket_may_be_piped_to_itself() {
        let (first, mut peer) = socket();
        let (ended, end) = channel();
        let pipe = Pipe::start(first, None, false, move || ended.send(()).unwrap()).unwrap();
        peer.write_all(b"echo").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        let mut received = Vec::new();
        peer.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"echo");
        end.recv_timeout(LIMIT).unwrap();
        assert_eq!((pipe.forward().bytes(), pipe.backward().bytes()), (4, 0));
    }

    #[test]
    fn a_byte_out_of_band_does_not_hold_up_those_behind_it() {
        for splice in [false, true] {
            let (pipe, mut left, mut right, end) = piped(splice);
            let mut received = [0; 11];
            left.write_all(b"before").unwrap();
            right.read_exact(&mut received[..6]).unwrap();
            SockRef::from(&left).send_out_of_band(b"!").unwrap();
            left.write_all(b"after").unwrap();
            right.read_exact(&mut received[6..]).unwrap();
            assert_eq!(&received, b"beforeafter", "splice: {splice}");
            SockRef::from(&left).send_out_of_band(b"!").unwrap();
            left.write_all(b"last").unwrap();
            left.shutdown(Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            right.read_to_end(&mut rest).unwrap();
            assert_eq!(rest, b"last", "splice: {splice}");
            right.shutdown(Shutdown::Write).unwrap();
            end.recv_timeout(LIMIT).unwrap();
            assert_eq!(pipe.forward().bytes(), 15);
        }
    }

    #[test]
    fn the_end_comes_after_the_bytes_behind_one_out_of_band() {
        let (_pipe, mut left, mut right, _end) = piped(true);
        SockRef::from(&left).send_out_of_band(b"!").unwrap();
        left.write_all(b"last").unwrap();
        left.shutdown(Shutdown::Write).unwrap();
        let mut received = Vec::new();
        right.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"last");
    }

    #[test]
    fn a_reset_is_passed_on_as_one() {
        for splice in [false, true] {
            let (pipe, left, mut right, end) = piped(splice);
            SockRef::from(&left).set_linger(Some(Duration::ZERO)).unwrap();
            drop(left);
            end.recv_timeout(LIMIT).unwrap();
            let failure = pipe.failure().unwrap();
            assert_eq!((failure.backward, failure.call), (false, Call::Read));
            assert_eq!(failure.error.kind(), io::ErrorKind::ConnectionReset);
            assert!(!pipe.forward().ended() && !pipe.backward().ended());
            let error = right.read(&mut [0]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        }
    }

    #[test]
    fn a_reset_after_the_end_is_passed_on_at_once() {
        for splice in [false, true] {
            let (pipe, mut left, right, end) = piped(splice);
            right.shutdown(Shutdown::Write).unwrap();
            assert_eq!(left.read(&mut [0]).unwrap(), 0);
            SockRef::from(&right).set_linger(Some(Duration::ZERO)).unwrap();
            drop(right);
            end.recv_timeout(LIMIT).unwrap();
            let failure = pipe.failure().unwrap();
            assert_eq!((failure.backward, failure.call), (false, Call::Write));
            assert!(pipe.backward().ended() && !pipe.forward().ended());
            assert!(left.write(b"x").is_err());
        }
    }

    #[test]
    fn the_end_is_not_passed_on_to_a_peer_that_was_reset() {
        let ((first, left), (second, right)) = (socket(), socket());
        left.shutdown(Shutdown::Write).unwrap();
        SockRef::from(&right).set_linger(Some(Duration::ZERO)).unwrap();
        drop(right);
        let runtime = runtime().unwrap();
        let _context = runtime.enter();
        let [from, to] =
            [first, second].map(|socket| super::TcpStream::from_std(socket.into_std()).unwrap());
        let way = Way::new(Instant::now());
        let (call, error) = runtime.block_on(way.flow(&from, &to, false)).unwrap_err();
        assert_eq!((call, error.kind()), (Call::Shutdown, io::ErrorKind::ConnectionReset));
        assert!(!way.ended());
    }

    #[test]
    fn dropping_it_closes_both() {
        let (pipe, mut left, mut right, end) = piped(false);
        drop(pipe);
        assert_eq!(left.read(&mut [0]).unwrap(), 0);
        assert_eq!(right.read(&mut [0]).unwrap(), 0);
        assert!(end.recv_timeout(LIMIT).is_err(), "it did not end by itself");
    }

    #[test]
    fn dropping_it_may_reset_both() {
        for splice in [false, true] {
            let (pipe, mut left, mut right, _end) = piped(splice);
            left.write_all(b".").unwrap();
            right.read_exact(&mut [0]).unwrap();
            pipe.reset_on_drop();
            drop(pipe);
            for peer in [&mut left, &mut right] {
                let error = peer.read(&mut [0]).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
            }
        }
    }

    #[test]
    fn a_slow_reader_holds_the_other_side_back() {
        for splice in [false, true] {
            let (pipe, left, mut right, _end) = piped(splice);
            left.set_nonblocking(true).unwrap();
            let chunk = vec![7; 1 << 16];
            let (mut sent, mut idle) = (0, 0);
            while idle < 20 {
                match (&left).write(&chunk) {
                    Ok(count) => (sent, idle) = (sent + count, 0),
                    Err(_) => {
                        idle += 1;
                        thread::sleep(Duration::from_millis(5));
                    }
                }
            }
            assert!(pipe.forward().bytes() < sent as u64);
            let mut received = vec![0; sent];
            right.read_exact(&mut received).unwrap();
            assert!(received.iter().all(|byte| *byte == 7));
        }
    }
}
