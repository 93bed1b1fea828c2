//! The part of libuv that puts a descriptor into Node's event loop.
//!
//! Node gives no promise that libuv keeps its binary interface, so the functions are looked up in
//! the running process, and where one is missing there is no driver in the loop. Declarations after
//! the libuv 1.x documentation: `uv_handle_t`, `uv_poll_t`, `uv_idle_t`.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::sync::OnceLock;

use libloading::os::unix::Library;
use napi::sys;

/// Any of libuv's handles.
#[repr(C)]
pub struct RawHandle {
    _private: [u8; 0],
}

/// Called with the handle, a status and the events that happened.
pub type PollCallback = unsafe extern "C" fn(*mut RawHandle, c_int, c_int);
/// Called with the handle.
pub type HandleCallback = unsafe extern "C" fn(*mut RawHandle);

type Loop = *mut sys::uv_loop_s;

const UV_IDLE: c_int = 6;
const UV_POLL: c_int = 8;
const UV_READABLE: c_int = 1;

/// The functions, as they were found.
pub struct Uv {
    handle_size: unsafe extern "C" fn(c_int) -> usize,
    handle_get_data: unsafe extern "C" fn(*const RawHandle) -> *mut c_void,
    handle_set_data: unsafe extern "C" fn(*mut RawHandle, *mut c_void),
    poll_init: unsafe extern "C" fn(Loop, *mut RawHandle, c_int) -> c_int,
    poll_start: unsafe extern "C" fn(*mut RawHandle, c_int, PollCallback) -> c_int,
    idle_init: unsafe extern "C" fn(Loop, *mut RawHandle) -> c_int,
    idle_start: unsafe extern "C" fn(*mut RawHandle, HandleCallback) -> c_int,
    idle_stop: unsafe extern "C" fn(*mut RawHandle) -> c_int,
    reference: unsafe extern "C" fn(*mut RawHandle),
    unreference: unsafe extern "C" fn(*mut RawHandle),
    close: unsafe extern "C" fn(*mut RawHandle, Option<HandleCallback>),
}

impl Uv {
    /// The functions of the libuv that this process runs on, or `None` where it has none.
    pub fn get() -> Option<&'static Self> {
        static UV: OnceLock<Option<Uv>> = OnceLock::new();
        UV.get_or_init(Self::find).as_ref()
    }

    fn find() -> Option<Self> {
        let process = Library::this();
        // SAFETY: the names are libuv's and the types those of its documentation. The symbols are
        // copied out of the library, which is the process itself and is never unloaded.
        unsafe {
            Some(Self {
                handle_size: *process.get(b"uv_handle_size\0").ok()?,
                handle_get_data: *process.get(b"uv_handle_get_data\0").ok()?,
                handle_set_data: *process.get(b"uv_handle_set_data\0").ok()?,
                poll_init: *process.get(b"uv_poll_init\0").ok()?,
                poll_start: *process.get(b"uv_poll_start\0").ok()?,
                idle_init: *process.get(b"uv_idle_init\0").ok()?,
                idle_start: *process.get(b"uv_idle_start\0").ok()?,
                idle_stop: *process.get(b"uv_idle_stop\0").ok()?,
                reference: *process.get(b"uv_ref\0").ok()?,
                unreference: *process.get(b"uv_unref\0").ok()?,
                close: *process.get(b"uv_close\0").ok()?,
            })
        }
    }

    /// The data that a handle was given.
    ///
    /// # Safety
    ///
    /// `handle` is initialised and its memory not yet freed.
    pub unsafe fn data(&self, handle: *mut RawHandle) -> *mut c_void {
        // SAFETY: the caller's promise.
        unsafe { (self.handle_get_data)(handle) }
    }
}

/// An initialised handle and its memory, which must not be dropped before the callback of
/// [`Handle::close`] has run.
pub struct Handle {
    uv: &'static Uv,
    /// A slice that `allocate` took out of a box: libuv has the pointer too.
    memory: *mut [u128],
}

impl Handle {
    /// A handle that watches whether `descriptor` is readable.
    ///
    /// # Safety
    ///
    /// `event_loop` is that of this thread; `descriptor` is open until the handle is closed.
    ///
    /// # Errors
    ///
    /// libuv's error, a negative number.
    pub unsafe fn poll(
        uv: &'static Uv,
        event_loop: Loop,
        descriptor: RawFd,
        data: *mut c_void,
    ) -> Result<Self, c_int> {
        let handle = Self::allocate(uv, UV_POLL);
        // SAFETY: the memory is as large as libuv asked for; the rest is the caller's promise.
        unsafe {
            check((uv.poll_init)(event_loop, handle.raw(), descriptor))?;
            (uv.handle_set_data)(handle.raw(), data);
        }
        Ok(handle)
    }

    /// A handle that is called once a turn while it is started.
    ///
    /// # Safety
    ///
    /// `event_loop` is that of this thread.
    ///
    /// # Errors
    ///
    /// libuv's error, a negative number.
    pub unsafe fn idle(
        uv: &'static Uv,
        event_loop: Loop,
        data: *mut c_void,
    ) -> Result<Self, c_int> {
        let handle = Self::allocate(uv, UV_IDLE);
        // SAFETY: as in `poll`.
        unsafe {
            check((uv.idle_init)(event_loop, handle.raw()))?;
            (uv.handle_set_data)(handle.raw(), data);
        }
        Ok(handle)
    }

    fn allocate(uv: &'static Uv, kind: c_int) -> Self {
        // SAFETY: takes a kind of handle and gives its size.
        let size = unsafe { (uv.handle_size)(kind) };
        // 128-bit words, so that the memory is aligned for anything that libuv puts there.
        let memory = vec![0u128; size.div_ceil(size_of::<u128>())].into_boxed_slice();
        Self { uv, memory: Box::into_raw(memory) }
    }

    fn raw(&self) -> *mut RawHandle {
        self.memory.cast()
    }

    /// Starts watching; for a poll handle.
    pub fn start_poll(&self, callback: PollCallback) -> Result<(), c_int> {
        // SAFETY: the handle is initialised and lives as long as `self`.
        check(unsafe { (self.uv.poll_start)(self.raw(), UV_READABLE, callback) })
    }

    /// Asks for a call in the next turn, and that the loop does not wait until then; for an idle
    /// handle. Starting a started one changes nothing.
    pub fn start_idle(&self, callback: HandleCallback) {
        // SAFETY: as in `start_poll`.
        unsafe { (self.uv.idle_start)(self.raw(), callback) };
    }

    /// Takes that back.
    pub fn stop_idle(&self) {
        // SAFETY: as in `start_poll`.
        unsafe { (self.uv.idle_stop)(self.raw()) };
    }

    /// Whether the handle, while started, keeps the loop alive.
    pub fn keep_alive(&self, keep: bool) {
        let call = if keep { self.uv.reference } else { self.uv.unreference };
        // SAFETY: as in `start_poll`.
        unsafe { call(self.raw()) };
    }

    /// Ends the handle. `callback` runs in a later turn, after which its memory may be freed.
    pub fn close(&self, callback: HandleCallback) {
        // SAFETY: as in `start_poll`; called once, by the environment's cleanup.
        unsafe { (self.uv.close)(self.raw(), Some(callback)) };
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: `allocate` made the pointer of a box; nobody uses a closed handle.
        drop(unsafe { Box::from_raw(self.memory) });
    }
}

fn check(status: c_int) -> Result<(), c_int> {
    if status < 0 { Err(status) } else { Ok(()) }
}
