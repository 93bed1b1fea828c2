//! One connection.

use std::fmt;
use std::io::{self, IoSlice, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::time::Duration;

use mio::net::TcpStream;
use socket2::{Domain, Protocol, SockRef, TcpKeepalive, Type};

/// Flags of every send. A peer that is gone is an error and not a signal that ends the process;
/// where the flag does not exist the socket itself is set so.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
const SEND_FLAGS: i32 = 0;

/// Time between two probes, and how many may stay unanswered; those of libuv, and where they can't
/// be chosen, those of the system.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
#[cfg(not(any(windows, target_os = "openbsd")))]
const PROBES: u32 = 10;

/// What a connection is given at its birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Send small segments at once (`TCP_NODELAY`) instead of waiting for an acknowledgement
    /// (Nagle's algorithm, RFC 896).
    pub no_delay: bool,
    /// Probe an idle connection; see [`Reactor::set_keep_alive`](super::Reactor::set_keep_alive).
    pub keep_alive: Option<Duration>,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { no_delay: true, keep_alive: None }
    }
}

/// Which system call of [`Socket::connect`] failed, and how.
#[derive(Debug)]
pub enum ConnectError {
    /// The address at this end could not be had.
    Bind(io::Error),
    /// Anything else.
    Connect(io::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(error) => write!(formatter, "bind: {error}"),
            Self::Connect(error) => write!(formatter, "connect: {error}"),
        }
    }
}

impl std::error::Error for ConnectError {}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        Self::Connect(error)
    }
}

/// A TCP connection that never blocks. Dropping it closes the descriptor.
///
/// It is mio's type, since on Windows mio must see each call that would block.
#[derive(Debug)]
pub struct Socket {
    inner: TcpStream,
    peer: Option<SocketAddr>,
}

