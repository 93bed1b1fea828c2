//! One reactor in one environment: a main thread's or a worker's.
//!
//! ```text
//!  driver ──readable──▶ wake ──collect──▶ ring ──▶ dispatch(n) in JavaScript, once
//!     │                                                │ recv, send, … inline
//!     └──next turn, if anything is left──▶ dispatch(0) ◀┘
//! ```

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::io;
use std::ptr;
use std::time::Duration;

use napi::sys;

#[cfg(unix)]
use super::loop_driver::LoopDriver;
use super::runtime_driver::RuntimeDriver;
use super::{errno, raw};
use crate::net::{Id, Poller, Reactor};

/// The memory that both sides see, an `ArrayBuffer` that JavaScript made. Its place is asked for
/// at each use. Offsets and lengths are in 32-bit words up to the stage, which is bytes.
///
/// ```text
///  word 0        1              2         4 …                         byte STAGE
/// ┌─────────────┬──────────────┬─────────┬───────────────────────────┬─────────────┐
/// │ stage owner │ stage length │ entries │ ring: id, readiness, id,… │ write stage │
/// └─────────────┴──────────────┴─────────┴───────────────────────────┴─────────────┘
/// ```
pub struct Layout;

impl Layout {
    const STAGE_OWNER: usize = 0;
    const STAGE_LENGTH: usize = 1;
    /// How often `dispatch` was entered; wraps.
    const ENTRIES: usize = 2;
    /// Where the ring begins, in words.
    pub const RING: usize = 4;
    /// Where the stage begins, in bytes.
    pub const STAGE: usize = (Self::RING + Poller::RING_LEN) * size_of::<i32>();
    /// How long all of it is, in bytes.
    pub const LENGTH: usize = Self::STAGE + 64 * 1024;
}

/// What `dispatch` is told instead of a count of events: this is the turn's own round.
const ROUND: i32 = 0;
/// And this: go on where a callback threw.
const RESUME: i32 = -1;
/// And this: only what the dispatch before has completed.
const COMPLETIONS: i32 = -2;

/// What `dispatch` says: there is to be a round in the next turn.
const ROUND_NEXT_TURN: i32 = 1;
/// Or: it is to be called for the completions, as soon as nextTicks and microtasks have run.
const COMPLETIONS_NOW: i32 = 2;

/// Who wakes the environment.
enum Driver {
    #[cfg(unix)]
    Loop(LoopDriver),
    Runtime(RuntimeDriver),
}

/// Calls a method of whichever driver there is.
macro_rules! on_driver {
    ($environment:expr, $driver:ident => $call:expr) => {
        match &$environment.driver {
            #[cfg(unix)]
            Driver::Loop($driver) => $call,
            Driver::Runtime($driver) => $call,
        }
    };
}

/// The state behind the functions of [`super::sockets`].
pub struct Environment {
    env: sys::napi_env,
    /// Borrowed for the length of one call on it; JavaScript never runs meanwhile.
    pub reactor: RefCell<Reactor>,
    driver: Driver,
    wakeups: Cell<u64>,
    entries: Cell<u64>,
    /// A callback may run the event loop within itself; the dispatch it is part of goes on later.
    dispatching: Cell<bool>,
    /// It was to be woken, or to have a round, meanwhile.
    missed: Cell<bool>,
    /// [`Layout::ENTRIES`] when a dispatch failed the last time.
    entries_at_failure: Cell<Option<i32>>,
    shared: sys::napi_ref,
    dispatch: sys::napi_ref,
    receiver: sys::napi_ref,
    cleanup: Cell<sys::napi_async_cleanup_hook_handle>,
    /// Whether the cleanup hook has run, or the driver is gone: the second of them frees.
    ending: Cell<bool>,
}

