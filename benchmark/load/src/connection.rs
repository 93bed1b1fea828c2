//! One socket and its window of messages.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::time::Instant;

use mio::net::TcpStream;

use crate::options::{Options, Verify};
use crate::pattern::Pattern;

/// Small messages that may be sent at the same time leave in one call of up to this many bytes.
const BATCH_BYTES: usize = 64 << 10;
/// The most that one call receives.
const RECEIVE_BYTES: usize = 256 << 10;
/// Calls in a row on one socket before the others get their turn.
const ROUNDS: usize = 4;

/// What all connections of a run have in common.
pub struct Traffic {
    /// What is sent, and what should come back.
    messages: Pattern,
    answers: Pattern,
    size: usize,
    reply: usize,
    depth: Option<usize>,
    batch: usize,
    verify: bool,
    /// Filled only in order to verify.
    buffer: Vec<u8>,
    /// False while draining: what was begun is finished, nothing new is sent.
    pub sending: bool,
}

impl Traffic {
    /// Traffic as the command line asks for it.
    pub fn new(options: &Options) -> Self {
        let batch = match options.depth {
            Some(_) => (BATCH_BYTES / options.size).max(1),
            None => 1,
        };
        Self {
            messages: Pattern::new(options.verify, options.size, batch * options.size),
            answers: Pattern::new(options.verify, options.reply, RECEIVE_BYTES),
            size: options.size,
            reply: options.reply,
            depth: options.depth,
            batch,
            verify: options.verify != Verify::Nothing,
            buffer: match options.verify {
                Verify::Nothing => Vec::with_capacity(RECEIVE_BYTES),
                Verify::Echo | Verify::Reply => vec![0; RECEIVE_BYTES],
            },
            sending: true,
        }
    }

    /// Messages that may be begun while `in_flight` are on their way.
    fn allowance(&self, in_flight: usize) -> usize {
        if !self.sending {
            return 0;
        }
        match self.depth {
            Some(depth) => self.batch.min(depth.saturating_sub(in_flight)),
            None => self.batch,
        }
    }
}

/// Receives what connections achieve.
pub trait Tally {
    /// Bytes came back.
    fn bytes(&mut self, count: usize);
    /// Messages are complete that were handed to the kernel together; when is known in a bounded
    /// window.
    fn messages(&mut self, count: usize, sent: Option<Instant>, now: Instant);
}

/// Why a connection cannot go on.
#[derive(Debug)]
pub enum Failure {
    /// The server ended the stream.
    Closed,
    /// A system call failed.
    Io(io::Error),
    /// The byte at this position of the stream is not the expected one.
    Mismatch(u64),
    /// More came back than is due.
    Surplus,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => write!(f, "the server closed a connection"),
            Self::Io(error) => write!(f, "a connection to the server failed: {error}"),
            Self::Mismatch(at) => write!(f, "the server returned a wrong byte at position {at}"),
            Self::Surplus => write!(f, "the server returned more than was due"),
        }
    }
}

/// A socket, what it may do now, and the messages on their way.
pub struct Connection {
    stream: TcpStream,
    readable: bool,
    writable: bool,
    hung_up: bool,
    /// Bytes of begun messages that the kernel has not taken yet.
    unsent: usize,
    in_flight: usize,
    /// When how many of the messages in flight were begun; empty in a stream without a window.
    begun: VecDeque<(Instant, usize)>,
    sent: u64,
    /// Bytes of the answers to all that was begun, and of those that have come.
    expected: u64,
    received: u64,
    /// Bytes of the answer that is coming in.
    partial: usize,
}

