//! oxwire: TCP sockets and wire formats for Node.js.
//!
//! The crate is two things at once: a plain Rust library, which tests and benchmarks link, and the
//! addon that Node.js loads.
//!
//! | module | job |
//! |---|---|
//! | [`net`] | sockets, listeners, the reactor that owns them, what says which of them are ready |
//! | [`runtime`] | the threads of the process beside those of JavaScript |
//! | `node` | the only module that speaks Node-API: converts, calls, reports a number |
//!
//! Everything but `node` is pure Rust and knows nothing of JavaScript. The JavaScript half lives in
//! `lib/` and mirrors this tree; it owns queues, callbacks and events. `docs/design.md` tells why.

#![warn(missing_docs)]

pub mod net;
// Unit tests run without a JavaScript engine; the binding is tested through JavaScript.
#[cfg(not(test))]
mod node;
pub mod runtime;
