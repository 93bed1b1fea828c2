//! TCP without JavaScript: non-blocking sockets and what watches them.
//!
//! - [`Id`]: names a socket of one reactor, never the same twice in a row.
//! - [`Socket`], [`Listener`]: the system calls, each made once and reported as it went.
//! - [`Reactor`]: owns the sockets of one environment.
//! - [`Poller`]: says which of them have become ready, as [`Readiness`], in a ring of integers that
//!   JavaScript can walk. It stands in an event loop or, as a [`Watcher`], on another thread.
//! - [`Busy`]: when to ask the poller again instead of sleeping.
//! - [`Pipe`]: moves bytes between two connections, without their owner.
//! - [`Counters`]: how often each system call was made, so that tests can count instead of time.
//!
//! Nothing here retries, queues or calls back; that is the work of the caller, who alone knows
//! whose turn it is.

mod address;
mod busy;
mod counters;
mod id;
mod listener;
mod pipe;
mod poller;
mod reactor;
mod readiness;
mod socket;
#[cfg(target_os = "linux")]
mod splice;
mod watcher;

pub use address::parse_address;
pub use busy::Busy;
pub use counters::Counters;
pub use id::Id;
pub use listener::{ListenOptions, Listener};
pub use pipe::{Call, Failure, Pipe, Way};
pub use poller::Poller;
pub use reactor::Reactor;
pub use readiness::Readiness;
pub use socket::{ConnectError, Socket, SocketOptions};
pub use watcher::Watcher;
