//! The line of JSON.

use std::fmt;
use std::time::Duration;

use crate::histogram::Histogram;
use crate::process::CpuTime;

/// What a run has measured.
pub struct Report {
    /// Length of the measurement as it really was.
    pub elapsed: Duration,
    /// Bytes that came back in it.
    pub bytes: u64,
    /// Messages that were completed in it.
    pub messages: u64,
    /// Time from handing a message to the kernel until its last byte is back.
    pub latency: Histogram,
    /// CPU time of the server.
    pub server_cpu: CpuTime,
    /// CPU time of the load generator.
    pub client_cpu: CpuTime,
    /// Most memory in bytes that the server has had resident since its start.
    pub peak_memory: u64,
}

impl Report {
    fn microseconds(&self, share: f64) -> Option<f64> {
        let nanoseconds = self.latency.quantile(share)?;
        Some(nanoseconds as f64 / 1e3)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        let server_cpu = self.server_cpu.running.as_secs_f64();
        let members = [
            ("seconds", Some(seconds)),
            ("bytesPerSecond", Some(self.bytes as f64 / seconds)),
            ("messagesPerSecond", Some(self.messages as f64 / seconds)),
            ("p50Us", self.microseconds(0.5)),
            ("p99Us", self.microseconds(0.99)),
            ("cpuSecondsPerMessage", Some(server_cpu / self.messages as f64)),
            ("cpuSecondsPerGB", Some(server_cpu / (self.bytes as f64 / 1e9))),
            ("serverCpuShare", Some(server_cpu / seconds)),
            ("serverWaitShare", Some(self.server_cpu.waiting.as_secs_f64() / seconds)),
            ("clientCpuShare", Some(self.client_cpu.running.as_secs_f64() / seconds)),
            ("peakRssBytes", Some(self.peak_memory as f64)),
        ];
        let members = members.map(|(name, value)| format!("\"{name}\":{}", json(value)));
        write!(f, "{{{}}}", members.join(","))
    }
}

/// A number as JSON has it, which knows neither NaN nor infinity.
fn json(value: Option<f64>) -> String {
    match value {
        Some(number) if number.is_finite() => number.to_string(),
        _ => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu_time(running: u64, waiting: u64) -> CpuTime {
        CpuTime { running: Duration::from_millis(running), waiting: Duration::from_millis(waiting) }
    }

    fn report() -> Report {
        Report {
            elapsed: Duration::from_millis(500),
            bytes: 2_000_000,
            messages: 1_000,
            latency: Histogram::default(),
            server_cpu: cpu_time(250, 100),
            client_cpu: cpu_time(50, 0),
            peak_memory: 4096,
        }
    }

    #[test]
    fn figures_are_per_second_per_message_and_per_gigabyte() {
        let mut report = report();
        report.latency.record(100_000, 1);
        let line = report.to_string();
        for member in [
            "\"bytesPerSecond\":4000000",
            "\"messagesPerSecond\":2000",
            "\"cpuSecondsPerMessage\":0.00025",
            "\"cpuSecondsPerGB\":125",
            "\"serverCpuShare\":0.5",
            "\"serverWaitShare\":0.2",
            "\"clientCpuShare\":0.1",
            "\"peakRssBytes\":4096}",
        ] {
            assert!(line.contains(member), "{member} in {line}");
        }
        assert!(!line.contains("null"));
    }

    #[test]
    fn what_was_not_measured_is_null() {
        let mut report = report();
        report.messages = 0;
        let line = report.to_string();
        assert!(line.contains("\"p50Us\":null"));
        assert!(line.contains("\"cpuSecondsPerMessage\":null"));
    }
}
