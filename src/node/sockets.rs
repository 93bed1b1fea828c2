//! The functions that JavaScript calls on a reactor.
//!
//! Each is one or no system call. Arguments are an id, a buffer and integers; the result is a
//! number: a count or an id, or negative for an error.

use std::ffi::{CStr, c_void};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::time::Duration;

use napi::sys;

use super::environment::{Environment, Layout};
use super::errno::{self, BIND, BUFFER_GONE, outcome};
use super::raw::{self, Argument, Callback};
use crate::net::{
    Call, ConnectError, Id, ListenOptions, Reactor, Socket, SocketOptions, parse_address,
};

/// How many slices one `sendmsg` takes (`IOV_MAX`, 1024 on every system that Node supports).
const MAX_SLICES: usize = 1024;

/// What `open` gives an object with these functions.
const FUNCTIONS: [(&CStr, Callback); 22] = [
    (c"connect", connect),
    (c"finishConnect", finish_connect),
    (c"listen", listen),
    (c"accept", accept),
    (c"recv", recv),
    (c"atEnd", at_end),
    (c"send", send),
    (c"sendStage", send_stage),
    (c"sendv", sendv),
    (c"shutdown", shutdown),
    (c"setNoDelay", set_no_delay),
    (c"setKeepAlive", set_keep_alive),
    (c"setBusyPoll", set_busy_poll),
    (c"pipe", pipe),
    (c"pipeState", pipe_state),
    (c"close", close),
    (c"reset", reset),
    (c"address", address),
    (c"schedule", schedule),
    (c"round", round),
    (c"keepAlive", keep_alive),
    (c"counters", counters),
];

/// Adds to the addon's exports what JavaScript needs to open a reactor.
pub fn export(env: sys::napi_env, exports: sys::napi_value) {
    raw::set_function(env, exports, c"openReactor", open_reactor, std::ptr::null_mut());
    for (name, value) in [
        (c"EAGAIN", errno::EAGAIN),
        (c"ECONNABORTED", errno::ECONNABORTED),
        (c"ENOSYS", errno::ENOSYS),
        (c"BUFFER_GONE", BUFFER_GONE),
        (c"BIND", BIND),
        (c"INDEX_MASK", Id::MAX_INDEX as i32),
        (c"MAX_RECV", Socket::MAX_RECV as i32),
        (c"RING", Layout::RING as i32),
        (c"STAGE", Layout::STAGE as i32),
        (c"SHARED_LENGTH", Layout::LENGTH as i32),
    ] {
        raw::set(env, exports, name, raw::number(env, value));
    }
}

/// `openReactor(shared, dispatch, receiver, inLoop)`: an object with [`FUNCTIONS`], or an error
/// number.
unsafe extern "C" fn open_reactor(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: `env` and `info` are those of this call.
    unsafe {
        raw::call(env, info, |_, [shared, dispatch, receiver, in_loop]| {
            match Environment::open(env, shared, dispatch, receiver, in_loop.boolean()) {
                Ok(environment) => {
                    let object = raw::object(env);
                    for (name, callback) in FUNCTIONS {
                        raw::set_function(env, object, name, callback, environment.cast());
                    }
                    object
                }
                Err(code) => raw::number(env, code),
            }
        })
    }
}

/// Runs `body` on the environment that a function was created for.
///
/// # Safety
///
/// `env` and `info` are those of a call of one of [`FUNCTIONS`].
unsafe fn on_environment<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(&Environment, [Argument; N]) -> sys::napi_value,
) -> sys::napi_value {
    // SAFETY: the caller's promise. `data` is the pointer that `open_reactor` gave; the environment
    // is freed only when no JavaScript can call any more.
    unsafe {
        raw::call(env, info, |data: *mut c_void, arguments| {
            body(&*data.cast::<Environment>(), arguments)
        })
    }
}

