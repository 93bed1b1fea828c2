//! Load generator for echo-like servers on the loopback interface.
//!
//! Opens a number of connections, keeps a number of messages in flight on each, and after a
//! bounded time prints one line of JSON: how much came back, how fast, and what it cost the
//! server. It treats the server as a mirror that returns as many bytes as it gets; whether it
//! echoes what it reads or answers message by message makes no difference here.
//!
//! - [`options`]: the command line
//! - [`run`]: traffic all the time: connect, warm up, measure, drain
//! - [`connection`]: one socket and its window of messages
//! - [`visits`]: connections that carry one message, and are reset or idle then
//! - [`descriptors`]: how many files this process may open
//! - [`pattern`]: the bytes that are sent, and the check of those that return
//! - [`histogram`]: latencies in constant memory
//! - [`process`]: CPU time and memory of a process, from `/proc`
//! - [`meter`]: what a stretch of a run has brought, and what it has cost
//! - [`report`]: the line of JSON
//! - [`failure`]: why there is none

mod connection;
mod descriptors;
mod failure;
mod histogram;
mod meter;
mod options;
mod pattern;
mod process;
mod report;
mod run;
mod visits;

use std::process::ExitCode;

use options::{Command, USAGE};

fn main() -> ExitCode {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(Command::Run(options)) => options,
        Ok(Command::Help) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("load: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run::run(&options) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("load: {failure}");
            ExitCode::FAILURE
        }
    }
}
