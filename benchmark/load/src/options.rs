//! The command line.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// Text of `--help`.
pub const USAGE: &str = "\
Usage: load --port N --pid N [options]

  --port N          the server's port on 127.0.0.1
  --pid N           the server's process, for its CPU time and memory
  --connections N   connections to open (1)
  --size N          bytes of a message (64)
  --reply N         bytes of its answer (as many)
  --depth N         messages in flight on a connection; 0 sends without waiting (1)
  --seconds S       length of the measurement (1)
  --warmup S        traffic before the measurement (0.2)
  --churn           open connections for one message each and reset them, as many at a time as
                    --connections says, all the time
  --idle            open connections, send one message on each, and keep them for --seconds
  --verify          check every byte of an echo
  --verify=reply    check every byte of replies that all repeat the first message
  --help            this text
";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// Put load on a server.
    Run(Options),
    /// Print [`USAGE`].
    Help,
}

/// One run.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// Port of the server on 127.0.0.1.
    pub port: u16,
    /// Process of the server.
    pub pid: u32,
    /// Connections to open.
    pub connections: usize,
    /// Bytes of a message.
    pub size: usize,
    /// Bytes of an answer.
    pub reply: usize,
    /// What connections do.
    pub usage: Usage,
    /// Messages in flight on a connection; `None` is a stream that never waits.
    pub depth: Option<usize>,
    /// Length of the measurement.
    pub measure: Duration,
    /// Traffic before the measurement.
    pub warmup: Duration,
    /// Which bytes to expect.
    pub verify: Verify,
}

/// What connections do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Usage {
    /// They carry messages all the time.
    Traffic,
    /// They carry one and are reset, and the next takes their place.
    Churn,
    /// They carry one and stay.
    Idle,
}

/// What is known about the bytes that come back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verify {
    /// They are counted and thrown away.
    Nothing,
    /// They are the bytes sent.
    Echo,
    /// Each message is the same, the first `size` bytes of the pattern.
    Reply,
}

const CONNECTIONS: RangeInclusive<usize> = 1..=20_000;
const SIZE: RangeInclusive<usize> = 1..=16 << 20;
const DEPTH: RangeInclusive<usize> = 0..=65_536;
const MEASURE: RangeInclusive<f64> = 0.01..=600.0;
const WARMUP: RangeInclusive<f64> = 0.0..=60.0;

/// Reads the arguments that follow the program's name.
///
/// # Errors
///
/// A sentence for the user: an unknown option, a missing or malformed value, or one out of bounds.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut port = None;
    let mut pid = None;
    let mut connections = 1;
    let mut size = 64;
    let mut reply = None;
    let mut usage = Usage::Traffic;
    let mut depth = 1;
    let mut measure = 1.0;
    let mut warmup = 0.2;
    let mut verify = Verify::Nothing;

    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--help" => return Ok(Command::Help),
            "--verify" => verify = Verify::Echo,
            "--verify=reply" => verify = Verify::Reply,
            "--port" => port = Some(number(&name, arguments.next(), 1..=u16::MAX)?),
            "--pid" => pid = Some(number(&name, arguments.next(), 1..=u32::MAX)?),
            "--connections" => connections = number(&name, arguments.next(), CONNECTIONS)?,
            "--size" => size = number(&name, arguments.next(), SIZE)?,
            "--reply" => reply = Some(number(&name, arguments.next(), SIZE)?),
            "--churn" => usage = Usage::Churn,
            "--idle" => usage = Usage::Idle,
            "--depth" => depth = number(&name, arguments.next(), DEPTH)?,
            "--seconds" => measure = number(&name, arguments.next(), MEASURE)?,
            "--warmup" => warmup = number(&name, arguments.next(), WARMUP)?,
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(Command::Run(Options {
        port: port.ok_or("--port is missing")?,
        pid: pid.ok_or("--pid is missing")?,
        connections,
        size,
        reply: reply.unwrap_or(size),
        usage,
        depth: (depth > 0).then_some(depth),
        measure: Duration::from_secs_f64(measure),
        warmup: Duration::from_secs_f64(warmup),
        verify,
    }))
}

fn number<T>(name: &str, value: Option<String>, bounds: RangeInclusive<T>) -> Result<T, String>
where
    T: FromStr + PartialOrd + std::fmt::Display,
{
    let value = value.ok_or_else(|| format!("{name} needs a value"))?;
    value.parse().ok().filter(|number| bounds.contains(number)).ok_or_else(|| {
        let (low, high) = (bounds.start(), bounds.end());
        format!("{name} takes a number from {low} to {high}, not \"{value}\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn defaults_fill_what_is_not_given() {
        let expected = Options {
            port: 7000,
            pid: 12,
            connections: 1,
            size: 64,
            reply: 64,
            usage: Usage::Traffic,
            depth: Some(1),
            measure: Duration::from_secs(1),
            warmup: Duration::from_millis(200),
            verify: Verify::Nothing,
        };
        assert_eq!(parse_line("--port 7000 --pid 12"), Ok(Command::Run(expected)));
    }

    #[test]
    fn depth_zero_is_an_unbounded_stream() {
        let Ok(Command::Run(options)) = parse_line("--port 1 --pid 1 --depth 0 --verify=reply")
        else {
            panic!("the line is valid");
        };
        assert_eq!(options.depth, None);
        assert_eq!(options.verify, Verify::Reply);
    }

    #[test]
    fn an_answer_may_have_a_size_of_its_own() {
        let Ok(Command::Run(options)) = parse_line("--port 1 --pid 1 --reply 80 --churn") else {
            panic!("the line is valid");
        };
        assert_eq!((options.size, options.reply, options.usage), (64, 80, Usage::Churn));
    }

    #[test]
    fn help_wins_over_what_is_missing() {
        assert_eq!(parse_line("--help"), Ok(Command::Help));
    }

    #[test]
    fn problems_are_named() {
        let problem = |line| parse_line(line).expect_err("the line is invalid");
        assert_eq!(problem("--pid 1"), "--port is missing");
        assert_eq!(problem("--port"), "--port needs a value");
        assert_eq!(problem("--fast"), "unknown option --fast");
        assert_eq!(problem("--port 70000"), "--port takes a number from 1 to 65535, not \"70000\"");
        assert_eq!(
            problem("--seconds NaN"),
            "--seconds takes a number from 0.01 to 600, not \"NaN\""
        );
    }
}
