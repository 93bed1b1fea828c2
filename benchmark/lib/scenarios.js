'use strict';

/**
 * A server that takes part: a file in `servers` and the mode it is started in.
 *
 * @typedef {object} Peer
 * @property {string} name what `--peers` and the tables call it
 * @property {string} file
 * @property {string} mode
 *
 * What the load generator does, and to whom.
 *
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string} description
 * @property {number} connections
 * @property {number} size bytes of a message
 * @property {number} depth messages in flight on a connection; 0 for a stream that never waits
 * @property {'message' | 'byte'} unit what the cost is counted by
 * @property {Peer[]} peers the first is the one that the others are compared with
 */

/** @type {Peer[]} */
const ECHO = [
  { name: 'oxwire', file: 'oxwire.js', mode: 'echo' },
  { name: 'turbo-net', file: 'turbo-net.js', mode: 'echo' },
  { name: 'node-net', file: 'node-net.js', mode: 'echo' },
];

/** @type {Peer[]} */
const REPLY = [
  { name: 'oxwire', file: 'oxwire.js', mode: 'reply' },
  { name: 'turbo-net', file: 'turbo-net.js', mode: 'reply' },
  { name: 'node-net', file: 'node-net.js', mode: 'reply' },
  { name: 'node-net-cork', file: 'node-net.js', mode: 'reply-cork' },
];

/** Connections that are piped to themselves, and the echoes in JavaScript. @type {Peer[]} */
const PIPE = [
  { name: 'oxwire-pipe', file: 'oxwire-pipe.js', mode: 'pipe' },
  { name: 'oxwire-splice', file: 'oxwire-pipe.js', mode: 'splice' },
  ...ECHO,
];

/** @type {Scenario[]} */
const SCENARIOS = [
  {
    name: 'ping-pong-1x64',
    description: '1 connection, 64 B messages, one in flight, echo',
    connections: 1,
    size: 64,
    depth: 1,
    unit: 'message',
    peers: ECHO,
  },
  {
    name: 'ping-pong-100x64',
    description: '100 connections, 64 B messages, one in flight on each, echo',
    connections: 100,
    size: 64,
    depth: 1,
    unit: 'message',
    peers: ECHO,
  },
  {
    name: 'stream-1x64k',
    description: '1 connection, 64 KB messages without waiting, echo',
    connections: 1,
    size: 64 * 1024,
    depth: 0,
    unit: 'byte',
    peers: ECHO,
  },
  {
    name: 'pipelined-1x64',
    description: '1 connection, 64 B messages, 64 in flight, each answered by a write of its own',
    connections: 1,
    size: 64,
    depth: 64,
    unit: 'message',
    peers: REPLY,
  },
  {
    name: 'pipelined-10x64',
    description:
      '10 connections, 64 B messages, 64 in flight on each, each answered by a write of its own',
    connections: 10,
    size: 64,
    depth: 64,
    unit: 'message',
    peers: REPLY,
  },
  {
    name: 'pipe-stream-1x64k',
    description: '1 connection, 64 KB messages without waiting, piped to itself',
    connections: 1,
    size: 64 * 1024,
    depth: 0,
    unit: 'byte',
    peers: PIPE,
  },
  {
    name: 'pipe-ping-pong-100x64',
    description: '100 connections, 64 B messages, one in flight on each, piped to themselves',
    connections: 100,
    size: 64,
    depth: 1,
    unit: 'message',
    peers: PIPE,
  },
];

/** Those that run when none is asked for. */
const DEFAULT_SCENARIOS = ['ping-pong-100x64', 'stream-1x64k', 'pipelined-1x64'];

module.exports = { SCENARIOS, DEFAULT_SCENARIOS };
