'use strict';

// A TCP proxy made of pipes, its upstream and its clients in one process: some seconds of traffic
// through it, a check of every byte that comes back, and what the pipes say has moved.
//
//   node examples/proxy.js
//   node examples/proxy.js --seconds 30 --splice

const { parseArgs } = require('node:util');
const { connect, createServer } = require('oxwire');

/** @typedef {import('oxwire').Connection} Connection */
/** @typedef {import('oxwire').PipeResult} PipeResult */

/**
 * The proxy: each client gets a connection to the upstream. From there on no JavaScript runs for it
 * until both sides have ended, or one was reset, which the other is told.
 *
 * @param {number} port of the upstream
 * @param {boolean} splice
 * @param {Tally} tally
 */
function createProxy(port, splice, tally) {
  return createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    upstream.on('error', () => {}); // It can't be reached: the pipe closes the client.
    client.pipe(upstream, { splice }, (error, result) => tally.add(error, result));
  });
}

/** The upstream: an echo, which is a connection that is piped to itself. */
function createUpstream() {
  return createServer((socket) => {
    socket.pipe(socket).catch((error) => fail(`upstream: ${error.message}`));
  });
}

/** What the pipes of the proxy have moved, and how they ended. */
class Tally {
  constructor() {
    this.forward = 0;
    this.backward = 0;
    this.ended = 0;
    this.broken = 0;
  }

  /**
   * @param {Error | null} error
   * @param {PipeResult | undefined} result
   */
  add(error, result) {
    const { forward, backward } = result ?? {};
    this.forward += forward?.bytes ?? 0;
    this.backward += backward?.bytes ?? 0;
    if (error === null && forward?.ended && backward?.ended) this.ended++;
    else this.broken++;
  }
}

/** The clients, and what each sends in a session. */
const TRAFFIC = [
  { clients: 10, size: 64 * 1024 },
  { clients: 2, size: 8 * 1024 * 1024 },
];

/** Where what a session sends can begin in the noise; a power of two. */
const PLACES = 1 << 20;
const noise = makeNoise(PLACES + Math.max(...TRAFFIC.map(({ size }) => size)));

/** Bytes without order, the same in each run. @param {number} length */
function makeNoise(length) {
  const words = new Uint32Array(length / 4);
  let word = 1;
  for (let i = 0; i < words.length; i++) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    words[i] = word;
  }
  return Buffer.from(words.buffer);
}

/** One session after the other: connects, sends, ends its side, and compares what comes back. */
class Client {
  /**
   * @param {number} number
   * @param {number} port
   * @param {number} size
   */
  constructor(number, port, size) {
    this.number = number;
    this.port = port;
    this.size = size;
    this.sessions = 0;
    this.bytes = 0;
    this.stopping = false;
    this.buffer = Buffer.allocUnsafeSlow(64 * 1024);
  }

  /** @param {() => void} ondone */
  run(ondone) {
    // Each session of each client begins elsewhere, so that the bytes of another are seen.
    const place = Math.imul(this.sessions * 997 + this.number + 1, 0x9e3779b1) & (PLACES - 1);
    let received = 0;
    const socket = connect(this.port, '127.0.0.1');
    socket.write(noise.subarray(place, place + this.size));
    socket.end();
    socket.on('error', (error) => fail(`client ${this.number}: ${error.message}`));
    socket.on('close', () => {
      this.sessions++;
      if (this.stopping) ondone();
      else this.run(ondone);
    });

    /** @type {import('oxwire').ReadCallback<Buffer>} */
    const onread = (error, buffer, count) => {
      if (error) fail(`client ${this.number}: ${error.message}`);
      const start = place + received;
      if (noise.compare(buffer, 0, count, start, start + count) !== 0) {
        fail(`client ${this.number}: wrong bytes came back, from byte ${received} on`);
      }
      received += count;
      this.bytes += count;
      if (count > 0) socket.read(buffer, onread);
      else if (received !== this.size) {
        fail(`client ${this.number}: the end came after ${received} bytes`);
      }
    };
    socket.read(this.buffer, onread);
  }
}

/** One line that says how it goes: rewritten on a terminal, else a line a second. */
class Display {
  /** @param {Client[]} clients */
  constructor(clients) {
    this.clients = clients;
    this.live = process.stdout.isTTY === true && process.env.TERM !== 'dumb';
    this.start = this.last = performance.now();
    this.seen = total(clients);
    this.peakRss = 0;
    this.timer = setInterval(() => this.show(), this.live ? 200 : 1000);
  }

  get seconds() {
    return (performance.now() - this.start) / 1000;
  }

