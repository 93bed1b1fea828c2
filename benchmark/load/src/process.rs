//! CPU time and memory of a process, from Linux's `/proc`.

use std::fs;
use std::io;
use std::time::Duration;

/// Time of all threads of a process together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// On a core, in user and kernel mode.
    pub running: Duration,
    /// Able to run but waiting for a core that something else occupies.
    pub waiting: Duration,
}

impl CpuTime {
    /// What was added since an earlier reading.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            running: self.running.saturating_sub(earlier.running),
            waiting: self.waiting.saturating_sub(earlier.waiting),
        }
    }
}

/// Time that a process has taken since its start.
///
/// Read from `schedstat`, which counts nanoseconds where `stat` counts ticks of 10 ms.
///
/// # Errors
///
/// The process has ended, or this system has no `/proc`.
pub fn cpu_time(pid: u32) -> io::Result<CpuTime> {
    let mut total = CpuTime::default();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread may end between the listing and the reading.
        if let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) {
            let thread = parse_schedstat(&text).ok_or(io::ErrorKind::InvalidData)?;
            total.running += thread.running;
            total.waiting += thread.waiting;
        }
    }
    Ok(total)
}

/// The most memory in bytes that the process ever had resident.
///
/// # Errors
///
/// The process has ended, or this system has no `/proc`.
pub fn peak_memory(pid: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    high_water_mark(&status).ok_or(io::ErrorKind::InvalidData.into())
}

/// The first two fields, in nanoseconds.
fn parse_schedstat(text: &str) -> Option<CpuTime> {
    let mut fields = text.split_ascii_whitespace();
    Some(CpuTime {
        running: Duration::from_nanos(fields.next()?.parse().ok()?),
        waiting: Duration::from_nanos(fields.next()?.parse().ok()?),
    })
}

/// `VmHWM` of `status`, which is given in kibibytes.
fn high_water_mark(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_gives_running_and_waiting() {
        let expected =
            CpuTime { running: Duration::from_millis(1500), waiting: Duration::from_nanos(42) };
        assert_eq!(parse_schedstat("1500000000 42 7\n"), Some(expected));
        assert_eq!(parse_schedstat("1500000000\n"), None);
    }

    #[test]
    fn the_peak_is_found_among_the_other_lines() {
        let status = "Name:\tnode\nVmPeak:\t  999 kB\nVmHWM:\t   52 kB\nVmRSS:\t   40 kB\n";
        assert_eq!(high_water_mark(status), Some(52 * 1024));
        assert_eq!(high_water_mark("Name:\tkthreadd\n"), None);
    }
}