impl Connection {
    /// A connected socket that has not been used yet.
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            readable: false,
            writable: false,
            hung_up: false,
            unsent: 0,
            in_flight: 0,
            begun: VecDeque::new(),
            sent: 0,
            expected: 0,
            received: 0,
            partial: 0,
        }
    }

    /// The socket, for registering it.
    pub fn stream(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Notes what the poll reported.
    pub fn wake(&mut self, readable: bool, writable: bool, hung_up: bool) {
        self.readable |= readable;
        self.writable |= writable;
        self.hung_up |= hung_up;
    }

    /// Bytes of answers, also to messages that were only begun, that have not come.
    pub fn outstanding(&self) -> u64 {
        self.expected - self.received
    }

    /// Receives and sends for a few rounds. True if there is more to do without waiting.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn advance(
        &mut self,
        traffic: &mut Traffic,
        tally: &mut impl Tally,
    ) -> Result<bool, Failure> {
        for _ in 0..ROUNDS {
            if self.readable {
                self.receive(traffic, tally)?;
            }
            if self.writable {
                self.send(traffic)?;
            }
            if !self.is_ready(traffic) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_ready(&self, traffic: &Traffic) -> bool {
        let wants_to_send = self.unsent > 0 || traffic.allowance(self.in_flight) > 0;
        self.readable || (self.writable && wants_to_send)
    }

    fn receive(&mut self, traffic: &mut Traffic, tally: &mut impl Tally) -> Result<(), Failure> {
        let result = if traffic.verify {
            self.stream.read(&mut traffic.buffer)
        } else {
            discard(&mut self.stream, &mut traffic.buffer)
        };
        let count = match result {
            Ok(0) => return Err(Failure::Closed),
            Ok(count) => count,
            Err(error) => {
                self.readable = false;
                return blocked_or(error);
            }
        };
        // Less than asked for means empty, and Linux reports the next arrival; but what followed
        // a hang-up was reported with it, so then only a read of 0 tells the end.
        if count < RECEIVE_BYTES && !self.hung_up {
            self.readable = false;
        }
        if traffic.verify
            && let Some(at) = traffic.answers.mismatch(self.received, &traffic.buffer[..count])
        {
            return Err(Failure::Mismatch(at));
        }
        self.received += count as u64;
        if self.received > self.expected {
            return Err(Failure::Surplus);
        }
        tally.bytes(count);
        self.complete(count, traffic.reply, tally);
        Ok(())
    }

    fn complete(&mut self, count: usize, reply: usize, tally: &mut impl Tally) {
        let received = self.partial + count;
        self.partial = received % reply;
        let mut complete = received / reply;
        if complete == 0 {
            return;
        }
        self.in_flight -= complete;
        let now = Instant::now();
        while let Some((sent, left)) = self.begun.front_mut() {
            let count = complete.min(*left);
            tally.messages(count, Some(*sent), now);
            complete -= count;
            *left -= count;
            if *left == 0 {
                self.begun.pop_front();
            }
            if complete == 0 {
                return;
            }
        }
        tally.messages(complete, None, now);
    }

    fn send(&mut self, traffic: &Traffic) -> Result<(), Failure> {
        if self.unsent == 0 {
            self.begin(traffic);
        }
        if self.unsent == 0 {
            return Ok(());
        }
        match self.stream.write(traffic.messages.slice(self.sent, self.unsent)) {
            Ok(count) => {
                self.sent += count as u64;
                self.unsent -= count;
                Ok(())
            }
            Err(error) => {
                self.writable = false;
                blocked_or(error)
            }
        }
    }

    fn begin(&mut self, traffic: &Traffic) {
        let messages = traffic.allowance(self.in_flight);
        self.unsent = messages * traffic.size;
        self.expected += (messages * traffic.reply) as u64;
        self.in_flight += messages;
        if traffic.depth.is_some() && messages > 0 {
            self.begun.push_back((Instant::now(), messages));
        }
    }
}

fn blocked_or(error: io::Error) -> Result<(), Failure> {
    match error.kind() {
        io::ErrorKind::WouldBlock => Ok(()),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Err(Failure::Closed),
        _ => Err(Failure::Io(error)),
    }
}

/// Receives without copying: with `MSG_TRUNC` the kernel drops what a TCP socket holds and returns
/// its length, so that the load generator takes no memory bandwidth from the server.
#[cfg(target_os = "linux")]
fn discard(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let room = &mut buffer.spare_capacity_mut()[..RECEIVE_BYTES];
    socket2::SockRef::from(&*stream).recv_with_flags(room, libc::MSG_TRUNC)
}

#[cfg(not(target_os = "linux"))]
fn discard(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<usize> {
    buffer.resize(RECEIVE_BYTES, 0);
    stream.read(buffer)
}
