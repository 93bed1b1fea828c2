//! One reactor in one environment: a main thread's or a worker's.
//!
//! ```text
//!  Node's loop ──readable──▶ wake ──collect──▶ ring ──▶ dispatch(n) in JavaScript, once
//!       │                                                   │ recv, send, … inline
//!       └──next turn, if anything is left──▶ dispatch(0) ◀──┘
//! ```

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use napi::sys;

use super::raw;
use super::uv::{Handle, RawHandle, Uv};
use crate::net::{Id, Reactor};

/// The memory that both sides see, an `ArrayBuffer` that JavaScript made. Its place is asked for
/// at each use. Offsets and lengths are in 32-bit words up to the stage, which is bytes.
///
/// ```text
///  word 0        1             2 …                             byte STAGE
/// ┌─────────────┬─────────────┬───────────────────────────────┬───────────────┐
/// │ stage owner │ stage length│ ring: id, readiness, id, …    │ write stage   │
/// └─────────────┴─────────────┴───────────────────────────────┴───────────────┘
/// ```
pub struct Layout;

impl Layout {
    const STAGE_OWNER: usize = 0;
    const STAGE_LENGTH: usize = 1;
    /// Where the ring begins, in words.
    pub const RING: usize = 2;
    /// Where the stage begins, in bytes.
    pub const STAGE: usize = (Self::RING + Reactor::RING_LEN) * size_of::<i32>();
    /// How long all of it is, in bytes.
    pub const LENGTH: usize = Self::STAGE + 64 * 1024;
}

/// What `dispatch` is told instead of a count of events: this is the turn's own round.
const ROUND: i32 = 0;
/// And this: go on where a callback threw.
const RESUME: i32 = -1;

/// The state behind the functions of [`super::sockets`].
pub struct Environment {
    env: sys::napi_env,
    /// Borrowed for the length of one call on it; JavaScript never runs meanwhile.
    pub reactor: RefCell<Reactor>,
    wakeups: Cell<u64>,
    entries: Cell<u64>,
    /// A callback may run the event loop within itself; the dispatch it is part of goes on later.
    dispatching: Cell<bool>,
    shared: sys::napi_ref,
    dispatch: sys::napi_ref,
    receiver: sys::napi_ref,
    poll: Handle,
    idle: Handle,
    open_handles: Cell<u32>,
    cleanup: Cell<sys::napi_async_cleanup_hook_handle>,
}

impl Environment {
    /// Puts a reactor into the event loop of `env`. It lives until the environment ends.
    ///
    /// `shared` is a `Uint8Array` of [`Layout::LENGTH`] bytes; `dispatch` is called with `receiver`
    /// as `this`.
    ///
    /// # Errors
    ///
    /// `-errno`, or `-ENOSYS` where the process has no libuv.
    pub fn open(
        env: sys::napi_env,
        shared: raw::Argument,
        dispatch: raw::Argument,
        receiver: raw::Argument,
    ) -> Result<*mut Self, i32> {
        // SAFETY: the slice is gone at the end of this line.
        let length = unsafe { shared.bytes() }.ok_or(-libc::EINVAL)?.len();
        if length != Layout::LENGTH {
            return Err(-libc::EINVAL);
        }
        let uv = Uv::get().ok_or(-libc::ENOSYS)?;
        let mut event_loop = ptr::null_mut();
        // SAFETY: `env` is live; `event_loop` outlives the call.
        let status = unsafe { sys::napi_get_uv_event_loop(env, &mut event_loop) };
        if status != sys::Status::napi_ok || event_loop.is_null() {
            return Err(-libc::ENOSYS);
        }
        let reactor = Reactor::new().map_err(|error| raw::error_code(&error))?;

        // The handles want to know where the environment is, and the environment owns the handles.
        let mut place = Box::<Self>::new_uninit();
        let data: *mut c_void = place.as_mut_ptr().cast();
        // SAFETY: the loop is that of `env`, hence of this thread; the descriptor is the reactor's,
        // which is dropped after the handle is closed.
        let poll = unsafe { Handle::poll(uv, event_loop, reactor.as_raw_fd(), data) }?;
        // SAFETY: as above.
        let idle = match unsafe { Handle::idle(uv, event_loop, data) } {
            Ok(idle) => idle,
            Err(code) => {
                close_and_leak(poll);
                return Err(code);
            }
        };
        place.write(Self {
            env,
            reactor: RefCell::new(reactor),
            wakeups: Cell::new(0),
            entries: Cell::new(0),
            dispatching: Cell::new(false),
            shared: reference(env, shared.value()),
            dispatch: reference(env, dispatch.value()),
            receiver: reference(env, receiver.value()),
            poll,
            idle,
            open_handles: Cell::new(2),
            cleanup: Cell::new(ptr::null_mut()),
        });
        // SAFETY: written just now. From here on the environment is reached by this pointer alone,
        // as `&Environment`, until `on_closed` takes it back.
        let environment = Box::into_raw(unsafe { place.assume_init() });
        // SAFETY: as above.
        let this = unsafe { &*environment };
        let mut cleanup = ptr::null_mut();
        // SAFETY: `environment` stays valid until the hook has run and the handles have closed.
        unsafe {
            sys::napi_add_async_cleanup_hook(
                env,
                Some(on_cleanup),
                environment.cast(),
                &mut cleanup,
            );
        }
        this.cleanup.set(cleanup);
        this.poll.start_poll(on_readable)?;
        // Each lives as long as there is something to wait for; JavaScript says when.
        this.poll.keep_alive(false);
        this.idle.keep_alive(false);
        Ok(environment)
    }

