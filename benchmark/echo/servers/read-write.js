'use strict';

const { AsyncLocalStorage } = require('async_hooks');
const { HEADER, readTask, ready, createReply } = require('./command-line');

/**
 * The part of the API of turbo-net that the servers need; oxwire has the same.
 *
 * @typedef {object} Socket
 * @property {(buffer: Buffer, onread: (err: Error | null, buffer: Buffer, n: number) => void) => void} read
 * @property {(buffer: Buffer, n: number, onwrite?: (err: Error | null) => void) => void} write
 * @property {(buffers: Buffer[]) => void} writev
 * @property {() => void} close
 * @property {(event: 'error', listener: (err: Error) => void) => void} on
 *
 * @typedef {object} Library
 * @property {(onsocket: (socket: Socket) => void) => { listen(port: number, host: string, onlistening: () => void): void }} createServer
 */

const BUFFER_SIZE = 64 * 1024;

/**
 * Reads, writes what was read, and reads again once that is written.
 *
 * @param {Socket} socket
 */
function echo(socket) {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_SIZE);
  socket.on('error', ignore);
  socket.read(buffer, onread);

  /** @type {Parameters<Socket['read']>[1]} */
  function onread(err, buf, n) {
    if (err || n === 0) socket.close();
    else socket.write(buf, n, onwrite);
  }

  /** @param {Error | null} err */
  function onwrite(err) {
    if (!err) socket.read(buffer, onread);
  }
}

/**
 * The same, with a store around all that happens on a connection.
 *
 * @returns {(socket: Socket) => void}
 */
function echoWithStore() {
  const storage = new AsyncLocalStorage();
  return (socket) => storage.run({}, echo, socket);
}

/**
 * Answers each message by itself, as a server does that handles messages one by one; whether and how
 * answers are put together is up to the library.
 *
 * @param {number} size
 * @param {(socket: Socket) => void} answer
 * @returns {(socket: Socket) => void}
 */
function answering(size, answer) {
  return function onsocket(socket) {
    let pending = 0;
    socket.on('error', ignore);
    socket.read(Buffer.allocUnsafeSlow(BUFFER_SIZE), onread);

    /** @type {Parameters<Socket['read']>[1]} */
    function onread(err, buf, n) {
      if (err || n === 0) {
        socket.close();
        return;
      }
      for (pending += n; pending >= size; pending -= size) answer(socket);
      socket.read(buf, onread);
    }
  };
}

/**
 * Ways to send the same bytes.
 *
 * @type {Record<string, (reply: Buffer) => (socket: Socket) => void>}
 */
const ANSWERS = {
  reply: (reply) => (socket) => socket.write(reply, reply.length),
  writev: (reply) => {
    const [header, body] = [reply.subarray(0, HEADER), reply.subarray(HEADER)];
    return (socket) => socket.writev([header, body]);
  },
  concat: (reply) => {
    const [header, body] = [reply.subarray(0, HEADER), reply.subarray(HEADER)];
    return (socket) => {
      const message = Buffer.concat([header, body]);
      socket.write(message, message.length);
    };
  },
  writes: (reply) => {
    const [header, body] = [reply.subarray(0, HEADER), reply.subarray(HEADER)];
    return (socket) => {
      socket.write(header, header.length);
      socket.write(body, body.length);
    };
  },
};

/** A client that goes away in the middle of a transfer is no failure of the server. */
function ignore() {}

/**
 * Runs the server that the command line asks for on a library with turbo-net's API.
 *
 * @param {Library} library
 */
module.exports = function serve(library) {
  const { port, mode, size, reply } = readTask(['echo', 'echo-als', ...Object.keys(ANSWERS)]);
  const onsocket = () => {
    if (mode === 'echo') return echo;
    if (mode === 'echo-als') return echoWithStore();
    return answering(size, ANSWERS[mode](createReply(reply)));
  };
  library.createServer(onsocket()).listen(port, '127.0.0.1', ready);
};
