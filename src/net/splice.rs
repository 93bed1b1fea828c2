//! Bytes between two connections that never leave the kernel: `splice(2)` of Linux, through a pipe.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::task::coop::consume_budget;

use super::pipe::{Call, would_block};

/// How much the pipe between holds, in bytes, where the system allows as much.
const CAPACITY: usize = 256 * 1024;

/// Moves all that comes from `from` until the end to `to`, and counts it. `false` where the system
/// can't do that; nothing was moved then.
pub(super) async fn flow(
    from: &TcpStream,
    to: &TcpStream,
    moved: &AtomicU64,
) -> Result<bool, (Call, io::Error)> {
    // Without descriptors it goes the other way, which takes none.
    let Ok((out, into)) = pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC) else {
        return Ok(false);
    };
    let _ = fcntl_setpipe_size(&into, CAPACITY);
    let flags = SpliceFlags::NONBLOCK | SpliceFlags::MOVE;
    let mut begun = false;
    loop {
        from.readable().await.map_err(|error| (Call::Read, error))?;
        let mut left = match from
            .try_io(Interest::READABLE, || Ok(splice(from, None, &into, None, CAPACITY, flags)?))
        {
            Ok(0) => return Ok(true),
            Ok(count) => count,
            Err(error) if would_block(&error) => continue,
            Err(error) if !begun && error.kind() == io::ErrorKind::InvalidInput => {
                return Ok(false);
            }
            Err(error) => return Err((Call::Read, error)),
        };
        begun = true;
        while left > 0 {
            to.writable().await.map_err(|error| (Call::Write, error))?;
            match to.try_io(Interest::WRITABLE, || Ok(splice(&out, None, to, None, left, flags)?)) {
                Ok(0) => return Err((Call::Write, io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    moved.fetch_add(count as u64, Ordering::Relaxed);
                    left = left.saturating_sub(count);
                }
                Err(error) if would_block(&error) => {}
                Err(error) => return Err((Call::Write, error)),
            }
        }
        consume_budget().await;
    }
}