impl Environment {
    /// Makes a reactor for `env`, in the event loop or, where `in_loop` is false, on the runtime.
    /// It lives until the environment ends.
    ///
    /// `shared` is a `Uint8Array` of [`Layout::LENGTH`] bytes; `dispatch` is called with `receiver`
    /// as `this`.
    ///
    /// # Errors
    ///
    /// The number of a system's error; `ENOSYS` where there is no such driver.
    pub fn open(
        env: sys::napi_env,
        shared: raw::Argument,
        dispatch: raw::Argument,
        receiver: raw::Argument,
        in_loop: bool,
    ) -> Result<*mut Self, i32> {
        // SAFETY: the slice is gone at the end of this line.
        let length = unsafe { shared.bytes() }.ok_or(errno::EINVAL)?.len();
        if length != Layout::LENGTH {
            return Err(errno::EINVAL);
        }
        let (mut reactor, poller) = Reactor::new().map_err(|error| errno::of(&error))?;

        // The driver wants to know where the environment is, and the environment owns the driver.
        let mut place = Box::<Self>::new_uninit();
        let driver = match in_loop {
            #[cfg(unix)]
            true => Driver::Loop(LoopDriver::open(env, poller, place.as_mut_ptr())?),
            #[cfg(not(unix))]
            true => return Err(errno::ENOSYS),
            false => {
                let place = place.as_mut_ptr();
                Driver::Runtime(RuntimeDriver::open(env, &mut reactor, poller, place)?)
            }
        };
        place.write(Self {
            env,
            reactor: RefCell::new(reactor),
            driver,
            wakeups: Cell::new(0),
            entries: Cell::new(0),
            dispatching: Cell::new(false),
            missed: Cell::new(false),
            entries_at_failure: Cell::new(None),
            shared: reference(env, shared.value()),
            dispatch: reference(env, dispatch.value()),
            receiver: reference(env, receiver.value()),
            cleanup: Cell::new(ptr::null_mut()),
            ending: Cell::new(false),
        });
        // SAFETY: written just now. From here on the environment is reached by this pointer alone,
        // as `&Environment`, until `free` takes it back.
        let environment = Box::into_raw(unsafe { place.assume_init() });
        let mut cleanup = ptr::null_mut();
        // SAFETY: `environment` stays valid until the hook has run and the driver is gone.
        unsafe {
            sys::napi_add_async_cleanup_hook(
                env,
                Some(on_cleanup),
                environment.cast(),
                &mut cleanup,
            );
            (*environment).cleanup.set(cleanup);
        }
        Ok(environment)
    }

    /// Asks for a round in the next turn.
    pub fn schedule(&self) {
        on_driver!(self, driver => driver.schedule());
    }

    /// For how long to ask again what is ready, instead of sleeping, where the loop does that.
    pub fn set_busy_poll(&self, time: Duration) {
        #[cfg(unix)]
        if let Some(driver) = self.loop_driver() {
            driver.set_busy_poll(time);
        }
        #[cfg(not(unix))]
        let _ = time;
    }

    /// Whether sockets keep the process alive.
    pub fn keep_alive(&self, keep: bool) {
        on_driver!(self, driver => driver.keep_alive(keep));
    }

    /// How often the set of watched sockets was asked what is ready.
    pub fn waits(&self) -> u64 {
        on_driver!(self, driver => driver.waits())
    }

    /// How often something was ready.
    pub fn wakeups(&self) -> u64 {
        self.wakeups.get()
    }

    /// How often JavaScript was entered.
    pub fn entries(&self) -> u64 {
        self.entries.get()
    }

    /// Whether JavaScript is in a dispatch.
    #[cfg(unix)]
    pub fn is_dispatching(&self) -> bool {
        self.dispatching.get()
    }

    #[cfg(unix)]
    pub fn loop_driver(&self) -> Option<&LoopDriver> {
        match &self.driver {
            Driver::Loop(driver) => Some(driver),
            Driver::Runtime(_) => None,
        }
    }

    /// Collects what is ready and enters JavaScript once for all of it.
    pub fn wake(&self) {
        if self.dispatching.get() {
            self.missed.set(true);
            return;
        }
        self.wakeups.set(self.wakeups.get() + 1);
        self.in_scope(|_| {
            let count = match self.shared() {
                Some((words, _)) => {
                    let ring = &mut words[Layout::RING..][..Poller::RING_LEN];
                    let mut reactor = self.reactor.borrow_mut();
                    let received = reactor.received();
                    let count = match &self.driver {
                        #[cfg(unix)]
                        Driver::Loop(driver) => driver.collect(ring, received),
                        Driver::Runtime(driver) => driver.collect(ring),
                    };
                    count + reactor.take_ended(&mut ring[2 * count..])
                }
                None => 0,
            };
            if count > 0 {
                self.dispatch(count as i32);
            }
        });
    }

