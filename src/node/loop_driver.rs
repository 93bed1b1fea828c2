//! Wake-ups by Node's event loop: the poller's descriptor stands in it as one `uv_poll`, and a round
//! in the next turn is one `uv_idle`.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::Duration;

use napi::sys;

use super::environment::Environment;
use super::errno;
use super::uv::{Handle, RawHandle, Uv};
use crate::net::{Busy, Poller};

pub struct LoopDriver {
    /// Borrowed for the length of one question to the kernel.
    poller: RefCell<Poller>,
    poll: Handle,
    idle: Handle,
    open_handles: Cell<u32>,
    /// What the idle handle is started for.
    round_wanted: Cell<bool>,
    busy: Busy,
}

impl LoopDriver {
    /// Puts `poller` into the event loop of `env`. `environment` is where the environment will be
    /// as soon as the loop turns.
    ///
    /// # Errors
    ///
    /// libuv's error, or `ENOSYS` where the process has no libuv.
    pub fn open(
        env: sys::napi_env,
        poller: Poller,
        environment: *mut Environment,
    ) -> Result<Self, i32> {
        let uv = Uv::get().ok_or(errno::ENOSYS)?;
        let mut event_loop = ptr::null_mut();
        // SAFETY: `env` is live; `event_loop` outlives the call.
        let status = unsafe { sys::napi_get_uv_event_loop(env, &mut event_loop) };
        if status != sys::Status::napi_ok || event_loop.is_null() {
            return Err(errno::ENOSYS);
        }
        let data: *mut c_void = environment.cast();
        // SAFETY: the loop is that of `env`, hence of this thread; the descriptor is the poller's,
        // which is dropped after the handle is closed.
        let poll = unsafe { Handle::poll(uv, event_loop, poller.as_raw_fd(), data) }?;
        // SAFETY: as above.
        let idle = match unsafe { Handle::idle(uv, event_loop, data) } {
            Ok(idle) => idle,
            Err(code) => {
                close_and_leak(poll);
                return Err(code);
            }
        };
        if let Err(code) = poll.start_poll(on_readable) {
            close_and_leak(poll);
            close_and_leak(idle);
            return Err(code);
        }
        // Each lives as long as there is something to wait for; JavaScript says when.
        poll.keep_alive(false);
        idle.keep_alive(false);
        Ok(Self {
            poller: RefCell::new(poller),
            poll,
            idle,
            open_handles: Cell::new(2),
            round_wanted: Cell::new(false),
            busy: Busy::default(),
        })
    }

    /// Writes what became ready into `ring`. Returns how many. While the loop is busy it asks until
    /// there is something, for a bounded time. `received` is how many bytes have been received so far.
    pub fn collect(&self, ring: &mut [i32], received: u64) -> usize {
        let mut poller = self.poller.borrow_mut();
        let mut collect = || poller.collect(ring).unwrap_or(0);
        if self.busy.is_on() { self.busy.until_some(received, collect) } else { collect() }
    }

    /// For how long to ask again and again, instead of sleeping, after something was ready; zero is
    /// not at all.
    pub fn set_busy_poll(&self, time: Duration) {
        self.busy.set_time(time);
    }

    /// How often the kernel was asked.
    pub fn waits(&self) -> u64 {
        self.poller.borrow().waits()
    }

    /// Asks for a round in the next turn.
    pub fn schedule(&self) {
        self.round_wanted.set(true);
        self.idle.start_idle(on_idle);
    }

    /// It was called while it could not be served: it will be called again by itself, since the
    /// descriptor is still readable and the idle handle still started.
    pub fn call_again(&self) {}

    /// Whether sockets keep the process alive.
    pub fn keep_alive(&self, keep: bool) {
        self.poll.keep_alive(keep);
    }

    /// The environment ends. It is told when the last handle has closed, in a later turn.
    pub fn close(&self) {
        self.poll.close(on_closed);
        self.idle.close(on_closed);
    }
}

/// Closes a handle whose environment was never made. Its memory stays, as libuv still uses it.
fn close_and_leak(handle: Handle) {
    unsafe extern "C" fn nothing(_handle: *mut RawHandle) {}
    Box::leak(Box::new(handle)).close(nothing);
}

/// The environment that a handle belongs to, and the driver.
///
/// # Safety
///
/// `handle` is one of an environment's, and its close callback has not returned.
unsafe fn owner<'a>(handle: *mut RawHandle) -> Option<&'a Environment> {
    // SAFETY: the caller's promise; the data is the pointer that `open` was given.
    unsafe { Uv::get()?.data(handle).cast::<Environment>().as_ref() }
}

unsafe extern "C" fn on_readable(handle: *mut RawHandle, _status: c_int, _events: c_int) {
    // SAFETY: libuv calls with the handle of a live environment. The status is an error only where
    // the descriptor was closed under it, which `collect` will say too.
    let Some(environment) = (unsafe { owner(handle) }) else { return };
    environment.wake();
    if let Some(driver) = environment.loop_driver()
        && driver.busy.begin()
    {
        driver.idle.start_idle(on_idle);
    }
}

unsafe extern "C" fn on_idle(handle: *mut RawHandle) {
    // SAFETY: as in `on_readable`.
    let Some(environment) = (unsafe { owner(handle) }) else { return };
    if environment.is_dispatching() {
        return; // The round of a loop that a callback runs within itself: it comes afterwards.
    }
    let Some(driver) = environment.loop_driver() else { return };
    if driver.round_wanted.take() {
        environment.round();
    }
    if driver.busy.is_on() {
        environment.wake();
    }
    if !driver.busy.is_on() && !driver.round_wanted.get() {
        driver.idle.stop_idle();
    }
}

unsafe extern "C" fn on_closed(handle: *mut RawHandle) {
    // SAFETY: the environment is freed below, in the callback of its last handle.
    let Some(environment) = (unsafe { owner(handle) }) else { return };
    let Some(driver) = environment.loop_driver() else { return };
    driver.open_handles.set(driver.open_handles.get() - 1);
    if driver.open_handles.get() == 0 {
        // SAFETY: the pointer that `open` was given; no handle is open that could use it.
        unsafe { Environment::driver_gone(ptr::from_ref(environment).cast_mut()) };
    }
}
