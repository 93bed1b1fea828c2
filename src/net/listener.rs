//! One listening socket.

use std::io;
use std::net::SocketAddr;

use super::socket::{local_address, new_stream_socket};
use super::{Socket, SocketOptions};

/// How a [`Listener`] is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// How many connections may wait to be accepted; the kernel may hold it lower
    /// (`net.core.somaxconn` on Linux).
    pub backlog: i32,
    /// For an IPv6 address: take no IPv4 connections.
    pub ipv6_only: bool,
    /// What each accepted connection is given.
    pub socket: SocketOptions,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self { backlog: 511, ipv6_only: false, socket: SocketOptions::default() }
    }
}

/// A listening socket that never blocks. Dropping it closes the descriptor.
#[derive(Debug)]
pub struct Listener {
    inner: socket2::Socket,
    options: SocketOptions,
}

impl Listener {
    /// Listens on `address`; port 0 takes any that is free.
    ///
    /// # Errors
    ///
    /// What `socket`, `setsockopt`, `bind` or `listen` report.
    pub fn bind(address: SocketAddr, options: ListenOptions) -> io::Result<Self> {
        let inner = new_stream_socket(address)?;
        if address.is_ipv6() {
            inner.set_only_v6(options.ipv6_only)?;
        }
        // On Windows the option means something else: it lets two programs share the port.
        #[cfg(unix)]
        inner.set_reuse_address(true)?;
        inner.bind(&address.into())?;
        inner.listen(options.backlog)?;
        Ok(Self { inner, options: options.socket })
    }

    /// Accepts one connection.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::WouldBlock`] where none waits, else what `accept` reports.
    pub fn accept(&mut self) -> io::Result<Socket> {
        let (inner, peer) = self.accept_non_blocking()?;
        Ok(Socket::accepted(inner, peer.as_socket(), self.options))
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    fn accept_non_blocking(&self) -> io::Result<(socket2::Socket, socket2::SockAddr)> {
        self.inner.accept4(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    fn accept_non_blocking(&self) -> io::Result<(socket2::Socket, socket2::SockAddr)> {
        let (socket, peer) = self.inner.accept()?;
        socket.set_nonblocking(true)?;
        Ok((socket, peer))
    }

    /// The address it listens on.
    ///
    /// # Errors
    ///
    /// What `getsockname` reports.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        local_address(&self.inner)
    }

    #[cfg(unix)]
    pub(super) fn descriptor(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.inner)
    }
}