/// Runs `body` on the reactor of a function; its result becomes a number.
///
/// # Safety
///
/// That of [`on_environment`].
unsafe fn on_reactor<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(&mut Reactor, [Argument; N]) -> i32,
) -> sys::napi_value {
    // SAFETY: the caller's promise.
    unsafe {
        on_environment(env, info, |environment, arguments| {
            raw::number(env, body(&mut environment.reactor.borrow_mut(), arguments))
        })
    }
}

fn id_of(argument: Argument) -> Id {
    Id::from_bits(argument.int().unwrap_or(-1))
}

fn id_or_error(result: io::Result<Id>) -> i32 {
    result.map_or_else(|error| errno::of(&error), Id::bits)
}

fn done(result: io::Result<()>) -> i32 {
    outcome(result.map(|()| 0))
}

fn address_of(host: Argument, port: Argument) -> Result<SocketAddr, i32> {
    let port = port.index().and_then(|port| u16::try_from(port).ok());
    match (host.short_string(), port) {
        (Some(host), Some(port)) => parse_address(&host, port).map_err(|error| errno::of(&error)),
        _ => Err(errno::EINVAL),
    }
}

/// The options of a socket: a boolean, and seconds, below 0 for none.
fn socket_options(no_delay: Argument, keep_alive: Argument) -> SocketOptions {
    SocketOptions { no_delay: no_delay.boolean(), keep_alive: seconds(keep_alive) }
}

fn seconds(argument: Argument) -> Option<Duration> {
    argument.index().map(|seconds| Duration::from_secs(seconds as u64))
}

/// `connect(address, port, noDelay, keepAlive, localAddress, localPort)`: the id of a socket that
/// becomes writable when it is connected or has failed. Without a local address, the system chooses
/// it. [`BIND`] is added to an error of `bind`.
unsafe extern "C" fn connect(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [host, port, no_delay, keep_alive, local, local_port]| {
            let address = match address_of(host, port) {
                Ok(address) => address,
                Err(code) => return code,
            };
            let local = match local.short_string().map(|_| address_of(local, local_port)) {
                None => None,
                Some(Ok(local)) => Some(local),
                Some(Err(code)) => return BIND + code,
            };
            match reactor.connect(address, local, socket_options(no_delay, keep_alive)) {
                Ok(id) => id.bits(),
                Err(ConnectError::Connect(error)) => errno::of(&error),
                Err(ConnectError::Bind(error)) => BIND + errno::of(&error),
            }
        })
    }
}

/// `finishConnect(id)`: 1 when connected, 0 while still under way.
unsafe extern "C" fn finish_connect(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [id]| {
            let connected = reactor.socket(id_of(id)).and_then(|socket| socket.finish_connect());
            outcome(connected.map(usize::from))
        })
    }
}

/// `listen(address, port, backlog, ipv6Only, reusePort, noDelay, keepAlive)`: the id of a listener;
/// the last two are for the connections that it accepts.
unsafe extern "C" fn listen(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, arguments| {
            let [host, port, backlog, ipv6_only, reuse_port, no_delay, keep_alive] = arguments;
            let address = match address_of(host, port) {
                Ok(address) => address,
                Err(code) => return code,
            };
            let options = ListenOptions {
                backlog: backlog.int().unwrap_or(ListenOptions::default().backlog),
                ipv6_only: ipv6_only.boolean(),
                reuse_port: reuse_port.boolean(),
                socket: socket_options(no_delay, keep_alive),
            };
            id_or_error(reactor.listen(address, options))
        })
    }
}

/// `accept(id)`: the id of the connection.
unsafe extern "C" fn accept(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe { on_reactor(env, info, |reactor, [id]| id_or_error(reactor.accept(id_of(id)))) }
}

