//! Why a run has no result, in words.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::connection;

/// Why a run has no result.
#[derive(Debug)]
pub enum Failure {
    /// The system allows fewer open files than this many, and this is how many it allows.
    #[cfg(target_os = "linux")]
    Descriptors(u64, u64),
    /// The server's process cannot be observed.
    Server(u32, io::Error),
    /// A connection could not be opened.
    Connect(SocketAddr, io::Error),
    /// A connection broke or carried wrong bytes.
    Connection(connection::Failure),
    /// Waiting for events failed.
    Poll(io::Error),
    /// No message was completed in the measurement.
    Silence(Duration),
    /// Bytes did not come back after the last was sent.
    Missing(u64),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descriptors(needed, allowed) => write!(
                f,
                "{needed} open files are needed, and the system allows {allowed}: raise the hard limit \
                 (ulimit -Hn), or open fewer connections"
            ),
            Self::Server(pid, error) => write!(
                f,
                "cannot read CPU time and memory of server process {pid} from /proc: {error}"
            ),
            Self::Connect(address, error) => write!(f, "cannot connect to {address}: {error}"),
            Self::Connection(failure) => failure.fmt(f),
            Self::Poll(error) => write!(f, "waiting for sockets failed: {error}"),
            Self::Silence(time) => write!(f, "the server returned no message within {time:.1?}"),
            Self::Missing(bytes) => write!(f, "{bytes} bytes sent to the server never came back"),
        }
    }
}
