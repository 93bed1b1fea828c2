'use strict';

/**
 * A server that takes part: a program, and the mode it is started in.
 *
 * @typedef {object} EchoPeer
 * @property {string} name what `--peers` and the tables call it
 * @property {string} program a file in `servers`, or one of benchmark/peers: `epoll`, `tokio`, `io-uring`
 * @property {string} mode
 * @property {Record<string, string>} [env]
 *
 * What the load generator does, and to whom.
 *
 * @typedef {object} EchoScenario
 * @property {string} name
 * @property {string} description
 * @property {'message' | 'byte' | 'connection' | 'memory'} unit what the cost is counted by
 * @property {'traffic' | 'churn' | 'idle'} load what connections do
 * @property {number} connections open at a time
 * @property {number} size bytes of a message
 * @property {number} reply bytes of its answer
 * @property {number} depth messages in flight on a connection; 0 for a stream that never waits
 * @property {EchoPeer[]} peers the first is the one that the others are compared with
 */

const LOOP = { OXWIRE_DRIVER: 'loop' };
const TOKIO = { OXWIRE_DRIVER: 'tokio' };
const KB = 1024;

/**
 * Servers that do the same on each library; those in Rust show what the kernel alone takes.
 *
 * @param {string} mode
 * @returns {EchoPeer[]}
 */
function everywhere(mode) {
  return [
    { name: 'oxwire', program: 'oxwire.js', mode, env: LOOP },
    { name: 'oxwire-tokio', program: 'oxwire.js', mode, env: TOKIO },
    { name: 'turbo-net', program: 'turbo-net.js', mode },
    { name: 'node-net', program: 'node-net.js', mode },
    { name: 'epoll', program: 'epoll', mode },
    { name: 'tokio', program: 'tokio', mode },
  ];
}

const ECHO = everywhere('echo');

/** @type {EchoPeer} */
const POOL = { name: 'oxwire-pool', program: 'oxwire-pool.js', mode: 'echo', env: LOOP };
/** @type {EchoPeer} */
const STORE = { name: 'oxwire-als', program: 'oxwire.js', mode: 'echo-als', env: LOOP };

/** @type {EchoPeer} */
const PROMISES = {
  name: 'oxwire-promises',
  program: 'oxwire-promises.js',
  mode: 'echo',
  env: LOOP,
};

/** @type {EchoPeer[]} */
const REPLY = [
  ...everywhere('reply'),
  { name: 'node-net-cork', program: 'node-net.js', mode: 'reply-cork' },
];

/** Ways to send an answer that lies in two buffers. @type {EchoPeer[]} */
const TWO_BUFFERS = [
  { name: 'oxwire', program: 'oxwire.js', mode: 'writev', env: LOOP },
  { name: 'oxwire-concat', program: 'oxwire.js', mode: 'concat', env: LOOP },
  { name: 'oxwire-writes', program: 'oxwire.js', mode: 'writes', env: LOOP },
  { name: 'turbo-net', program: 'turbo-net.js', mode: 'writev' },
  { name: 'turbo-net-concat', program: 'turbo-net.js', mode: 'concat' },
  { name: 'turbo-net-writes', program: 'turbo-net.js', mode: 'writes' },
  { name: 'node-net', program: 'node-net.js', mode: 'writes' },
  { name: 'node-net-concat', program: 'node-net.js', mode: 'concat' },
  { name: 'node-net-cork', program: 'node-net.js', mode: 'writes-cork' },
];

/** Connections that are piped to themselves, and the echoes in JavaScript. @type {EchoPeer[]} */
const PIPE = [
  { name: 'oxwire-pipe', program: 'oxwire-pipe.js', mode: 'pipe', env: LOOP },
  { name: 'oxwire-splice', program: 'oxwire-pipe.js', mode: 'splice', env: LOOP },
  ...ECHO.filter(({ name }) => ['oxwire', 'turbo-net', 'node-net'].includes(name)),
];

/** What io_uring would bring. @type {EchoPeer[]} */
const URING = [
  { name: 'io-uring', program: 'io-uring', mode: 'echo' },
  ...ECHO.filter(({ name }) => name === 'epoll'),
];

/** @type {EchoPeer[]} */
const IDLE = [
  ECHO[0],
  POOL,
  ...ECHO.filter(({ name }) => ['turbo-net', 'node-net'].includes(name)),
];

