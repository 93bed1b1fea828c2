//! The binding: everything here converts, calls and reports a number, and decides nothing.
//!
//! - `raw`: Node-API functions without the cost of conversions, for calls made per message.
//! - `uv`: the few libuv functions that put a descriptor into Node's event loop.
//! - `environment`: one reactor in one environment (the main thread or a worker), its wake-ups and
//!   its end.
//! - `sockets`: the functions that JavaScript calls on a reactor.
//!
//! Errors leave as negative numbers, `-errno` where the system has one; `lib/errors.js` alone makes
//! error objects of them.

#[cfg(unix)]
mod environment;
#[cfg(unix)]
mod raw;
#[cfg(unix)]
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
    #[cfg(unix)]
    sockets::export(env.raw(), napi::JsValue::raw(&exports));
    #[cfg(not(unix))]
    let _ = (exports, env);
    Ok(())
}
