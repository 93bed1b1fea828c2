//! How many files this process may open.

use crate::failure::Failure;

/// What is open besides connections, with room to spare.
const OTHERS: u64 = 64;

/// Sees to it that so many connections can be open: the soft limit is raised where the hard one lets
/// it.
///
/// # Errors
///
/// The hard limit is too low.
#[cfg(target_os = "linux")]
pub fn allow(connections: u64) -> Result<(), Failure> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let needed = connections + OTHERS;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum };
    setrlimit(Resource::Nofile, raised)
        .map_err(|_| Failure::Descriptors(needed, maximum.unwrap_or(0)))
}

/// Other systems are not measured on; opening says what is wrong there.
#[cfg(not(target_os = "linux"))]
pub fn allow(_connections: u64) -> Result<(), Failure> {
    Ok(())
}
