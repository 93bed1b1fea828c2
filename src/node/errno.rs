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

    /// The number of a system's error: those of Windows Sockets, above 10000, and those of Windows
    /// that sockets meet.
    pub fn of_system(code: i32) -> i32 {
        match code {
            10013 => -4092,                     // EACCES
            10048 | 1227 => -4091,              // EADDRINUSE
            10049 => -4090,                     // EADDRNOTAVAIL
            10047 => -4089,                     // EAFNOSUPPORT
            10035 | 232 => EAGAIN,              // WSAEWOULDBLOCK, ERROR_NO_DATA
            10036 | 10037 => -4084,             // EALREADY
            10009 | 10038 | 6 => -4083,         // EBADF: no such socket any more
            10004 | 995 => -4081,               // ECANCELED
            10053 | 1236 => ECONNABORTED,       //
            10061 | 1225 => -4078,              // ECONNREFUSED
            10054 | 10052 | 64 => -4077,        // ECONNRESET
            10014 | 998 => -4074,               // EFAULT
            10065 | 1232 => -4073,              // EHOSTUNREACH
            10022 | 10046 | 87 | 122 => EINVAL, //
            10056 => -4069,                     // EISCONN
            10024 | 4 => -4066,                 // EMFILE
            10040 => -4065,                     // EMSGSIZE
            10050 => -4063,                     // ENETDOWN
            10051 | 1231 => -4062,              // ENETUNREACH
            10055 => -4060,                     // ENOBUFS
            8 | 14 => -4057,                    // ENOMEM
            10057 | 2250 => -4053,              // ENOTCONN
            10045 | 50 => ENOTSUP,              //
            5 | 1314 => -4048,                  // EPERM
            10058 => -4047,                     // EPIPE: the sending side is ended
            10043 => -4045,                     // EPROTONOSUPPORT
            10060 | 121 => -4039,               // ETIMEDOUT
            10042 => -4035,                     // ENOPROTOOPT
            10064 => -4031,                     // EHOSTDOWN
            10044 => -4025,                     // ESOCKTNOSUPPORT
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

/// The number of an error of a connection that stood. Windows knows two ways to lose one, which are
/// one elsewhere; libuv makes the same of them.
pub fn of_connection(error: &io::Error) -> i32 {
    if cfg!(windows) && error.kind() == io::ErrorKind::ConnectionAborted {
        return of(&io::Error::from_raw_os_error(10054)); // WSAECONNRESET
    }
    of(error)
}

/// The number that stands for a count of bytes or an error of a connection.
pub fn outcome(result: io::Result<usize>) -> i32 {
    match result {
        // The kernel moves less than 2 GiB at a time (`MAX_RW_COUNT`).
        Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
        Err(error) => of_connection(&error),
    }
}
