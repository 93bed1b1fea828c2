'use strict';

// What Linux tells of its TCP sockets (proc_net_tcp(5)).

const fs = require('fs');

const STATES = ['', 'ESTABLISHED', 'SYN_SENT', 'SYN_RECV', 'FIN_WAIT1', 'FIN_WAIT2', 'TIME_WAIT'];
const LISTEN = 0x0a;

/**
 * The IPv4 sockets of which either end has a port.
 *
 * @param {number} port
 */
function tcpSockets(port) {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  return fs
    .readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .filter((line) => line.includes(end))
    .map(parse);
}

/** @param {string} line */
function parse(line) {
  const [, local, remote, state, queues, timer] = line.trim().split(/\s+/);
  const number = (/** @type {string} */ text) => Number.parseInt(text, 16);
  const code = number(state);
  return {
    localPort: number(local.split(':')[1]),
    remotePort: number(remote.split(':')[1]),
    state: code === LISTEN ? 'LISTEN' : STATES[code],
    /** Bytes to be read; of a listener, connections to be accepted. */
    received: number(queues.split(':')[1]),
    /** Whether the next thing to happen by itself is a probe (or the end of one that lingers). */
    isProbed: number(timer.split(':')[0]) === 2,
    /** In how many seconds. */
    timer: number(timer.split(':')[1]) / 100,
  };
}

module.exports = { tcpSockets };
