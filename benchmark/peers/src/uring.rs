//! An experiment: what the server on epoll would gain from io_uring.
//!
//! One thread, one ring. A connection has one operation under way, a receive or a send, and the
//! kernel is entered once for all that has become due.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd};

use io_uring::squeue::Entry;
use io_uring::{IoUring, opcode, types};
use rustix::net::SendFlags;

use crate::answers::{Answers, BUFFER_BYTES};

const ENTRIES: u32 = 4096;
/// What stands for the listener where a connection has its index.
const LISTENING: u64 = u64::MAX;
/// Not to try before the socket is ready, since after an answer it never is.
const POLL_FIRST: u16 = 1;

/// Serves for ever.
///
/// # Errors
///
/// There is no io_uring, it cannot listen, or the kernel refuses what it is asked for.
pub fn serve(port: u16, answers: &Answers) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let server = Server::new(answers)?;
    println!("ready");
    server.run(&listener)
}

struct Server<'a> {
    ring: IoUring,
    answers: &'a Answers,
    /// By descriptor. A buffer stays where it is until the ring, which is dropped before, has left it.
    connections: Vec<Option<Box<Connection>>>,
}

struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// How long the answer is, and how much of it has left; without one it receives.
    answer: usize,
    sent: usize,
    partial: usize,
}

impl<'a> Server<'a> {
    fn new(answers: &'a Answers) -> io::Result<Self> {
        let ring = IoUring::builder().setup_single_issuer().setup_coop_taskrun().build(ENTRIES)?;
        Ok(Self { ring, answers, connections: Vec::new() })
    }

    fn run(mut self, listener: &TcpListener) -> io::Result<()> {
        self.accept(listener)?;
        let mut completed = Vec::new();
        loop {
            self.ring.submit_and_wait(1)?;
            completed.extend(self.ring.completion().map(|one| (one.user_data(), one.result())));
            for (key, result) in completed.drain(..) {
                if key == LISTENING {
                    // SAFETY: a successful accept returns a descriptor that nobody else has.
                    let stream = (result >= 0).then(|| unsafe { TcpStream::from_raw_fd(result) });
                    self.accept(listener)?;
                    if let Some(stream) = stream {
                        self.open(stream)?;
                    }
                } else {
                    self.advance(key as usize, result)?;
                }
            }
        }
    }

    fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
        let accept = opcode::Accept::new(types::Fd(listener.as_raw_fd()), address, length);
        // SAFETY: it names no memory.
        unsafe { self.submit(&accept.build().user_data(LISTENING)) }
    }

    fn open(&mut self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let index = stream.as_raw_fd() as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        let buffer = vec![0; BUFFER_BYTES];
        let connection = Connection { stream, buffer, answer: 0, sent: 0, partial: 0 };
        self.connections[index] = Some(Box::new(connection));
        self.go_on(index)
    }

    /// An operation has ended, and `result` is how many bytes it moved, 0 at the end, or an error.
    fn advance(&mut self, index: usize, result: i32) -> io::Result<()> {
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        if result <= 0 {
            self.connections[index] = None;
            return Ok(());
        }
        let count = result as usize;
        if connection.answer == 0 {
            let read = &connection.buffer[..count];
            connection.answer = self.answers.to(read, &mut connection.partial).len();
        } else {
            connection.sent += count;
        }
        if connection.sent == connection.answer {
            (connection.answer, connection.sent) = (0, 0);
        }
        self.go_on(index)
    }

    /// Begins the next operation of a connection that has none under way.
    fn go_on(&mut self, index: usize) -> io::Result<()> {
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        let socket = types::Fd(connection.stream.as_raw_fd());
        let operation = if connection.answer == 0 {
            let buffer = &mut connection.buffer;
            opcode::Recv::new(socket, buffer.as_mut_ptr(), buffer.len() as u32)
                .ioprio(POLL_FIRST)
                .build()
        } else {
            let answer = self.answers.of_length(&connection.buffer, connection.answer);
            let rest = &answer[connection.sent..];
            opcode::Send::new(socket, rest.as_ptr(), rest.len() as u32)
                .flags(SendFlags::NOSIGNAL.bits() as i32)
                .build()
        };
        // SAFETY: a connection is dropped, and its buffer used otherwise, only when its one operation
        // has ended; the answers outlive the ring.
        unsafe { self.submit(&operation.user_data(index as u64)) }
    }

    /// # Safety
    ///
    /// The memory that the operation names stays, and is left alone, until it has ended.
    unsafe fn submit(&mut self, operation: &Entry) -> io::Result<()> {
        // SAFETY: the caller's promise.
        while unsafe { self.ring.submission().push(operation) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }
}
