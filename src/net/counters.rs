//! Counts of what a reactor did.

/// How often a [`Reactor`](super::Reactor) did each thing that costs time.
///
/// Counts only grow. Tests take the difference over a stretch of work and compare it with what the
/// design promises; nothing is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls of `accept`, those that found no connection among them.
    pub accept: u64,
    /// Calls of `recv`, those that found no data among them.
    pub recv: u64,
    /// Calls of `send` and `sendmsg`, those that the kernel refused among them.
    pub send: u64,
    /// Changes to the set of watched sockets: `epoll_ctl`, or the change list of `kevent`.
    pub epoll_ctl: u64,
}
