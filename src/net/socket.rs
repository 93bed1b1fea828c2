//! One connection.

use std::io::{self, IoSlice, Read};
use std::net::{Shutdown, SocketAddr};

use socket2::{Domain, Protocol, Type};

/// Flags of every send. A peer that is gone is an error and not a signal that ends the process;
/// where the flag does not exist the socket itself is set so.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL;
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
const SEND_FLAGS: i32 = 0;

/// What a connection is given at its birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// Send small segments at once (`TCP_NODELAY`) instead of waiting for an acknowledgement
    /// (Nagle's algorithm, RFC 896).
    pub no_delay: bool,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self { no_delay: true }
    }
}

/// A TCP connection that never blocks. Dropping it closes the descriptor.
#[derive(Debug)]
pub struct Socket {
    inner: socket2::Socket,
    peer: Option<SocketAddr>,
}

impl Socket {
    /// Begins a connection to `address`; [`Socket::finish_connect`] tells how it went.
    ///
    /// # Errors
    ///
    /// What `socket`, `setsockopt` or `connect` report, but that the attempt is under way.
    pub fn connect(address: SocketAddr, options: SocketOptions) -> io::Result<Self> {
        let inner = new_stream_socket(address)?;
        inner.set_tcp_nodelay(options.no_delay)?;
        match inner.connect(&address.into()) {
            Ok(()) => {}
            Err(error) if is_under_way(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(Self { inner, peer: None })
    }

    pub(super) fn accepted(
        inner: socket2::Socket,
        peer: Option<SocketAddr>,
        options: SocketOptions,
    ) -> Self {
        // On some systems an option can't be set once the peer has gone. That is no failure to
        // accept: the first operation will tell.
        #[cfg(target_vendor = "apple")]
        let _ = inner.set_nosigpipe(true);
        if options.no_delay {
            let _ = inner.set_tcp_nodelay(true);
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
                self.peer = peer.as_socket();
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Receives at most `buffer.len()` bytes, 0 at the end.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where nothing has arrived, else what `recv` reports.
    pub fn recv(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }

    /// Whether the peer has ended its side and every byte before the end was received.
    ///
    /// # Errors
    ///
    /// What `recv` reports, but that nothing has arrived.
    pub fn at_end(&self) -> io::Result<bool> {
        let mut byte = [std::mem::MaybeUninit::uninit()];
        match self.inner.peek(&mut byte) {
            Ok(count) => Ok(count == 0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sends as much of `bytes` as the kernel takes now.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where it takes nothing, else what `send` reports.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.send_with_flags(bytes, SEND_FLAGS)
    }

    /// Sends as much of `slices`, one behind the other, as the kernel takes now. There may be at
    /// most 1024 slices (`IOV_MAX`).
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where it takes nothing, else what `sendmsg` reports.
    pub fn send_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.inner.send_vectored_with_flags(slices, SEND_FLAGS)
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
        self.inner.tcp_nodelay()
    }

    /// The address at this end.
    ///
    /// # Errors
    ///
    /// What `getsockname` reports.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        local_address(&self.inner)
    }

    /// The address at the other end, known once the connection stands, and kept after it fell.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        self.peer
    }

    #[cfg(unix)]
    pub(super) fn descriptor(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.inner)
    }
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

pub(super) fn local_address(socket: &socket2::Socket) -> io::Result<SocketAddr> {
    let address = socket.local_addr()?.as_socket();
    address.ok_or_else(|| io::ErrorKind::Unsupported.into())
}