    /// The turn's own round: completions, and sockets that are still ready.
    pub fn round(&self) {
        if self.dispatching.get() {
            self.missed.set(true);
            return;
        }
        self.in_scope(|_| self.dispatch(ROUND));
    }

    /// Calls `dispatch`, again after each exception and for completions, until it says that it is
    /// through. An exception
    /// is reported as an uncaught one where it happens, with nothing of ours on the stack.
    fn dispatch(&self, mut events: i32) {
        self.dispatching.set(true);
        loop {
            self.entries.set(self.entries.get() + 1);
            let mut result = ptr::null_mut();
            // SAFETY: the references are live until `on_cleanup`, which runs after the last
            // JavaScript of the environment; a handle scope is open.
            let status = unsafe {
                let argument = raw::number(self.env, events);
                sys::napi_make_callback(
                    self.env,
                    ptr::null_mut(),
                    dereference(self.env, self.receiver),
                    dereference(self.env, self.dispatch),
                    1,
                    &argument,
                    &mut result,
                )
            };
            if status == sys::Status::napi_ok {
                let mut wish = 0;
                // SAFETY: `result` was set by a call that succeeded.
                unsafe { sys::napi_get_value_int32(self.env, result, &mut wish) };
                match wish {
                    COMPLETIONS_NOW => {
                        events = COMPLETIONS;
                        continue;
                    }
                    ROUND_NEXT_TURN => self.schedule(),
                    _ => {}
                }
                break;
            }
            let entries = self.shared().map(|(words, _)| words[Layout::ENTRIES]);
            if entries == self.entries_at_failure.replace(entries) {
                // JavaScript is not entered any more. Deno says that with an exception too.
                self.take_exception();
                break;
            }
            if !self.report_exception() {
                // The environment is being stopped, or something behind the dispatch failed. Had it
                // more to do, there is to be a round, if there is to be anything.
                self.schedule();
                break;
            }
            events = RESUME;
        }
        self.dispatching.set(false);
        if self.missed.take() {
            on_driver!(self, driver => driver.call_again());
        }
    }

    /// Hands a pending exception to `uncaughtException`. Whether there was one and Node survived.
    fn report_exception(&self) -> bool {
        // SAFETY: `env` is live.
        self.take_exception().is_some_and(|exception| unsafe {
            sys::napi_fatal_exception(self.env, exception) == sys::Status::napi_ok
        })
    }

    /// The exception that is pending, which no longer is.
    fn take_exception(&self) -> Option<sys::napi_value> {
        let mut pending = false;
        let mut exception = ptr::null_mut();
        // SAFETY: `env` is live and each result outlives its call.
        let status = unsafe {
            sys::napi_is_exception_pending(self.env, &mut pending);
            if !pending {
                return None;
            }
            sys::napi_get_and_clear_last_exception(self.env, &mut exception)
        };
        (status == sys::Status::napi_ok).then_some(exception)
    }

    /// The memory that both sides see, as words and as the bytes of the stage.
    ///
    /// The slices must be gone before JavaScript runs again; a handle scope must be open.
    #[allow(clippy::mut_from_ref)] // The memory is JavaScript's, not `self`'s.
    fn shared(&self) -> Option<(&mut [i32], &[u8])> {
        let mut data = ptr::null_mut();
        let mut length = 0;
        // SAFETY: `shared` was seen to be a view when it was handed over.
        unsafe {
            let view = dereference(self.env, self.shared);
            if view.is_null() {
                return None;
            }
            sys::napi_get_buffer_info(self.env, view, &mut data, &mut length);
        }
        if data.is_null() || length != Layout::LENGTH {
            return None;
        }
        // SAFETY: the memory is `LENGTH` bytes long, begins on a page or at least on a word (it is
        // the start of an `ArrayBuffer`), and the two slices share no byte.
        unsafe {
            let words = std::slice::from_raw_parts_mut(data.cast(), Layout::STAGE / 4);
            let stage = data.cast::<u8>().add(Layout::STAGE);
            Some((words, std::slice::from_raw_parts(stage, Layout::LENGTH - Layout::STAGE)))
        }
    }

