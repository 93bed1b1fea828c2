//! Servers that show what the system calls alone cost, and what an event loop in Rust makes of them.
//!
//! - [`task`]: the command line
//! - [`answers`]: what a server returns for what it has read
//! - [`epoll`]: one thread, edge-triggered, nothing in between
//! - [`tokio`]: a task for each connection, on one thread
//! - `uring`: as `epoll`, on io_uring; an experiment, with the feature `io-uring`

#[cfg(target_os = "linux")]
mod answers;
#[cfg(target_os = "linux")]
mod epoll;
#[cfg(target_os = "linux")]
mod task;
#[cfg(target_os = "linux")]
mod tokio;
#[cfg(all(target_os = "linux", feature = "io-uring"))]
mod uring;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use answers::Answers;
    use task::{Library, Task, USAGE};

    let Some(task) = Task::parse(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    // A server does not outlive the benchmark that has started it.
    let tethered =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
    let answers = Answers::new(task.mode, task.size);
    let served = tethered.map_err(Into::into).and_then(|()| match task.library {
        Library::Epoll => epoll::serve(task.port, &answers),
        Library::Tokio => tokio::serve(task.port, answers),
        #[cfg(feature = "io-uring")]
        Library::IoUring => uring::serve(task.port, &answers),
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("peers: these servers are for Linux, where the benchmark runs");
    ExitCode::FAILURE
}
