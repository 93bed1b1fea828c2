//! One listening socket.

use std::io;
use std::net::SocketAddr;

use mio::net::TcpListener;

use super::socket::new_stream_socket;
use super::{Socket, SocketOptions};

/// How a [`Listener`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// How many connections may wait to be accepted; the kernel may hold it lower
    /// (`net.core.somaxconn` on Linux).
    pub backlog: i32,
    /// For an IPv6 address: take no IPv4 connections.
    pub ipv6_only: bool,
    /// Let other listeners have the same port (`SO_REUSEPORT`); the kernel spreads connections over
    /// them. A port that another program listens on in the same way is then not an error.
    pub reuse_port: bool,
    /// What each accepted connection is given.
    pub socket: SocketOptions,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { backlog: 511, ipv6_only: false, reuse_port: false, socket: SocketOptions::default() }
    }
}

/// A listening socket that never blocks. Dropping it closes the descriptor.
#[derive(Debug)]
pub struct Listener {
    inner: TcpListener,
    options: SocketOptions,
}

impl Listener {
    /// Listens on `address`; port 0 takes any that is free.
    ///
    /// # Errors
    ///
    /// What `socket`, `setsockopt`, `bind` or `listen` report; [`io::ErrorKind::Unsupported`] where
    /// [`ListenOptions::reuse_port`] would not spread connections.
    pub fn bind(address: SocketAddr, options: ListenOptions) -> io::Result<Self> {
        let inner = new_stream_socket(address)?;
        if address.is_ipv6() {
            inner.set_only_v6(options.ipv6_only)?;
        }
        // On Windows the option means something else: it lets two programs share the port.
        #[cfg(unix)]
        inner.set_reuse_address(true)?;
        if options.reuse_port {
            reuse_port(&inner)?;
        }
        inner.bind(&address.into())?;
        inner.listen(options.backlog)?;
        Ok(Self { inner: TcpListener::from_std(inner.into()), options: options.socket })
    }

    /// Accepts one connection.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where none waits, [`io::ErrorKind::ConnectionAborted`] where its
    /// peer has given it up, else what `accept` reports.
    pub fn accept(&mut self) -> io::Result<Socket> {
        let (inner, peer) = self.inner.accept().map_err(given_up)?;
        Ok(Socket::accepted(inner, Some(peer), self.options))
    }

    /// The address it listens on.
    ///
    /// # Errors
    ///
    /// What `getsockname` reports.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    pub(super) fn source(&mut self) -> &mut TcpListener {
        &mut self.inner
    }
}

/// What Windows reports of a connection that was given up is that of a reset.
#[cfg(windows)]
fn given_up(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::ConnectionReset => io::Error::from_raw_os_error(10053), // WSAECONNABORTED
        _ => error,
    }
}

#[cfg(not(windows))]
fn given_up(error: io::Error) -> io::Error {
    error
}

/// The systems where it spreads connections are those of Node's option `reusePort`.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn reuse_port(socket: &socket2::Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn reuse_port(_socket: &socket2::Socket) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