    /// Sends what is staged and says how much the kernel took. The stage is empty before the bytes
    /// leave, so that they do not leave twice, wherever JavaScript is stopped.
    ///
    /// A handle scope must be open.
    ///
    /// # Errors
    ///
    /// Those of [`Reactor::send`].
    pub fn send_stage(&self) -> io::Result<usize> {
        let Some((words, stage)) = self.shared() else { return Ok(0) };
        let owner = Id::from_bits(words[Layout::STAGE_OWNER]);
        let length = usize::try_from(std::mem::take(&mut words[Layout::STAGE_LENGTH])).unwrap_or(0);
        match stage.get(..length) {
            Some(bytes) if !bytes.is_empty() => self.reactor.borrow_mut().send(owner, bytes),
            _ => Ok(0),
        }
    }

    /// The driver is gone: nothing will wake the environment any more.
    ///
    /// # Safety
    ///
    /// `place` is what the driver was opened with; it is not used afterwards.
    pub unsafe fn driver_gone(place: *mut Self) {
        // SAFETY: the caller's promise. Without the cleanup hook nobody has freed it.
        unsafe {
            if (*place).ending.replace(true) {
                Self::free(place);
            }
        }
    }

    /// # Safety
    ///
    /// The cleanup hook has run, the driver is gone, and `place` is not used afterwards.
    unsafe fn free(place: *mut Self) {
        // SAFETY: the caller's promise; the hook is the one that `open` added, removed once.
        unsafe {
            let cleanup = (*place).cleanup.get();
            drop(Box::from_raw(place));
            sys::napi_remove_async_cleanup_hook(cleanup);
        }
    }

    fn in_scope(&self, body: impl FnOnce(sys::napi_handle_scope)) {
        let mut scope = ptr::null_mut();
        // SAFETY: `env` is live as long as `self`, and scopes are closed in the order they opened.
        unsafe {
            sys::napi_open_handle_scope(self.env, &mut scope);
            body(scope);
            sys::napi_close_handle_scope(self.env, scope);
        }
    }
}

fn reference(env: sys::napi_env, value: sys::napi_value) -> sys::napi_ref {
    let mut result = ptr::null_mut();
    // SAFETY: `env` and `value` belong to the call under way.
    unsafe { sys::napi_create_reference(env, value, 1, &mut result) };
    result
}

/// The value of a reference, null where it has none.
///
/// # Safety
///
/// `env` is live, `reference` is one of its, and a handle scope is open.
unsafe fn dereference(env: sys::napi_env, reference: sys::napi_ref) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: the caller's promise.
    unsafe { sys::napi_get_reference_value(env, reference, &mut value) };
    value
}

/// The environment ends: no JavaScript runs any more. The driver closes in a later turn of the event
/// loop, which Node runs until the hook is removed.
unsafe extern "C" fn on_cleanup(
    _hook: sys::napi_async_cleanup_hook_handle,
    environment: *mut c_void,
) {
    let place = environment.cast::<Environment>();
    // SAFETY: the pointer that `open` registered, freed only after this hook.
    let environment = unsafe { &*place };
    environment.in_scope(|scope| {
        // Deno gives no scopes, and may have no engine any more when it comes here.
        if scope.is_null() {
            return;
        }
        // Nobody is left to hear of an error.
        drop(environment.send_stage());
        for reference in [environment.shared, environment.dispatch, environment.receiver] {
            // SAFETY: made by `open`, deleted once.
            unsafe { sys::napi_delete_reference(environment.env, reference) };
        }
    });
    environment.reactor.borrow_mut().close_all();
    if environment.ending.replace(true) {
        // SAFETY: the driver is gone, so nobody else has the pointer.
        unsafe { Environment::free(place) };
    } else {
        on_driver!(environment, driver => driver.close());
    }
}
