//! The binding: everything here converts, calls and reports a number, and decides nothing.
//!
//! - `raw`: Node-API functions without the cost of conversions, for calls made per message.
//! - `errno`: errors as numbers.
//! - `environment`: one reactor in one environment (the main thread or a worker), its wake-ups and
//!   its end.
//! - `loop_driver`: wake-ups by Node's event loop; `uv`: the few libuv functions it takes.
//! - `runtime_driver`: wake-ups by a thread of the runtime, where the loop can't.
//! - `sockets`: the functions that JavaScript calls on a reactor.
//!
//! Errors leave as negative numbers, `-errno` where the system has one; `lib/errors.js` alone makes
//! error objects of them.

mod environment;
mod errno;
#[cfg(unix)]
mod loop_driver;
mod raw;
mod runtime_driver;
mod sockets;
#[cfg(unix)]
mod uv;

use napi::bindgen_prelude::{Env, Object, Result};
use napi_derive::napi;

/// The version of the native half; the JavaScript half refuses another than its own.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[napi(module_exports)]
pub fn exports(exports: Object, env: Env) -> Result<()> {
    sockets::export(env.raw(), napi::JsValue::raw(&exports));
    Ok(())
}
