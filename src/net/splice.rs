//! Bytes between two connections that never leave the kernel: `splice(2)` of Linux, through a pipe.

use std::io;
use std::mem::MaybeUninit;

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::task::coop::consume_budget;

use super::pipe::{Call, Way, would_block};

/// How much the pipe between holds, in bytes, where the system allows as much.
const CAPACITY: usize = 256 * 1024;

const FLAGS: SpliceFlags = SpliceFlags::NONBLOCK.union(SpliceFlags::MOVE);

/// Moves what comes from `from` to `to`, and counts it, as long as the system can. What comes then,
/// and always the end, is left to who receives it.
pub(super) async fn flow(
    from: &TcpStream,
    to: &TcpStream,
    way: &Way,
) -> Result<(), (Call, io::Error)> {
    // Without descriptors it goes the other way, which takes none.
    let Ok((out, into)) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC) else {
        return Ok(());
    };
    let _ = fcntl_setpipe_size(&into, CAPACITY);
    let fill = || Ok(splice(from, None, &into, None, CAPACITY, FLAGS)?);
    loop {
        from.readable().await.map_err(|error| (Call::Read, error))?;
        let filled = from.try_io(Interest::READABLE, || match fill() {
            Err(error) if would_block(&error) && has_bytes(from) => match fill() {
                // It does not get past a byte out of band, and takes one for the end.
                Err(error) if would_block(&error) => Ok(0),
                others => others,
            },
            others => others,
        });
        let mut left = match filled {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if would_block(&error) => continue,
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Ok(()),
            Err(error) => return Err((Call::Read, error)),
        };
        while left > 0 {
            to.writable().await.map_err(|error| (Call::Write, error))?;
            match to.try_io(Interest::WRITABLE, || Ok(splice(&out, None, to, None, left, FLAGS)?)) {
                Ok(0) => return Err((Call::Write, io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    way.count(count);
                    left = left.saturating_sub(count);
                }
                Err(error) if would_block(&error) => {}
                Err(error) => return Err((Call::Write, error)),
            }
        }
        consume_budget().await;
    }
}

/// Whether there are bytes to receive.
fn has_bytes(stream: &TcpStream) -> bool {
    SockRef::from(stream).peek(&mut [MaybeUninit::uninit()]).is_ok_and(|count| count > 0)
}
