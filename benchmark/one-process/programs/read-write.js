'use strict';

const { report } = require('./report');

/**
 * The part of the API of turbo-net that is needed here; oxwire has the same.
 *
 * @typedef {object} Socket
 * @property {(buffer: Buffer, onread: (error: Error | null, buffer: Buffer, n: number) => void) => void} read
 * @property {(buffer: Buffer, n: number, onwrite: (error: Error | null, buffer: Buffer) => void) => void} write
 *
 * @typedef {object} Server
 * @property {(port: number, host: string, onlistening: () => void) => void} listen
 * @property {() => { port: number } | {}} address
 *
 * @typedef {object} Library
 * @property {(onsocket: (socket: Socket) => void) => Server} createServer
 * @property {(port: number, host: string) => Socket} connect
 */

// As in the example whose figures turbo-net's README quotes.
const READS = 4;
const FIRST_SIZE = 16 * 1024;
const DOUBLINGS = 8;
const WRITES = 8;
const MESSAGE = 1024 * 1024;

/**
 * Writes back what it reads, with a few reads waiting at any time. When as many in a row have filled
 * their buffers, the next buffers are twice as large.
 *
 * @param {Socket} socket
 */
function echo(socket) {
  let size = FIRST_SIZE;
  let filled = 0;
  for (let i = 0; i < READS; i++) socket.read(Buffer.allocUnsafe(size), onread);

  /** @type {Parameters<Socket['read']>[1]} */
  function onread(error, buffer, n) {
    if (error) throw error;
    if (n === 0) return;
    filled = n === buffer.length ? filled + 1 : 0;
    if (filled === READS) {
      filled = 0;
      size = Math.min(size * 2, FIRST_SIZE << DOUBLINGS);
    }
    socket.write(buffer, n, onwrite);
  }

  /** @type {Parameters<Socket['write']>[2]} */
  function onwrite(error, buffer) {
    if (error) throw error;
    socket.read(buffer.length < size ? Buffer.allocUnsafe(size) : buffer, onread);
  }
}

/**
 * Sends without end, and counts what returns.
 *
 * @param {Socket} socket
 */
function exchange(socket) {
  const tally = { bytes: 0 };
  socket.read(Buffer.alloc(MESSAGE), onread);
  for (let i = 0; i < WRITES; i++) socket.write(Buffer.alloc(MESSAGE), MESSAGE, onwrite);
  report(tally);

  /** @type {Parameters<Socket['read']>[1]} */
  function onread(error, buffer, n) {
    if (error) throw error;
    if (n === 0) throw new Error('the server has ended');
    tally.bytes += n;
    socket.read(buffer, onread);
  }

  /** @type {Parameters<Socket['write']>[2]} */
  function onwrite(error, buffer) {
    if (error) throw error;
    socket.write(buffer, MESSAGE, onwrite);
  }
}

/**
 * Runs both ends on a library with turbo-net's API.
 *
 * @param {Library} library
 * @param {(socket: any) => void} [serve] what the server does, if not this echo
 */
module.exports = function run(library, serve = echo) {
  const server = library.createServer(serve);
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {{ port: number }} */ (server.address());
    exchange(library.connect(port, '127.0.0.1'));
  });
};
