'use strict';

const { readTask, ready, createReply } = require('./command-line');

/**
 * The part of the API of turbo-net that the servers need; oxwire has the same.
 *
 * @typedef {object} Socket
 * @property {(buffer: Buffer, onread: (err: Error | null, buffer: Buffer, n: number) => void) => void} read
 * @property {(buffer: Buffer, n: number, onwrite?: (err: Error | null) => void) => void} write
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
 * Answers each message with one write of its own, as a server does that handles messages one by
 * one; whether and how these are put together is up to the library.
 *
 * @param {number} size
 * @returns {(socket: Socket) => void}
 */
function replyTo(size) {
  const reply = createReply(size);

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
      for (pending += n; pending >= size; pending -= size) socket.write(reply, size);
      socket.read(buf, onread);
    }
  };
}

/** A client that goes away in the middle of a transfer is no failure of the server. */
function ignore() {}

/**
 * Runs the server that the command line asks for on a library with turbo-net's API.
 *
 * @param {Library} library
 */
module.exports = function serve(library) {
  const { port, mode, size } = readTask(['echo', 'reply']);
  const server = library.createServer(mode === 'reply' ? replyTo(size) : echo);
  server.listen(port, '127.0.0.1', ready);
};
