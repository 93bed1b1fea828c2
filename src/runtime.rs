//! The one tokio runtime of the process.
//!
//! It does what needs no JavaScript for each operation: waiting for sockets where Node's event loop
//! can't, and moving bytes between them. It is made at the first use, shared by all environments,
//! and lives as long as the process. Tasks belong to an environment and end with it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, available_parallelism};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Threads for tasks, at most: pipes are soon bound by the kernel.
const MAX_WORKERS: usize = 4;

/// How long a thread may take to start. Where the system has none tokio keeps what it should run.
const MAX_START: Duration = Duration::from_secs(5);

/// The runtime, made at the first call.
///
/// # Errors
///
/// What the system says where it has no thread or descriptor for it.
pub fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: Mutex<Option<&'static Runtime>> = Mutex::new(None);
    let mut known = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = *known {
        return Ok(runtime);
    }
    stay_loaded();
    ensure_thread()?;
    let workers = available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
    let build = || {
        Builder::new_multi_thread()
            .worker_threads(workers)
            .max_blocking_threads(4096)
            .thread_name("oxwire")
            .on_thread_start(block_broken_pipe)
            .enable_io()
            .build()
    };
    let runtime = catch_unwind(build).map_err(|_| no_thread())??;
    Ok(*known.insert(Box::leak(Box::new(runtime))))
}

/// Runs `task` on a thread of its own.
///
/// # Errors
///
/// As [`runtime`]. The task does not run then, neither now nor later.
pub fn spawn_thread(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = runtime()?;
    ensure_thread()?;
    let (started, start) = mpsc::channel();
    let run = move || {
        if started.send(()).is_ok() {
            task();
        }
    };
    catch_unwind(AssertUnwindSafe(|| runtime.spawn_blocking(run))).map_err(|_| no_thread())?;
    start.recv_timeout(MAX_START).map_err(|_| no_thread())
}

/// Whether the system has a thread at this moment. Where it has not tokio panics, which is caught;
/// but it writes of it to the terminal.
fn ensure_thread() -> io::Result<()> {
    let thread = thread::Builder::new().spawn(|| ())?;
    let _ = thread.join();
    Ok(())
}

fn no_thread() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

/// Keeps the addon in memory. Node unloads one that only a worker had loaded when the worker ends,
/// and these threads run its code.
#[cfg(unix)]
fn stay_loaded() {
    use libloading::os::unix::{Library, RTLD_NOW};
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt;

    let here = stay_loaded as *const () as *const libc::c_void;
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `found` has room for what is written; all-zero bytes are a value of it.
    let (status, found) = unsafe { (libc::dladdr(here, found.as_mut_ptr()), found.assume_init()) };
    if status == 0 || found.dli_fname.is_null() {
        return;
    }
    // SAFETY: `dladdr` gave a string that ends in a zero byte and lives as long as the library.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    let flags = RTLD_NOW | libc::RTLD_NODELETE;
    // SAFETY: the library is loaded, so no initialisers run. In a program that has the code in
    // itself the call fails, and nothing need be kept.
    drop(unsafe { Library::open(Some(OsStr::from_bytes(name.to_bytes())), flags) });
}

/// Keeps the addon in memory; see above.
#[cfg(windows)]
fn stay_loaded() {
    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
    };
    let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    let mut module = std::ptr::null_mut();
    // SAFETY: with that flag the name is an address within the library, which this function is.
    unsafe { GetModuleHandleExW(flags, stay_loaded as *const () as *const u16, &mut module) };
}

/// A write to a pipe or socket that nobody reads is an error, and no signal to these threads:
/// `splice` has no flag for that.
fn block_broken_pipe() {
    // SAFETY: the set is made before it is used; the mask is that of this thread alone.
    #[cfg(unix)]
    unsafe {
        let mut set = std::mem::MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::runtime;

    #[test]
    fn there_is_one() {
        assert!(std::ptr::eq(runtime().unwrap(), runtime().unwrap()));
        assert_eq!(runtime().unwrap().block_on(async { 1 + 1 }), 2);
    }
}
