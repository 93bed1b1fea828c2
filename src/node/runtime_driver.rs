//! Wake-ups by a thread of the runtime, where the event loop can't wait for a descriptor: on Windows,
//! and in runtimes that have Node-API and no libuv. The thread calls back through one thread-safe
//! function, once for all that became ready until it was taken.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};

use napi::sys;

use super::environment::Environment;
use super::errno;
use crate::net::{Poller, Reactor, Watcher};

/// What a call of the function is for, as the pointer that goes with it.
const WAKE: *mut c_void = ptr::null_mut();
const ROUND: *mut c_void = ptr::without_provenance_mut(1);

pub struct RuntimeDriver {
    env: sys::napi_env,
    watcher: Watcher,
    function: sys::napi_threadsafe_function,
}

/// A thread-safe function in the hands of the thread.
#[derive(Clone, Copy)]
struct Function(sys::napi_threadsafe_function);

// SAFETY: that is what thread-safe functions are for. The thread calls it only until the watcher is
// stopped, and the function is released after that.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    fn call(self, what: *mut c_void) {
        let mode = sys::ThreadsafeFunctionCallMode::nonblocking;
        // SAFETY: not released yet, see above; the queue has no limit, so the call does not block.
        unsafe { sys::napi_call_threadsafe_function(self.0, what, mode) };
    }
}

impl RuntimeDriver {
    /// Starts to wait for the sockets of `reactor`. `environment` is where the environment will be
    /// as soon as the event loop turns.
    ///
    /// # Errors
    ///
    /// The number of a system's error.
    pub fn open(
        env: sys::napi_env,
        reactor: &mut Reactor,
        poller: Poller,
        environment: *mut Environment,
    ) -> Result<Self, i32> {
        // It begins before there is a function, so that what fails leaves no function behind. Without
        // sockets there is nothing to call it for yet.
        let slot = Arc::new(OnceLock::<Function>::new());
        let theirs = Arc::clone(&slot);
        let watcher = Watcher::start(reactor, poller, move || {
            if let Some(function) = theirs.get() {
                function.call(WAKE);
            }
        });
        let watcher = watcher.map_err(|error| errno::of(&error))?;
        let mut function = ptr::null_mut();
        let name = super::raw::string(env, "OXWIRE");
        // SAFETY: `env` is live; the callbacks are made for that context, and `function` outlives the
        // call. It has one owner, this thread.
        let status = unsafe {
            sys::napi_create_threadsafe_function(
                env,
                ptr::null_mut(),
                ptr::null_mut(),
                name,
                0,
                1,
                ptr::null_mut(),
                Some(on_released),
                environment.cast(),
                Some(on_call),
                &mut function,
            )
        };
        if status != sys::Status::napi_ok {
            return Err(errno::ENOSYS);
        }
        slot.get_or_init(|| Function(function));
        let driver = Self { env, watcher, function };
        driver.keep_alive(false);
        Ok(driver)
    }

    /// Writes what became ready into `ring`. Returns how many.
    pub fn collect(&self, ring: &mut [i32]) -> usize {
        self.watcher.take(ring)
    }

    /// How often the kernel was asked.
    pub fn waits(&self) -> u64 {
        self.watcher.waits()
    }

    /// Asks for a round as soon as the event loop turns.
    pub fn schedule(&self) {
        Function(self.function).call(ROUND);
    }

    /// It was called while it could not be served.
    pub fn call_again(&self) {
        Function(self.function).call(WAKE);
        Function(self.function).call(ROUND);
    }

    /// Whether sockets keep the process alive.
    pub fn keep_alive(&self, keep: bool) {
        // SAFETY: on the thread of `env`; the function is not released yet.
        unsafe {
            if keep {
                sys::napi_ref_threadsafe_function(self.env, self.function);
            } else {
                sys::napi_unref_threadsafe_function(self.env, self.function);
            }
        }
    }

    /// The environment ends. It is told when the function is gone, in a later turn.
    pub fn close(&self) {
        self.watcher.stop();
        let mode = sys::ThreadsafeFunctionReleaseMode::abort;
        // SAFETY: released once, by the one owner; the thread calls it no more.
        unsafe { sys::napi_release_threadsafe_function(self.function, mode) };
    }
}

unsafe extern "C" fn on_call(
    env: sys::napi_env,
    _callback: sys::napi_value,
    context: *mut c_void,
    what: *mut c_void,
) {
    if env.is_null() {
        return; // The environment ends, and so do calls that were queued.
    }
    // SAFETY: the environment is there until `on_released`, after which nothing is called.
    let environment = unsafe { &*context.cast::<Environment>() };
    if what == ROUND {
        environment.round();
    } else {
        environment.wake();
    }
}

unsafe extern "C" fn on_released(_env: sys::napi_env, _data: *mut c_void, context: *mut c_void) {
    // SAFETY: the pointer that `open` was given; the function is gone that could use it.
    unsafe { Environment::driver_gone(context.cast()) };
}