    /// Asks for a round in the next turn.
    pub fn schedule(&self) {
        self.idle.start_idle(on_idle);
    }

    /// Whether sockets keep the process alive.
    pub fn keep_alive(&self, keep: bool) {
        self.poll.keep_alive(keep);
    }

    /// How often the event loop found the reactor ready.
    pub fn wakeups(&self) -> u64 {
        self.wakeups.get()
    }

    /// How often JavaScript was entered.
    pub fn entries(&self) -> u64 {
        self.entries.get()
    }

    /// Collects what is ready and enters JavaScript once for all of it.
    fn wake(&self) {
        if self.dispatching.get() {
            return;
        }
        self.wakeups.set(self.wakeups.get() + 1);
        self.in_scope(|| {
            let count = match self.shared() {
                Some((words, _)) => {
                    let ring = &mut words[Layout::RING..][..Reactor::RING_LEN];
                    self.reactor.borrow_mut().collect(ring).unwrap_or(0)
                }
                None => 0,
            };
            if count > 0 {
                self.dispatch(count as i32);
            }
        });
    }

    /// The turn's own round: completions, and sockets that are still ready.
    fn round(&self) {
        if self.dispatching.get() {
            return;
        }
        self.idle.stop_idle();
        self.in_scope(|| self.dispatch(ROUND));
    }

    /// Calls `dispatch`, again after each exception, until it says that it is through. An exception
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
                let mut more = false;
                // SAFETY: `result` was set by a call that succeeded.
                unsafe { sys::napi_get_value_bool(self.env, result, &mut more) };
                if more {
                    self.schedule();
                }
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
    }

    /// Hands a pending exception to `uncaughtException`. Whether there was one and Node survived.
    fn report_exception(&self) -> bool {
        let mut pending = false;
        let mut exception = ptr::null_mut();
        // SAFETY: `env` is live and each result outlives its call.
        unsafe {
            sys::napi_is_exception_pending(self.env, &mut pending);
            pending
                && sys::napi_get_and_clear_last_exception(self.env, &mut exception)
                    == sys::Status::napi_ok
                && sys::napi_fatal_exception(self.env, exception) == sys::Status::napi_ok
        }
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

    fn in_scope(&self, body: impl FnOnce()) {
        let mut scope = ptr::null_mut();
        // SAFETY: `env` is live as long as `self`, and scopes are closed in the order they opened.
        unsafe {
            sys::napi_open_handle_scope(self.env, &mut scope);
            body();
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

/// Closes a handle whose environment was never made. Its memory stays, as libuv still uses it.
fn close_and_leak(handle: Handle) {
    unsafe extern "C" fn nothing(_handle: *mut RawHandle) {}
    Box::leak(Box::new(handle)).close(nothing);
}

/// The environment that a handle belongs to.
///
/// # Safety
///
/// `handle` is one of an environment's, and its close callback has not returned.
unsafe fn owner<'a>(handle: *mut RawHandle) -> Option<&'a Environment> {
    // SAFETY: the caller's promise; the data is the pointer that `open` set.
    unsafe { Uv::get()?.data(handle).cast::<Environment>().as_ref() }
}

unsafe extern "C" fn on_readable(handle: *mut RawHandle, _status: c_int, _events: c_int) {
    // SAFETY: libuv calls with the handle of a live environment. The status is an error only where
    // the descriptor was closed under it, which `collect` will say too.
    if let Some(environment) = unsafe { owner(handle) } {
        environment.wake();
    }
}

unsafe extern "C" fn on_idle(handle: *mut RawHandle) {
    // SAFETY: as in `on_readable`.
    if let Some(environment) = unsafe { owner(handle) } {
        environment.round();
    }
}

/// The environment ends: no JavaScript runs any more. Handles close in a later turn of its loop,
/// which Node runs until the hook is removed.
unsafe extern "C" fn on_cleanup(
    _hook: sys::napi_async_cleanup_hook_handle,
    environment: *mut c_void,
) {
    // SAFETY: the pointer that `open` registered; freed by `on_closed` alone.
    let environment = unsafe { &*environment.cast::<Environment>() };
    // Nobody is left to hear of an error.
    environment.in_scope(|| drop(environment.send_stage()));
    for reference in [environment.shared, environment.dispatch, environment.receiver] {
        // SAFETY: made by `open`, deleted once.
        unsafe { sys::napi_delete_reference(environment.env, reference) };
    }
    environment.poll.close(on_closed);
    environment.idle.close(on_closed);
}

unsafe extern "C" fn on_closed(handle: *mut RawHandle) {
    // SAFETY: the environment is freed below, in the callback of its last handle.
    let Some(environment) = (unsafe { owner(handle) }) else { return };
    let open = environment.open_handles.get() - 1;
    environment.open_handles.set(open);
    if open == 0 {
        let cleanup = environment.cleanup.get();
        // SAFETY: no handle is open and no JavaScript runs, so nobody else has the pointer.
        drop(unsafe { Box::from_raw(ptr::from_ref(environment).cast_mut()) });
        // SAFETY: the hook that `open` added, removed once.
        unsafe { sys::napi_remove_async_cleanup_hook(cleanup) };
    }
}
