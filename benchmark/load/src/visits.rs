//! Connections that carry one message each.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use socket2::SockRef;

use crate::connection::{self, Tally};
use crate::failure::Failure;
use crate::meter::{Meter, Totals};
use crate::options::{Options, Verify};
use crate::pattern::Pattern;
use crate::report::Report;
use crate::run::time_until;

/// The longest that nothing happens while there are messages on their way.
const SILENCE_LIMIT: Duration = Duration::from_secs(5);
/// Idle connections are opened a few at a time: the server's backlog holds no more.
const OPENED_AT_ONCE: usize = 64;
const RECEIVE_BYTES: usize = 64 << 10;
const EVENTS_PER_POLL: usize = 256;

/// Opens a connection for each message and resets it when the answer is there, so that none lingers.
///
/// # Errors
///
/// See [`Failure`].
pub fn churn(options: &Options) -> Result<Report, Failure> {
    let mut visits = Visits::new(options)?;
    for _ in 0..options.connections {
        visits.open()?;
    }
    visits.repeat = true;
    visits.drive_for(options.warmup)?;

    visits.totals.clear();
    let meter = Meter::start(options.pid)?;
    visits.drive_for(options.measure)?;
    let report = meter.stop(std::mem::take(&mut visits.totals))?;

    visits.repeat = false;
    visits.drive_below(1)?;
    Ok(report)
}

/// Opens connections, sends one message on each, and keeps them for a while.
///
/// # Errors
///
/// See [`Failure`].
pub fn idle(options: &Options) -> Result<Report, Failure> {
    let mut visits = Visits::new(options)?;
    let meter = Meter::start(options.pid)?;
    for _ in 0..options.connections {
        visits.drive_below(OPENED_AT_ONCE)?;
        visits.open()?;
    }
    visits.drive_below(1)?;
    // The poll reports one that the server closes, or sends more on.
    visits.drive_for(options.measure)?;
    meter.stop(std::mem::take(&mut visits.totals))
}

/// All connections.
struct Visits {
    poll: Poll,
    events: Events,
    address: SocketAddr,
    visits: Vec<Visit>,
    in_flight: usize,
    /// Whether one that is done is reset, and the next takes its place.
    repeat: bool,
    exchange: Exchange,
    totals: Totals,
}

impl Visits {
    fn new(options: &Options) -> Result<Self, Failure> {
        Ok(Self {
            poll: Poll::new().map_err(Failure::Poll)?,
            events: Events::with_capacity(EVENTS_PER_POLL),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)),
            visits: Vec::with_capacity(options.connections),
            in_flight: 0,
            repeat: false,
            exchange: Exchange::new(options),
            totals: Totals::default(),
        })
    }

    fn open(&mut self) -> Result<(), Failure> {
        let visit = self.begin(self.visits.len())?;
        self.visits.push(visit);
        Ok(())
    }

    fn begin(&mut self, index: usize) -> Result<Visit, Failure> {
        let visit = Visit::new(self.address)
            .and_then(|mut visit| {
                let interest = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(&mut visit.stream, Token(index), interest)?;
                Ok(visit)
            })
            .map_err(|error| Failure::Connect(self.address, error))?;
        self.in_flight += 1;
        Ok(visit)
    }

    fn drive_for(&mut self, time: Duration) -> Result<(), Failure> {
        let deadline = Instant::now() + time;
        while let Some(left) = time_until(deadline) {
            self.turn(left)?;
        }
        Ok(())
    }

    /// Goes on until fewer than `limit` messages are on their way.
    fn drive_below(&mut self, limit: usize) -> Result<(), Failure> {
        let mut pause = Instant::now() + SILENCE_LIMIT;
        while self.in_flight >= limit {
            let before = self.in_flight;
            let left = time_until(pause).ok_or(Failure::Silence(SILENCE_LIMIT))?;
            self.turn(left)?;
            if self.in_flight < before {
                pause = Instant::now() + SILENCE_LIMIT;
            }
        }
        Ok(())
    }

    fn turn(&mut self, wait: Duration) -> Result<(), Failure> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(Failure::Poll(error));
            }
            _ => {}
        }
        // One connection has one event at most, so that none is for the one before in its place.
        let reported: Vec<usize> = self.events.iter().map(|event| event.token().0).collect();
        for index in reported {
            let visit = &mut self.visits[index];
            let was_done = visit.is_done(&self.exchange);
            visit.advance(&mut self.exchange).map_err(Failure::Connection)?;
            if was_done || !visit.is_done(&self.exchange) {
                continue;
            }
            self.totals.bytes(visit.received);
            self.totals.messages(1, Some(visit.begun), Instant::now());
            self.in_flight -= 1;
            if self.repeat {
                self.visits[index] = self.begin(index)?;
            }
        }
        Ok(())
    }
}

/// What all connections send and should receive.
struct Exchange {
    message: Vec<u8>,
    answers: Pattern,
    reply: usize,
    verify: bool,
    buffer: Vec<u8>,
}

impl Exchange {
    fn new(options: &Options) -> Self {
        let messages = Pattern::new(options.verify, options.size, options.size);
        Self {
            message: messages.slice(0, options.size).to_vec(),
            answers: Pattern::new(options.verify, options.reply, options.reply),
            reply: options.reply,
            verify: options.verify != Verify::Nothing,
            buffer: vec![0; RECEIVE_BYTES],
        }
    }
}

/// One connection and its message.
struct Visit {
    stream: TcpStream,
    begun: Instant,
    sent: usize,
    received: usize,
}

impl Visit {
    fn new(address: SocketAddr) -> io::Result<Self> {
        let begun = Instant::now();
        let stream = TcpStream::connect(address)?;
        // Closing is a reset: a port that waits for stragglers could not be used again for a minute.
        SockRef::from(&stream).set_linger(Some(Duration::ZERO))?;
        Ok(Self { stream, begun, sent: 0, received: 0 })
    }

    fn is_done(&self, exchange: &Exchange) -> bool {
        self.received == exchange.reply
    }

    fn advance(&mut self, exchange: &mut Exchange) -> Result<(), connection::Failure> {
        match self.exchange(exchange) {
            Ok(()) => Ok(()),
            Err(connection::Failure::Io(error)) => match error.kind() {
                // Not connected yet, or nothing has come.
                io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected => Ok(()),
                _ => Err(connection::Failure::Io(error)),
            },
            Err(failure) => Err(failure),
        }
    }

    /// Sends and receives until the answer is there, or the socket has nothing more.
    fn exchange(&mut self, exchange: &mut Exchange) -> Result<(), connection::Failure> {
        use connection::Failure;

        while self.sent < exchange.message.len() {
            self.sent += self.stream.write(&exchange.message[self.sent..]).map_err(Failure::Io)?;
        }
        loop {
            let count = self.stream.read(&mut exchange.buffer).map_err(Failure::Io)?;
            if count == 0 {
                return Err(Failure::Closed);
            }
            let bytes = &exchange.buffer[..count];
            if exchange.verify
                && let Some(at) = exchange.answers.mismatch(self.received as u64, bytes)
            {
                return Err(Failure::Mismatch(at));
            }
            self.received += count;
            if self.received > exchange.reply {
                return Err(Failure::Surplus);
            }
            if self.is_done(exchange) {
                return Ok(());
            }
        }
    }
}
