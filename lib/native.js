'use strict';

// The native half, with the types that the generated binding.d.ts can't know: functions of
// src/node/sockets.rs are registered by hand, for speed.

const manifest = require('../package.json');
const errors = require('./errors.js');

const binding = load();
const version = typeof binding.version === 'function' ? binding.version() : undefined;
if (version !== manifest.version) throw errors.otherAddon(manifest.version, version);

function load() {
  try {
    return require('../binding.js');
  } catch (error) {
    throw errors.noAddon(manifest, reasonOf(/** @type {Error} */ (error)));
  }
}

/**
 * Why an addon that is there did not load. The loader tries several and gives a chain of copies of
 * their errors, which have no codes; those that were not there say no more than that.
 *
 * @param {Error | undefined} error of the last attempt, its cause of the one before
 * @returns {Error | undefined}
 */
function reasonOf(error) {
  const nothing = /^(Cannot find |Unsupported )/;
  while (error && nothing.test(error.message)) {
    error = /** @type {Error | undefined} */ (error.cause);
  }
  return error;
}

/**
 * One reactor in this environment. Ids, counts and errors are numbers; negative is an error: one of
 * a system as Node numbers it, or BUFFER_GONE. `keepAlive` is in seconds: 0 leaves the time to the
 * system, below 0 there are no probes.
 *
 * @typedef {object} NativeReactor
 * @property {(address: string, port: number, noDelay: boolean, keepAlive: number, localAddress: string | undefined, localPort: number) => number} connect
 *   BIND is added to an error of bind
 * @property {(id: number) => number} finishConnect 1 connected, 0 under way
 * @property {(address: string, port: number, backlog: number, ipv6Only: boolean, reusePort: boolean, noDelay: boolean, keepAlive: number) => number} listen
 * @property {(id: number) => number} accept
 * @property {(id: number, buffer: Uint8Array) => number} recv
 * @property {(id: number) => number} atEnd 1 when nothing but the end is left to receive
 * @property {(id: number, buffer: Uint8Array, start: number, end: number) => number} send
 * @property {() => number} sendStage sends what is staged, and sets its length to 0 before
 * @property {(id: number, buffers: Uint8Array[], lengths: number[], first: number, skip: number) => number} sendv
 * @property {(id: number) => number} shutdown
 * @property {(id: number, noDelay: boolean) => number} setNoDelay
 * @property {(id: number, keepAlive: number) => number} setKeepAlive
 * @property {(microseconds: number) => void} setBusyPoll
 * @property {(first: number, second: number, splice: boolean) => number} pipe below 0 for the second:
 *   the first is piped to itself
 * @property {(id: number) => PipeState | undefined} pipeState by the first socket
 * @property {(id: number) => number} close
 * @property {(id: number) => number} reset closes, and tells the peer that bytes were lost
 * @property {(id: number, peer: boolean) => import('../index.js').AddressInfo | undefined} address
 * @property {() => void} schedule asks for a round: in the event loop, in its next turn; else soon
 * @property {() => void} round has a round now
 * @property {(keep: boolean) => void} keepAlive
 * @property {() => Record<'accept' | 'recv' | 'send' | 'epollCtl' | 'epollWait' | 'wakeups' | 'entries', number>} counters
 */

/**
 * @typedef {object} PipeState
 * @property {{ bytes: number, ended: boolean }} forward
 * @property {{ bytes: number, ended: boolean }} backward
 * @property {number} idle how long nothing has moved, in milliseconds
 * @property {boolean} [failedBackward] which way failed, if one did
 * @property {string} [syscall]
 * @property {number} [code]
 */

/**
 * @typedef {object} Native
 * @property {() => string} version
 * @property {(shared: Uint8Array, dispatch: (events: number) => number, receiver: object, inLoop: boolean) => NativeReactor | number} openReactor
 * @property {number} EAGAIN
 * @property {number} ECONNABORTED
 * @property {number} ENOSYS there is no such driver here
 * @property {number} BIND
 * @property {number} BUFFER_GONE the buffer was detached, or became too short, while it was lent
 * @property {number} INDEX_MASK the bits of an id that say where its socket is kept
 * @property {number} RING where the ring begins in the shared memory, in 32-bit words
 * @property {number} MAX_RECV how many bytes are received at once, at most
 * @property {number} STAGE where the write stage begins in the shared memory, in bytes
 * @property {number} SHARED_LENGTH how long the shared memory is, in bytes
 */

module.exports = /** @type {Native} */ (/** @type {unknown} */ (binding));
