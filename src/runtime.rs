//! The threads of the process beside those of JavaScript.
//!
//! They do what needs no JavaScript for each operation: waiting for sockets where Node's event loop
//! can't, and moving bytes between them. They are started at the first use, shared by all
//! environments, and live as long as the process. Tasks belong to an environment and end with it.
//!
//! A runtime of tokio with many threads panics, or waits for ever, where the system does not give it
//! all of them. So each thread has a runtime of its own, and where it can't be started that is an
//! error.

use std::future::pending;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, available_parallelism};

use tokio::runtime::{Builder, Handle};

/// Threads for tasks, at most: pipes are soon bound by the kernel.
const MAX_WORKERS: usize = 4;

/// The runtimes, and which is next.
struct Workers {
    handles: Vec<Handle>,
    next: usize,
}

/// A runtime for a task, each in turn. They are started as they are needed.
///
/// # Errors
///
/// What the system says where it has no thread or descriptor for the first.
pub fn runtime() -> io::Result<Handle> {
    static WORKERS: Mutex<Workers> = Mutex::new(Workers { handles: Vec::new(), next: 0 });
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    let wanted = available_parallelism().map_or(1, usize::from).min(MAX_WORKERS);
    if workers.handles.len() < wanted {
        match start_worker() {
            Ok(handle) => workers.handles.push(handle),
            Err(error) if workers.handles.is_empty() => return Err(error),
            Err(_) => {} // The others have its work too.
        }
    }
    workers.next = (workers.next + 1) % workers.handles.len();
    Ok(workers.handles[workers.next].clone())
}

fn start_worker() -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let handle = runtime.handle().clone();
    spawn_thread(move || runtime.block_on(pending()))?;
    Ok(handle)
}

/// Runs `task` on a thread of its own.
///
/// # Errors
///
/// What the system says where it has no thread. The task does not run then.
pub fn spawn_thread(task: impl FnOnce() + Send + 'static) -> io::Result<()> {
    stay_loaded();
    let run = move || {
        block_broken_pipe();
        task();
    };
    thread::Builder::new().name("oxwire".into()).spawn(run)?;
    Ok(())
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
    use std::collections::HashSet;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::{MAX_WORKERS, runtime};

    #[test]
    fn tasks_share_a_few_threads() {
        let (tell, told) = mpsc::channel();
        for _ in 0..32 {
            let tell = tell.clone();
            runtime().unwrap().spawn(async move { tell.send(thread::current().id()) });
        }
        let limit = Duration::from_secs(10);
        let threads: HashSet<_> = (0..32).map(|_| told.recv_timeout(limit).unwrap()).collect();
        assert!(threads.len() <= MAX_WORKERS);
    }
}