/** @param {EchoPeer[]} more that come right after oxwire */
function echoAnd(...more) {
  return [ECHO[0], ...more, ...ECHO.slice(1)];
}

/**
 * @param {number} connections
 * @param {number} size
 * @param {EchoPeer[]} [peers]
 * @returns {EchoScenario}
 */
function pingPong(connections, size, peers = ECHO) {
  const each = connections > 1 ? ' on each' : '';
  return {
    name: `ping-pong-${connections}x${short(size)}`,
    description: `${count(connections)}, ${bytes(size)} messages, one in flight${each}, echo`,
    unit: 'message',
    load: 'traffic',
    connections,
    size,
    reply: size,
    depth: 1,
    peers,
  };
}

/**
 * @param {number} connections
 * @param {number} size
 * @param {EchoPeer[]} peers
 * @returns {EchoScenario}
 */
function stream(connections, size, peers) {
  return {
    ...pingPong(connections, size, peers),
    name: `stream-${connections}x${short(size)}`,
    description: `${count(connections)}, ${bytes(size)} messages without waiting, echo`,
    unit: 'byte',
    depth: 0,
  };
}

/**
 * @param {number} connections
 * @param {number} size
 * @param {number} depth
 * @returns {EchoScenario}
 */
function pipelined(connections, size, depth) {
  const each = connections > 1 ? ' on each' : '';
  return {
    ...pingPong(connections, size, REPLY),
    name: `pipelined-${connections}x${short(size)}`,
    description: `${count(connections)}, ${bytes(size)} messages, ${depth} in flight${each}, each answered by a write of its own`,
    depth,
  };
}

/**
 * @param {number} body
 * @returns {EchoScenario}
 */
function twoBuffers(body) {
  return {
    ...pingPong(10, 64, TWO_BUFFERS),
    name: `writev-10x${short(body)}`,
    description: `10 connections, 64 B messages, one in flight on each, each answered by a header of 16 B and a body of ${bytes(body)}`,
    reply: 16 + body,
  };
}

/**
 * @param {EchoScenario} scenario
 * @returns {EchoScenario}
 */
function piped(scenario) {
  return {
    ...scenario,
    name: `pipe-${scenario.name}`,
    description: scenario.description.replace(
      /echo$/,
      scenario.connections > 1 ? 'piped to themselves' : 'piped to itself',
    ),
    peers: PIPE,
  };
}

/**
 * @param {EchoScenario} scenario
 * @returns {EchoScenario}
 */
function inRing(scenario) {
  return { ...scenario, name: `uring-${scenario.name}`, peers: URING };
}

/** @type {EchoScenario[]} */
const SCENARIOS = [
  pingPong(1, 64),
  pingPong(10, 64),
  pingPong(100, 64, echoAnd(STORE, PROMISES)),
  pingPong(1000, 64, echoAnd(POOL)),
  pingPong(100, KB),
  pingPong(10, 256 * KB, echoAnd(POOL)),
  pingPong(100, 32 * KB, echoAnd(POOL)),
  stream(1, 64 * KB, echoAnd(POOL)),
  stream(100, 32 * KB, echoAnd(POOL)),
  pipelined(1, 64, 64),
  pipelined(10, 64, 64),
  pipelined(10, KB, 16),
  twoBuffers(KB),
  twoBuffers(64 * KB),
  piped(stream(1, 64 * KB, ECHO)),
  piped(pingPong(100, 64)),
  piped(pingPong(10, 256 * KB)),
  {
    ...pingPong(64, 64),
    name: 'churn-64',
    description: '64 connections at a time, each opened for one echo of 64 B and reset',
    unit: 'connection',
    load: 'churn',
  },
  {
    ...pingPong(5000, 64, IDLE),
    name: 'idle-5000',
    description: '5000 connections that are idle after one echo of 64 B',
    unit: 'memory',
    load: 'idle',
  },
  inRing(pingPong(1, 64)),
  inRing(pingPong(100, 64)),
  inRing(pingPong(100, 32 * KB)),
  inRing(stream(1, 64 * KB, ECHO)),
];

/** @param {number} connections */
function count(connections) {
  return connections === 1 ? '1 connection' : `${connections} connections`;
}

/** @param {number} size */
function bytes(size) {
  return size < KB ? `${size} B` : `${size / KB} KB`;
}

/** @param {number} size */
function short(size) {
  return size < KB ? `${size}` : `${size / KB}k`;
}

module.exports = { SCENARIOS };
