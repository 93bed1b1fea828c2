'use strict';

// An echo server and its clients in one process: some seconds of real traffic, and a check of every
// byte that comes back.
//
//   npm start
//   node examples/echo.js --seconds 30

const { parseArgs } = require('node:util');
const { connect, counters, createServer } = require('oxwire');

/** @typedef {import('oxwire').Connection} Connection */

/**
 * The server: reads, writes what was read, and reads again once that is written. It needs one
 * buffer a connection.
 *
 * @param {Connection} socket
 */
function echo(socket) {
  const buffer = Buffer.allocUnsafeSlow(64 * 1024);
  socket.read(buffer, onread);

  /** @type {import('oxwire').ReadCallback} */
  function onread(error, buffer, bytesRead) {
    if (error || bytesRead === 0) socket.close();
    else socket.write(buffer, bytesRead, onwrite);
  }

  /** @type {import('oxwire').WriteCallback} */
  function onwrite(error) {
    if (!error) socket.read(buffer, onread);
  }
}

/** What the clients send: bytes of a message, and how many of them are on their way at a time. */
const TRAFFIC = [
  { connections: 20, size: 64, depth: 1 },
  { connections: 2, size: 256 * 1024, depth: 4 },
];

/** Where a message can begin in the noise; a power of two. */
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

/**
 * Where in the noise a message begins. Every message of every client begins elsewhere, so that a
 * byte that is lost, doubled, or another's is seen.
 *
 * @param {number} client
 * @param {number} message
 */
function placeOf(client, message) {
  let hash = Math.imul(client + 1, 0x9e3779b1) ^ Math.imul(message + 1, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) & (PLACES - 1);
}

/** Sends messages, one for each that came back, and compares what comes back with what was sent. */
class Client {
  /**
   * @param {number} number
   * @param {number} port
   * @param {typeof TRAFFIC[number]} traffic
   */
  constructor(number, port, { size, depth }) {
    this.number = number;
    this.size = size;
    this.sent = 0;
    this.bytes = 0;
    this.stopping = false;
    this.buffer = Buffer.allocUnsafeSlow(64 * 1024);
    this.onread = this.onread.bind(this);
    this.socket = connect(port, '127.0.0.1');
    for (let i = 0; i < depth; i++) this.send();
    this.socket.read(this.buffer, this.onread);
  }

  /** How many messages came back whole. */
  get messages() {
    return Math.floor(this.bytes / this.size);
  }

  send() {
    const place = placeOf(this.number, this.sent++);
    this.socket.write(noise.subarray(place, place + this.size));
  }

  /** @type {import('oxwire').ReadCallback<Buffer>} */
  onread(error, buffer, bytesRead) {
    if (error) fail(`client ${this.number}: ${error.message}`);
    if (bytesRead === 0) {
      if (!this.isDone()) fail(`client ${this.number}: the end came after ${this.bytes} bytes`);
      return;
    }
    const before = this.messages;
    this.check(buffer, bytesRead);
    if (!this.stopping) for (let i = before; i < this.messages; i++) this.send();
    else if (this.isDone()) this.socket.end();
    this.socket.read(buffer, this.onread);
  }

  /**
   * @param {Buffer} buffer
   * @param {number} length
   */
  check(buffer, length) {
    for (let start = 0; start < length;) {
      const message = this.messages;
      const offset = this.bytes - message * this.size;
      const count = Math.min(this.size - offset, length - start);
      const place = placeOf(this.number, message) + offset;
      const order = noise.compare(buffer, start, start + count, place, place + count);
      if (order !== 0 || message >= this.sent) {
        fail(`client ${this.number}: wrong bytes came back, from byte ${this.bytes} on`);
      }
      start += count;
      this.bytes += count;
    }
  }

  isDone() {
    return this.bytes === this.sent * this.size;
  }
}

/** One line that says how it goes: rewritten on a terminal, else a line a second. */
class Display {
  /** @param {Client[]} clients */
  constructor(clients) {
    this.clients = clients;
    this.live = process.stdout.isTTY === true && process.env.TERM !== 'dumb';
    this.colours = this.live && process.stdout.hasColors();
    this.start = this.last = performance.now();
    this.seen = total(clients);
    this.peakRss = 0;
    /** @type {number[]} */
    this.rates = [];
    this.timer = setInterval(() => this.show(), this.live ? 200 : 1000);
  }

  get seconds() {
    return (performance.now() - this.start) / 1000;
  }

