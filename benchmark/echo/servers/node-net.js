'use strict';

const net = require('net');
const { HEADER, readTask, ready, createReply } = require('./command-line');

/** @param {net.Socket} socket */
function echo(socket) {
  socket.pipe(socket);
}

/**
 * Answers each message by itself; corked, the answers to what was read at once leave together.
 *
 * @param {number} size
 * @param {boolean} cork
 * @param {(socket: net.Socket) => void} answer
 * @returns {(socket: net.Socket) => void}
 */
function answering(size, cork, answer) {
  return function onsocket(socket) {
    let pending = 0;
    socket.on('data', (chunk) => {
      if (cork) socket.cork();
      for (pending += chunk.length; pending >= size; pending -= size) answer(socket);
      if (cork) socket.uncork();
    });
  };
}

/**
 * Ways to send the same bytes.
 *
 * @type {Record<string, (reply: Buffer) => (socket: net.Socket) => void>}
 */
const ANSWERS = {
  reply: (reply) => (socket) => socket.write(reply),
  concat: (reply) => {
    const [header, body] = [reply.subarray(0, HEADER), reply.subarray(HEADER)];
    return (socket) => socket.write(Buffer.concat([header, body]));
  },
  writes: (reply) => {
    const [header, body] = [reply.subarray(0, HEADER), reply.subarray(HEADER)];
    return (socket) => {
      socket.write(header);
      socket.write(body);
    };
  },
};

const { port, mode, size, reply } = readTask([
  'echo',
  ...Object.keys(ANSWERS).flatMap((name) => [name, `${name}-cork`]),
]);
const [way, cork] = mode.split('-');
const onsocket =
  way === 'echo' ? echo : answering(size, cork !== undefined, ANSWERS[way](createReply(reply)));

net
  .createServer({ noDelay: true }, (socket) => {
    // A client that goes away in the middle of a transfer is no failure of the server.
    socket.on('error', () => {});
    onsocket(socket);
  })
  .listen(port, '127.0.0.1', ready);
