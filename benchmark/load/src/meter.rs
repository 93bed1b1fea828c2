//! What a stretch of a run has brought, and what it has cost.

use std::time::{Duration, Instant};

use crate::connection::Tally;
use crate::failure::Failure;
use crate::histogram::Histogram;
use crate::process::{self, CpuTime};
use crate::report::Report;

/// What came back since the last `clear`.
#[derive(Default)]
pub struct Totals {
    /// Bytes of answers.
    pub bytes: u64,
    /// Messages that were answered.
    pub messages: u64,
    /// Time from handing a message to the kernel until its answer is complete.
    pub latency: Histogram,
}

impl Totals {
    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.bytes = 0;
        self.messages = 0;
        self.latency.clear();
    }
}

impl Tally for Totals {
    fn bytes(&mut self, count: usize) {
        self.bytes += count as u64;
    }

    fn messages(&mut self, count: usize, sent: Option<Instant>, now: Instant) {
        self.messages += count as u64;
        if let Some(sent) = sent {
            self.latency.record(now.duration_since(sent).as_nanos() as u64, count as u64);
        }
    }
}

/// Watches both processes from its start on.
pub struct Meter {
    server: u32,
    start: Instant,
    server_cpu: CpuTime,
    client_cpu: CpuTime,
}

impl Meter {
    /// Begins to measure the server with this process id.
    ///
    /// # Errors
    ///
    /// It cannot be observed.
    pub fn start(server: u32) -> Result<Self, Failure> {
        let server_cpu = cpu_time(server)?;
        let client_cpu = cpu_time(std::process::id())?;
        Ok(Self { server, start: Instant::now(), server_cpu, client_cpu })
    }

    /// Ends the measurement, in which `totals` came back.
    ///
    /// # Errors
    ///
    /// The server cannot be observed any more, or has returned nothing.
    pub fn stop(self, totals: Totals) -> Result<Report, Failure> {
        let elapsed: Duration = self.start.elapsed();
        let server_cpu = cpu_time(self.server)?.since(self.server_cpu);
        let client_cpu = cpu_time(std::process::id())?.since(self.client_cpu);
        if totals.messages == 0 {
            return Err(Failure::Silence(elapsed));
        }
        Ok(Report {
            elapsed,
            bytes: totals.bytes,
            messages: totals.messages,
            latency: totals.latency,
            server_cpu,
            client_cpu,
            peak_memory: process::peak_memory(self.server)
                .map_err(|error| Failure::Server(self.server, error))?,
        })
    }
}

fn cpu_time(pid: u32) -> Result<CpuTime, Failure> {
    process::cpu_time(pid).map_err(|error| Failure::Server(pid, error))
}
