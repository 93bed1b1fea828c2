//! One thread and the system calls: the least that a server on this kernel costs.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::{SocketFlags, accept_with};

use crate::answers::{Answers, BUFFER_BYTES};

const EVENTS_PER_WAIT: usize = 1024;

/// Serves for ever.
///
/// # Errors
///
/// It cannot listen, or waiting for sockets fails.
pub fn serve(port: u16, answers: &Answers) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let listening = key(&listener);
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, EventData::new_u64(listening), EventFlags::IN)?;
    println!("ready");

    // The kernel gives the lowest free number to a new descriptor: an index for the connections.
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut events = Vec::with_capacity(EVENTS_PER_WAIT);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        events.clear();
        match epoll::wait(&epoll, spare_capacity(&mut events), None) {
            Err(rustix::io::Errno::INTR) => continue,
            waited => waited?,
        };
        for event in &events {
            let key = event.data.u64();
            if key == listening {
                accept_all(&listener, &epoll, &mut connections)?;
                continue;
            }
            let Some(slot) = connections.get_mut(key as usize) else { continue };
            let Some(connection) = slot else { continue };
            connection.wake(event.flags);
            if !connection.advance(&mut buffer, answers) {
                *slot = None;
            }
        }
    }
}

fn key(socket: &impl AsRawFd) -> u64 {
    socket.as_raw_fd() as u64
}

fn accept_all(
    listener: &TcpListener,
    epoll: &OwnedFd,
    connections: &mut Vec<Option<Connection>>,
) -> io::Result<()> {
    loop {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let stream = match accept_with(listener.as_fd(), flags) {
            Ok(socket) => TcpStream::from(socket),
            Err(rustix::io::Errno::AGAIN) => return Ok(()),
            // It was reset before it was accepted.
            Err(rustix::io::Errno::CONNABORTED) => continue,
            Err(error) => return Err(error.into()),
        };
        stream.set_nodelay(true)?;
        let key = key(&stream);
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(epoll, &stream, EventData::new_u64(key), flags)?;
        let index = key as usize;
        if connections.len() <= index {
            connections.resize_with(index + 1, || None);
        }
        connections[index] = Some(Connection::new(stream));
    }
}

struct Connection {
    stream: TcpStream,
    readable: bool,
    hung_up: bool,
    /// What the kernel had no room for, and how much of it has left since.
    unsent: Vec<u8>,
    sent: usize,
    partial: usize,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self { stream, readable: false, hung_up: false, unsent: Vec::new(), sent: 0, partial: 0 }
    }

    fn wake(&mut self, flags: EventFlags) {
        self.hung_up |= flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        self.readable |= self.hung_up || flags.contains(EventFlags::IN);
    }

    /// Goes on until the kernel has nothing more, or no more room. False if it is over.
    fn advance(&mut self, buffer: &mut [u8], answers: &Answers) -> bool {
        match self.exchange(buffer, answers) {
            Ok(()) => false,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }

    /// Returns at the end of the stream.
    fn exchange(&mut self, buffer: &mut [u8], answers: &Answers) -> io::Result<()> {
        loop {
            while self.sent < self.unsent.len() {
                self.sent += self.stream.write(&self.unsent[self.sent..])?;
            }
            self.unsent.clear();
            self.sent = 0;

            if !self.readable {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = match self.stream.read(buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) => {
                    self.readable = false;
                    return Err(error);
                }
            };
            // Less than asked for means empty, and the next arrival is reported; but what followed a
            // hang-up was reported with it.
            if count < buffer.len() && !self.hung_up {
                self.readable = false;
            }
            let answer = answers.to(&buffer[..count], &mut self.partial);
            self.send(answer)?;
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let count = match self.stream.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            written => written?,
        };
        self.unsent.extend_from_slice(&bytes[count..]);
        Ok(())
    }
}
