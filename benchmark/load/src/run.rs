//! Traffic all the time: the event loop and its phases, connect, warm up, measure, drain.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::connection::{Connection, Traffic};
use crate::failure::Failure;
use crate::meter::{Meter, Totals};
use crate::options::{Options, Usage};
use crate::report::Report;
use crate::{descriptors, visits};

/// For opening all connections.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
/// For what is on its way when the measurement ends, and the longest pause in it.
const DRAIN_LIMIT: Duration = Duration::from_secs(15);
const DRAIN_PAUSE: Duration = Duration::from_secs(2);
const EVENTS_PER_POLL: usize = 1024;

/// Puts load on the server and measures it. Bounded in time whatever the server does.
///
/// # Errors
///
/// See [`Failure`].
pub fn run(options: &Options) -> Result<Report, Failure> {
    // There is no sense in a connection before it is known that the server can be observed.
    Meter::start(options.pid)?;
    descriptors::allow(options.connections as u64)?;
    match options.usage {
        Usage::Traffic => traffic(options),
        Usage::Churn => visits::churn(options),
        Usage::Idle => visits::idle(options),
    }
}

fn traffic(options: &Options) -> Result<Report, Failure> {
    let mut engine = Engine::connect(options)?;
    engine.drive_for(options.warmup)?;

    engine.totals.clear();
    let meter = Meter::start(options.pid)?;
    engine.drive_for(options.measure)?;
    let report = meter.stop(std::mem::take(&mut engine.totals))?;

    engine.drain()?;
    Ok(report)
}

/// All connections and what they have achieved.
struct Engine {
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    /// Connections that can go on without waiting, in turn, and whether each is among them.
    ready: VecDeque<usize>,
    is_ready: Vec<bool>,
    traffic: Traffic,
    totals: Totals,
}

impl Engine {
    fn connect(options: &Options) -> Result<Self, Failure> {
        let poll = Poll::new().map_err(Failure::Poll)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let deadline = Instant::now() + CONNECT_LIMIT;
        let connections = (0..options.connections)
            .map(|index| {
                let mut connection = Connection::new(open(address, deadline)?);
                poll.registry().register(
                    connection.stream(),
                    Token(index),
                    Interest::READABLE | Interest::WRITABLE,
                )?;
                Ok(connection)
            })
            .collect::<io::Result<_>>()
            .map_err(|error| Failure::Connect(address, error))?;
        Ok(Self {
            poll,
            events: Events::with_capacity(EVENTS_PER_POLL),
            connections,
            ready: VecDeque::with_capacity(options.connections),
            is_ready: vec![false; options.connections],
            traffic: Traffic::new(options),
            totals: Totals::default(),
        })
    }

    fn drive_for(&mut self, time: Duration) -> Result<(), Failure> {
        let deadline = Instant::now() + time;
        while let Some(left) = time_until(deadline) {
            self.turn(left)?;
        }
        Ok(())
    }

    /// Waits until everything that was sent is back: nothing is lost, and the server is idle when
    /// the next one is measured.
    fn drain(&mut self) -> Result<(), Failure> {
        self.traffic.sending = false;
        let limit = Instant::now() + DRAIN_LIMIT;
        let mut outstanding = self.outstanding();
        let mut pause = Instant::now() + DRAIN_PAUSE;
        while outstanding > 0 {
            let left = time_until(limit.min(pause)).ok_or(Failure::Missing(outstanding))?;
            self.turn(left)?;
            let now_outstanding = self.outstanding();
            if now_outstanding < outstanding {
                outstanding = now_outstanding;
                pause = Instant::now() + DRAIN_PAUSE;
            }
        }
        Ok(())
    }

    fn outstanding(&self) -> u64 {
        self.connections.iter().map(Connection::outstanding).sum()
    }

    /// Collects events, for which it waits only if no connection is ready, and lets each ready
    /// connection go on once.
    fn turn(&mut self, wait: Duration) -> Result<(), Failure> {
        let wait = if self.ready.is_empty() { wait } else { Duration::ZERO };
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(Failure::Poll(error));
            }
            _ => {}
        }
        for event in &self.events {
            let Token(index) = event.token();
            self.connections[index].wake(
                event.is_readable(),
                event.is_writable(),
                event.is_read_closed() || event.is_error(),
            );
            if !self.is_ready[index] {
                self.is_ready[index] = true;
                self.ready.push_back(index);
            }
        }
        for _ in 0..self.ready.len() {
            let Some(index) = self.ready.pop_front() else {
                break;
            };
            let goes_on = self.connections[index]
                .advance(&mut self.traffic, &mut self.totals)
                .map_err(Failure::Connection)?;
            self.is_ready[index] = goes_on;
            if goes_on {
                self.ready.push_back(index);
            }
        }
        Ok(())
    }
}

/// Blocks until connected, which takes no time on the loopback interface unless the backlog of the
/// server is full.
fn open(address: SocketAddr, deadline: Instant) -> io::Result<TcpStream> {
    let left = time_until(deadline).ok_or(io::ErrorKind::TimedOut)?;
    let stream = std::net::TcpStream::connect_timeout(&address, left)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    Ok(TcpStream::from_std(stream))
}

/// The time that is left, if any.
pub fn time_until(deadline: Instant) -> Option<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero()).then_some(left)
}