impl Socket {
    /// Begins a connection to `address`, from `local` where that is given;
    /// [`Socket::finish_connect`] tells how it went.
    ///
    /// # Errors
    ///
    /// What `socket`, `setsockopt`, `bind` or `connect` report, but that the attempt is under way.
    pub fn connect(
        address: SocketAddr,
        local: Option<SocketAddr>,
        options: SocketOptions,
    ) -> Result<Self, ConnectError> {
        let inner = new_stream_socket(address)?;
        inner.set_tcp_nodelay(options.no_delay)?;
        set_keep_alive(&inner, options.keep_alive)?;
        if let Some(local) = local {
            // As libuv does it: a port may be used again while its last connection lingers.
            #[cfg(unix)]
            inner.set_reuse_address(true).map_err(ConnectError::Bind)?;
            inner.bind(&local.into()).map_err(ConnectError::Bind)?;
        }
        match inner.connect(&reachable(address).into()) {
            Ok(()) => {}
            Err(error) if is_under_way(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Self { inner: TcpStream::from_std(inner.into()), peer: None })
    }

    pub(super) fn accepted(
        inner: TcpStream,
        peer: Option<SocketAddr>,
        options: SocketOptions,
    ) -> Self {
        // On some systems an option can't be set once the peer has gone. That is no failure to
        // accept: the first operation will tell.
        let socket = SockRef::from(&inner);
        #[cfg(target_vendor = "apple")]
        let _ = socket.set_nosigpipe(true);
        #[cfg(windows)]
        let _ = socket.set_no_inherit(true);
        if options.no_delay {
            let _ = socket.set_tcp_nodelay(true);
        }
        if options.keep_alive.is_some() {
            let _ = set_keep_alive(&socket, options.keep_alive);
        }
        Self { inner, peer }
    }

    /// Whether the connection stands; `false` while the attempt is still under way.
    ///
    /// # Errors
    ///
    /// Why the attempt failed.
    pub fn finish_connect(&mut self) -> io::Result<bool> {
        if let Some(error) = self.inner.take_error()? {
            return Err(error);
        }
        match self.inner.peer_addr() {
            Ok(peer) => {
                self.peer = Some(peer);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How much is received at once, at most: what stays in the processor's cache until it is used.
    /// One connection has a third more throughput with it than with buffers of megabytes.
    pub const MAX_RECV: usize = 512 * 1024;

    /// Receives at most `buffer.len()` bytes, and at most [`Socket::MAX_RECV`]; 0 at the end. After
    /// less than that the poller tells when there is more.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where nothing has arrived, else what `recv` reports.
    pub fn recv(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = buffer.len().min(Self::MAX_RECV);
        let count = self.inner.read(&mut buffer[..limit])?;
        self.watch_after(count, || limit);
        Ok(count)
    }

    /// Whether the peer has ended its side and every byte before the end was received.
    ///
    /// # Errors
    ///
    /// What `recv` reports, but that nothing has arrived.
    pub fn at_end(&self) -> io::Result<bool> {
        match self.inner.peek(&mut [0]) {
            Ok(count) => Ok(count == 0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sends as much of `bytes` as the kernel takes now. After less than all of it the poller tells
    /// when there is room.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where it takes nothing, else what `send` reports.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count =
            self.inner.try_io(|| SockRef::from(&self.inner).send_with_flags(bytes, SEND_FLAGS))?;
        self.watch_after(count, || bytes.len());
        Ok(count)
    }

    /// Sends as much of `slices`, one behind the other, as the kernel takes now; as
    /// [`Socket::send`]. There may be at most 1024 slices (`IOV_MAX`).
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where it takes nothing, else what `sendmsg` reports.
    pub fn send_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = self
            .inner
            .try_io(|| SockRef::from(&self.inner).send_vectored_with_flags(slices, SEND_FLAGS))?;
        self.watch_after(count, || slices.iter().map(|slice| slice.len()).sum());
        Ok(count)
    }

    /// `count` bytes of `wanted` were moved. epoll and kqueue tell by themselves what becomes possible
    /// after less than all. Windows is asked by mio alone, after a call that would have blocked; so
    /// mio is told of one.
    fn watch_after(&self, count: usize, wanted: impl FnOnce() -> usize) {
        if cfg!(windows) && count > 0 && count < wanted() {
            let _ = self.inner.try_io(|| io::Result::<()>::Err(io::ErrorKind::WouldBlock.into()));
        }
    }

    /// Ends the sending side; what was sent before arrives first.
    ///
    /// # Errors
    ///
    /// What `shutdown` reports.
    pub fn shutdown(&mut self) -> io::Result<()> {
        self.inner.shutdown(Shutdown::Write)
    }

    /// Whether small segments are sent at once.
    ///
    /// # Errors
    ///
    /// What `getsockopt` reports.
    pub fn no_delay(&self) -> io::Result<bool> {
        self.inner.nodelay()
    }

    /// Whether an idle connection is probed.
    ///
    /// # Errors
    ///
    /// What `getsockopt` reports.
    pub fn keep_alive(&self) -> io::Result<bool> {
        SockRef::from(&self.inner).keepalive()
    }

    /// Does something with its options.
    ///
    /// # Errors
    ///
    /// Those of `body`.
    pub(super) fn configure(
        &self,
        body: impl FnOnce(&socket2::Socket) -> io::Result<()>,
    ) -> io::Result<()> {
        body(&SockRef::from(&self.inner))
    }

    /// Makes the close that follows a reset (`SO_LINGER` of zero): what was not sent is dropped, and
    /// the peer is told that it was.
    ///
    /// # Errors
    ///
    /// What `setsockopt` reports.
    pub fn reset_on_close(&self) -> io::Result<()> {
        SockRef::from(&self.inner).set_linger(Some(Duration::ZERO))
    }

    /// The address at this end.
    ///
    /// # Errors
    ///
    /// What `getsockname` reports.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    /// The address at the other end, known once the connection stands, and kept after it fell.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer
    }

    pub(super) fn source(&mut self) -> &mut TcpStream {
        &mut self.inner
    }

    /// The socket as the standard library has it, out of the hands of any reactor.
    pub(super) fn into_std(self) -> std::net::TcpStream {
        self.inner.into()
    }
}

/// Sets whether an idle connection is probed (`SO_KEEPALIVE`), and after how long, in whole seconds;
/// zero leaves the time to the system. Then there is a probe each second, and the tenth that stays
/// unanswered ends the connection.
pub(super) fn set_keep_alive(
    socket: &socket2::Socket,
    keep_alive: Option<Duration>,
) -> io::Result<()> {
    match keep_alive {
        Some(time) if !time.is_zero() => {
            let probes = TcpKeepalive::new().with_time(time).with_interval(PROBE_INTERVAL);
            #[cfg(not(any(windows, target_os = "openbsd")))]
            let probes = probes.with_retries(PROBES);
            socket.set_keepalive(true)?;
            socket.set_tcp_keepalive(&probes)
        }
        Some(_) => socket.set_keepalive(true),
        None => socket.set_keepalive(false),
    }
}

/// The address of a peer. On Windows the unspecified one is none, elsewhere it is this machine; as
/// libuv does it, it is that everywhere.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !cfg!(windows) || !address.ip().is_unspecified() {
        return address;
    }
    let host: IpAddr = match address {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(host, address.port())
}

/// Whether `connect` only says that it has not finished.
fn is_under_way(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(libc::EINPROGRESS);
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::WouldBlock;
}

/// A TCP socket that does not block and that programs started later do not inherit.
pub(super) fn new_stream_socket(address: SocketAddr) -> io::Result<socket2::Socket> {
    let socket =
        socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}