  show() {
    const now = performance.now();
    const seconds = (now - this.last) / 1000;
    const { messages, bytes } = total(this.clients);
    const rss = this.sampleRss();
    this.rates.push((bytes - this.seen.bytes) / seconds);
    const line = [
      `${this.seconds.toFixed(1).padStart(5)} s`,
      `${gigabytes((bytes - this.seen.bytes) / seconds)}/s`.padStart(9),
      `${whole((messages - this.seen.messages) / seconds).padStart(9)} messages/s`,
      `${whole(rss / 1e6)} MB RSS`,
      this.sparkline(),
    ].join('  ');
    this.last = now;
    this.seen = { messages, bytes };
    process.stdout.write(this.live ? `\r${fit(line)}\x1b[K` : `${line}\n`);
  }

  sampleRss() {
    const rss = process.memoryUsage.rss();
    this.peakRss = Math.max(this.peakRss, rss);
    return rss;
  }

  /** The latest rates, as high as they are; as many as the line has room for. */
  sparkline() {
    const room = Math.min(24, width() - 54);
    const rates = room > 0 ? this.rates.slice(-room) : [];
    const most = Math.max(...rates);
    const bars = rates.map((rate) => '▁▂▃▄▅▆▇█'[Math.floor((rate / most) * 7)] ?? '▁').join('');
    return this.colours ? `\x1b[36m${bars}\x1b[0m` : bars;
  }

  stop() {
    clearInterval(this.timer);
    this.sampleRss();
    if (this.live) process.stdout.write('\r\x1b[K');
  }
}

/** How many columns there are; a terminal that does not know says 0. */
const width = () => process.stdout.columns || 80;

/** A line that does not wrap. Only a whole one has colours. @param {string} line */
const fit = (line) => (width() < 54 ? line.slice(0, width() - 1) : line);

/** @param {Client[]} clients */
function total(clients) {
  let [messages, bytes] = [0, 0];
  for (const client of clients) {
    messages += client.messages;
    bytes += client.bytes;
  }
  return { messages, bytes };
}

/** @param {number} bytes */
const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(2)} GB`;
/** @param {number} count */
const whole = (count) => Math.round(count).toLocaleString('en');

/**
 * @param {Client[]} clients
 * @param {number} seconds
 * @param {number} peakRss
 */
function printSummary(clients, seconds, peakRss) {
  const { messages, bytes } = total(clients);
  const { recv, send, entries, epollCtl } = counters();
  const counts = { recv, send, 'entries into JavaScript': entries, epoll_ctl: epollCtl };
  const rows = Object.entries(counts).map(([name, count]) => {
    const perMessage = (count / Math.max(messages, 1)).toFixed(2);
    return `  ${name.padEnd(24)}${whole(count).padStart(12)}${perMessage.padStart(14)}`;
  });
  console.log(`
${clients.length} connections, ${seconds.toFixed(1)} s: every byte came back as it was sent.

  messages  ${whole(messages)}, ${whole(messages / seconds)} a second
  bytes     ${gigabytes(bytes)} there and back, ${gigabytes(bytes / seconds)}/s
  peak RSS  ${whole(peakRss / 1e6)} MB

What the server and the clients did for it:

  ${''.padEnd(24)}${'in all'.padStart(12)}${'per message'.padStart(14)}
${rows.join('\n')}`);
}

/** @param {string} reason @returns {never} */
function fail(reason) {
  console.error(`\nerror: ${reason}`);
  process.exit(1);
}

/** How long to send, from the command line. */
function readSeconds() {
  try {
    const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
    const seconds = Number(values.seconds);
    if (seconds > 0 && seconds <= 86400) return seconds;
    throw new RangeError(`--seconds takes a number above 0, and not ${values.seconds}`);
  } catch (error) {
    return fail(/** @type {Error} */ (error).message);
  }
}

/**
 * Sends for some seconds, waits until all is back, and closes everything: the process ends because
 * nothing is left to do.
 *
 * @param {number} port
 * @param {number} seconds
 * @param {() => void} closeServer
 */
function run(port, seconds, closeServer) {
  const kinds = TRAFFIC.flatMap((traffic) => new Array(traffic.connections).fill(traffic));
  const clients = kinds.map((traffic, number) => new Client(number, port, traffic));
  const display = new Display(clients);
  const timer = setTimeout(stop, seconds * 1000);
  process.once('SIGINT', stop);

  let open = clients.length;
  for (const { socket } of clients) {
    socket.on('close', () => {
      if (--open === 0) finish();
    });
  }

  function stop() {
    clearTimeout(timer);
    for (const client of clients) client.stopping = true;
    const late = () => fail('not everything came back within 5 s');
    setTimeout(late, 5000).unref();
  }

  function finish() {
    closeServer();
    display.stop();
    printSummary(clients, display.seconds, display.peakRss);
  }
}

const seconds = readSeconds();
const server = createServer(echo);
server.listen(0, '127.0.0.1', () => {
  const { address, port } = server.address();
  console.log(`echo server on ${address}:${port}, ${seconds} s of traffic\n`);
  run(port, seconds, () => server.close());
});
