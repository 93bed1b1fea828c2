//! TCP without JavaScript: non-blocking sockets and the reactor that watches them.
//!
//! - [`Id`]: names a socket of one reactor, never the same twice in a row.
//! - [`Socket`], [`Listener`]: the system calls, each made once and reported as it went.
//! - [`Reactor`]: owns the sockets, waits on none, and collects [`Readiness`] into a ring of
//!   integers that JavaScript can walk.
//! - [`Counters`]: how often each system call was made, so that tests can count instead of time.
//!
//! Nothing here retries, queues or calls back; that is the work of the caller, who alone knows
//! whose turn it is.

mod address;
mod counters;
mod id;
mod listener;
#[cfg(unix)]
mod reactor;
mod readiness;
mod socket;

pub use address::parse_address;
pub use counters::Counters;
pub use id::Id;
pub use listener::{ListenOptions, Listener};
#[cfg(unix)]
pub use reactor::Reactor;
pub use readiness::Readiness;
pub use socket::{Socket, SocketOptions};