/// `recv(id, buffer)`: how many bytes the buffer got, 0 at the end.
unsafe extern "C" fn recv(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`. The slice goes to the kernel and is gone on return.
    unsafe {
        on_reactor(env, info, |reactor, [id, buffer]| match buffer.bytes_mut() {
            Some(bytes) if !bytes.is_empty() => outcome(reactor.recv(id_of(id), bytes)),
            _ => BUFFER_GONE,
        })
    }
}

/// `atEnd(id)`: 1 when the peer has ended its side and all of its bytes were received, else 0.
unsafe extern "C" fn at_end(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [id]| {
            let at_end = reactor.socket(id_of(id)).and_then(|socket| socket.at_end());
            outcome(at_end.map(usize::from))
        })
    }
}

/// `send(id, buffer, start, end)`: how many of the buffer's bytes from `start` to `end` the kernel
/// took.
unsafe extern "C" fn send(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`. The slice goes to the kernel and is gone on return.
    unsafe {
        on_reactor(env, info, |reactor, [id, buffer, start, end]| {
            let (Some(start), Some(end)) = (start.index(), end.index()) else {
                return errno::EINVAL;
            };
            match buffer.bytes().and_then(|bytes| bytes.get(start..end)) {
                Some(bytes) => outcome(reactor.send(id_of(id), bytes)),
                None => BUFFER_GONE,
            }
        })
    }
}

/// `sendStage()`: how many of the staged bytes the kernel took. The stage is empty afterwards.
unsafe extern "C" fn send_stage(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, []| {
            raw::number(env, outcome(environment.send_stage()))
        })
    }
}

