//! The command line.

/// Printed where the arguments make no sense.
pub const USAGE: &str = "Usage: peers epoll|tokio|io-uring PORT echo|reply SIZE\n";

/// What waits for sockets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Library {
    /// Nothing but the system calls.
    Epoll,
    /// tokio's runtime.
    Tokio,
    /// A ring of operations.
    #[cfg(feature = "io-uring")]
    IoUring,
}

/// What a message is answered with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Itself.
    Echo,
    /// A message that is always the same.
    Reply,
}

/// One server.
#[derive(Debug, PartialEq)]
pub struct Task {
    /// What it is made of.
    pub library: Library,
    /// Where it listens on 127.0.0.1.
    pub port: u16,
    /// What it does.
    pub mode: Mode,
    /// Bytes of a message.
    pub size: usize,
}

impl Task {
    /// Reads the arguments that follow the program's name.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let library = match arguments.next()?.as_str() {
            "epoll" => Library::Epoll,
            "tokio" => Library::Tokio,
            #[cfg(feature = "io-uring")]
            "io-uring" => Library::IoUring,
            _ => return None,
        };
        let port = arguments.next()?.parse().ok()?;
        let mode = match arguments.next()?.as_str() {
            "echo" => Mode::Echo,
            "reply" => Mode::Reply,
            _ => return None,
        };
        let size = arguments.next()?.parse().ok().filter(|size| (1..=1 << 24).contains(size))?;
        Some(Self { library, port, mode, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Task> {
        Task::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_line_names_library_port_mode_and_size() {
        let expected = Task { library: Library::Tokio, port: 7000, mode: Mode::Reply, size: 64 };
        assert_eq!(parse("tokio 7000 reply 64"), Some(expected));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["", "mio 7000 echo 64", "epoll 70000 echo 64", "epoll 7000 echo 0", "epoll 1"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
