//! Errors as numbers: those of Node on this system (`util.getSystemErrorMap`).

use std::io;

/// The result of a call on a buffer whose memory was detached, or became too short, after it was
/// handed over. No error of a system has this value.
pub const BUFFER_GONE: i32 = i32::MIN;

/// What is added to an error of `connect` that came from `bind`. Errors are above it.
pub const BIND: i32 = -0x10000;

#[cfg(unix)]
mod numbers {
    pub const EAGAIN: i32 = -libc::EAGAIN;
    pub const ECONNABORTED: i32 = -libc::ECONNABORTED;
    pub const EINVAL: i32 = -libc::EINVAL;
    pub const EIO: i32 = -libc::EIO;
    pub const ENOSYS: i32 = -libc::ENOSYS;
    pub const ENOTSUP: i32 = -libc::ENOTSUP;

    /// The number of a system's error.
    pub fn of_system(code: i32) -> i32 {
        -code
    }
}

/// Where the system has other numbers, libuv has its own (`uv/errno.h`).
#[cfg(windows)]
mod numbers {
    pub const EAGAIN: i32 = -4088;
    pub const ECONNABORTED: i32 = -4079;
    pub const EINVAL: i32 = -4071;
    pub const EIO: i32 = -4070;
    pub const ENOSYS: i32 = -4054;
    pub const ENOTSUP: i32 = -4049;
    const UNKNOWN: i32 = -4094;

    /// The number of a system's error: those of Windows Sockets, and the few others that they meet.
    pub fn of_system(code: i32) -> i32 {
        match code {
            10004 => -4072,               // EINTR
            10009 | 10038 => -4083,       // EBADF: no such socket any more
            5 | 10013 => -4092,           // EACCES
            10014 => -4074,               // EFAULT
            87 | 10022 => EINVAL,         //
            10024 => -4066,               // EMFILE
            10035 => EAGAIN,              // WSAEWOULDBLOCK
            10036 | 10037 => -4084,       // EALREADY
            10040 => -4065,               // EMSGSIZE
            10042 => -4035,               // ENOPROTOOPT
            10043 => -4045,               // EPROTONOSUPPORT
            10045 => ENOTSUP,             //
            10047 => -4089,               // EAFNOSUPPORT
            10048 => -4091,               // EADDRINUSE
            10049 => -4090,               // EADDRNOTAVAIL
            10050 => -4063,               // ENETDOWN
            10051 | 1231 => -4062,        // ENETUNREACH
            10053 | 1236 => ECONNABORTED, //
            10054 | 64 | 10052 => -4077,  // ECONNRESET
            8 | 14 => -4057,              // ENOMEM
            10055 => -4060,               // ENOBUFS
            10056 => -4069,               // EISCONN
            10057 => -4053,               // ENOTCONN
            10058 => -4047,               // EPIPE: the sending side is ended
            121 | 10060 => -4039,         // ETIMEDOUT
            1225 | 10061 => -4078,        // ECONNREFUSED
            10065 | 1232 => -4073,        // EHOSTUNREACH
            _ => UNKNOWN,
        }
    }
}

pub use numbers::*;

/// The number of an error.
pub fn of(error: &io::Error) -> i32 {
    match (error.raw_os_error(), error.kind()) {
        (Some(code), _) => of_system(code),
        (None, io::ErrorKind::InvalidInput) => EINVAL,
        (None, io::ErrorKind::Unsupported) => ENOTSUP,
        (None, _) => EIO,
    }
}

/// The number that stands for a count of bytes or an error.
pub fn outcome(result: io::Result<usize>) -> i32 {
    match result {
        // The kernel moves less than 2 GiB at a time (`MAX_RW_COUNT`).
        Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
        Err(error) => of(&error),
    }
}