  show() {
    const now = performance.now();
    const seconds = (now - this.last) / 1000;
    const { sessions, bytes } = total(this.clients);
    const rss = this.sampleRss();
    const line = [
      `${this.seconds.toFixed(1).padStart(5)} s`,
      `${gigabytes((bytes - this.seen.bytes) / seconds)}/s`.padStart(9),
      `${whole((sessions - this.seen.sessions) / seconds).padStart(7)} sessions/s`,
      `${whole(rss / 1e6)} MB RSS`,
    ].join('  ');
    this.last = now;
    this.seen = { sessions, bytes };
    const fitting = line.slice(0, (process.stdout.columns || 80) - 1);
    process.stdout.write(this.live ? `\r${fitting}\x1b[K` : `${line}\n`);
  }

  sampleRss() {
    const rss = process.memoryUsage.rss();
    this.peakRss = Math.max(this.peakRss, rss);
    return rss;
  }

  stop() {
    clearInterval(this.timer);
    this.sampleRss();
    if (this.live) process.stdout.write('\r\x1b[K');
  }
}

/** @param {Client[]} clients */
function total(clients) {
  let [sessions, bytes] = [0, 0];
  for (const client of clients) {
    sessions += client.sessions;
    bytes += client.bytes;
  }
  return { sessions, bytes };
}

/** @param {number} bytes */
const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(2)} GB`;
/** @param {number} count */
const whole = (count) => Math.round(count).toLocaleString('en');

/**
 * @param {Client[]} clients
 * @param {Tally} tally
 * @param {Display} display
 */
function printSummary(clients, { forward, backward, ended, broken }, { seconds, peakRss }) {
  const { sessions, bytes } = total(clients);
  if (forward !== bytes || backward !== bytes || ended !== sessions) {
    fail(`the pipes tell of ${forward} and ${backward} bytes, and the clients of ${bytes}`);
  }
  console.log(`
${clients.length} clients, ${seconds.toFixed(1)} s: every byte came back as it was sent.

  sessions  ${whole(sessions)}, ${whole(sessions / seconds)} a second
  peak RSS  ${whole(peakRss / 1e6)} MB

What the pipes of the proxy say:

  forward   ${gigabytes(forward)}, ${gigabytes(forward / seconds)}/s
  backward  ${gigabytes(backward)}, ${gigabytes(backward / seconds)}/s
  ended     ${whole(ended)} on both sides, ${whole(broken)} otherwise`);
}

/** @param {string} reason @returns {never} */
function fail(reason) {
  console.error(`\nerror: ${reason}`);
  process.exit(1);
}

/** How long to send, and how, from the command line. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        seconds: { type: 'string', default: '5' },
        splice: { type: 'boolean', default: false },
      },
    });
    const seconds = Number(values.seconds);
    if (seconds > 0 && seconds <= 86400) return { seconds, splice: Boolean(values.splice) };
    throw new RangeError(`--seconds takes a number above 0, and not ${values.seconds}`);
  } catch (error) {
    return fail(/** @type {Error} */ (error).message);
  }
}

/**
 * Has sessions for some seconds, waits for the last ones, and closes everything: the process ends
 * because nothing is left to do.
 *
 * @param {number} port of the proxy
 * @param {number} seconds
 * @param {Tally} tally
 * @param {() => void} closeServers
 */
function run(port, seconds, tally, closeServers) {
  const sizes = TRAFFIC.flatMap(({ clients, size }) => new Array(clients).fill(size));
  const clients = sizes.map((size, number) => new Client(number, port, size));
  const display = new Display(clients);
  const timer = setTimeout(stop, seconds * 1000);
  process.once('SIGINT', stop);

  let running = clients.length;
  for (const client of clients) {
    client.run(() => {
      if (--running > 0) return;
      closeServers();
      display.stop();
    });
  }
  // The pipes of the last sessions are told of their end as well before nothing is left to do.
  process.once('beforeExit', () => printSummary(clients, tally, display));

  function stop() {
    clearTimeout(timer);
    for (const client of clients) client.stopping = true;
    const late = () => fail('not everything came back within 5 s');
    setTimeout(late, 5000).unref();
  }
}

const { seconds, splice } = readOptions();
const tally = new Tally();
const upstream = createUpstream();
upstream.listen(0, '127.0.0.1', () => {
  const proxy = createProxy(upstream.address().port, splice, tally);
  proxy.listen(0, '127.0.0.1', () => {
    const { address, port } = proxy.address();
    const how = splice ? ', by splice' : '';
    console.log(`proxy on ${address}:${port}${how}, ${seconds} s of traffic\n`);
    run(port, seconds, tally, () => {
      proxy.close();
      upstream.close();
    });
  });
});