/// `sendv(id, buffers, lengths, first, skip)`: how many bytes the kernel took of the first
/// `lengths[i]` bytes of each `buffers[i]`, from buffer `first` on and without the `skip` bytes at
/// its start. At most [`MAX_SLICES`] buffers are looked at.
unsafe extern "C" fn sendv(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`. Reading an element may run JavaScript, so all are read
    // before the first slice is made; the slices go to the kernel and are gone on return.
    unsafe {
        on_reactor(env, info, |reactor, [id, buffers, lengths, first, skip]| {
            let (Some(count), Some(first), Some(skip)) =
                (buffers.array_length(), first.int(), skip.index())
            else {
                return errno::EINVAL;
            };
            let first = u32::try_from(first).unwrap_or(0);
            let parts = (first..count).take(MAX_SLICES).map(|index| {
                let length = lengths.element(index)?.index()?;
                let start = if index == first { skip } else { 0 };
                Some((buffers.element(index)?, start..length))
            });
            let Some(parts) = parts.collect::<Option<Vec<_>>>() else { return errno::EINVAL };
            let slices = parts
                .into_iter()
                .map(|(buffer, range)| Some(IoSlice::new(buffer.bytes()?.get(range)?)));
            let Some(slices) = slices.collect::<Option<Vec<_>>>() else { return BUFFER_GONE };
            outcome(reactor.send_vectored(id_of(id), &slices))
        })
    }
}

/// `shutdown(id)`: 0.
unsafe extern "C" fn shutdown(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [id]| {
            done(reactor.socket(id_of(id)).and_then(|socket| socket.shutdown()))
        })
    }
}

/// `setNoDelay(id, noDelay)`: 0.
unsafe extern "C" fn set_no_delay(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [id, no_delay]| {
            done(reactor.set_no_delay(id_of(id), no_delay.boolean()))
        })
    }
}

/// `setKeepAlive(id, seconds)`: 0. Below 0 seconds there are no probes, with 0 the system chooses.
unsafe extern "C" fn set_keep_alive(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [id, keep_alive]| {
            done(reactor.set_keep_alive(id_of(id), seconds(keep_alive)))
        })
    }
}

/// `pipe(first, second, splice)`: 0. Without a second socket the first is piped to itself.
unsafe extern "C" fn pipe(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_reactor(env, info, |reactor, [first, second, splice]| {
            let second = second.int().filter(|id| *id >= 0).map(Id::from_bits);
            done(reactor.pipe(id_of(first), second, splice.boolean()))
        })
    }
}

/// `pipeState(id)`: how far the pipe is that the socket is the first of, or `undefined`.
unsafe extern "C" fn pipe_state(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, [id]| {
            let mut reactor = environment.reactor.borrow_mut();
            let Ok(pipe) = reactor.pipe_of(id_of(id)) else { return std::ptr::null_mut() };
            let object = raw::object(env);
            for (name, way) in [(c"forward", pipe.forward()), (c"backward", pipe.backward())] {
                let state = raw::object(env);
                raw::set(env, state, c"bytes", raw::count(env, way.bytes()));
                raw::set(env, state, c"ended", raw::boolean(env, way.ended()));
                raw::set(env, object, name, state);
            }
            let idle = u64::try_from(pipe.idle().as_millis()).unwrap_or(u64::MAX);
            raw::set(env, object, c"idle", raw::count(env, idle));
            if let Some(failure) = pipe.failure() {
                let syscall = match failure.call {
                    Call::Read => "read",
                    Call::Write => "write",
                    Call::Shutdown => "shutdown",
                };
                raw::set(env, object, c"failedBackward", raw::boolean(env, failure.backward));
                raw::set(env, object, c"syscall", raw::string(env, syscall));
                let code = errno::of_connection(&failure.error);
                raw::set(env, object, c"code", raw::number(env, code));
            }
            object
        })
    }
}

/// `close(id)`: 0.
unsafe extern "C" fn close(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe { on_reactor(env, info, |reactor, [id]| done(reactor.close(id_of(id)))) }
}

/// `reset(id)`: 0. As `close`, but what was not sent is dropped, and the peer is told of it.
unsafe extern "C" fn reset(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe { on_reactor(env, info, |reactor, [id]| done(reactor.reset(id_of(id)))) }
}

/// `address(id, peer)`: `{ address, family, port }` of this end or of the peer's, or `undefined`
/// where it is not known.
unsafe extern "C" fn address(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, [id, peer]| {
            let mut reactor = environment.reactor.borrow_mut();
            let address = if peer.boolean() {
                reactor.socket(id_of(id)).ok().and_then(|socket| socket.peer_address())
            } else {
                reactor.local_address(id_of(id)).ok()
            };
            let Some(address) = address else { return std::ptr::null_mut() };
            let object = raw::object(env);
            let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
            raw::set(env, object, c"address", raw::string(env, &address.ip().to_string()));
            raw::set(env, object, c"family", raw::string(env, family));
            raw::set(env, object, c"port", raw::number(env, address.port().into()));
            object
        })
    }
}

/// `schedule()`: asks for a round in the next turn.
unsafe extern "C" fn schedule(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, []| {
            environment.schedule();
            std::ptr::null_mut()
        })
    }
}

/// `round()`: has the round now.
unsafe extern "C" fn round(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, []| {
            environment.round();
            std::ptr::null_mut()
        })
    }
}

/// `keepAlive(keep)`: whether sockets keep the process alive.
unsafe extern "C" fn keep_alive(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, [keep]| {
            environment.keep_alive(keep.boolean());
            std::ptr::null_mut()
        })
    }
}

/// `setBusyPoll(microseconds)`: for how long to ask again what is ready, instead of sleeping.
unsafe extern "C" fn set_busy_poll(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, [microseconds]| {
            let time = Duration::from_micros(microseconds.index().unwrap_or(0) as u64);
            environment.set_busy_poll(time);
            std::ptr::null_mut()
        })
    }
}

/// `counters()`: how often each costly thing was done, by name.
unsafe extern "C" fn counters(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    // SAFETY: a call of one of `FUNCTIONS`.
    unsafe {
        on_environment(env, info, |environment, []| {
            let counters = environment.reactor.borrow().counters();
            let object = raw::object(env);
            for (name, value) in [
                (c"accept", counters.accept),
                (c"recv", counters.recv),
                (c"send", counters.send),
                (c"epollCtl", counters.epoll_ctl),
                (c"epollWait", environment.waits()),
                (c"wakeups", environment.wakeups()),
                (c"entries", environment.entries()),
            ] {
                raw::set(env, object, name, raw::count(env, value));
            }
            object
        })
    }
}
