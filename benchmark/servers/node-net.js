'use strict';

const net = require('net');
const { readTask, ready, createReply } = require('./command-line');

/** @param {net.Socket} socket */
function echo(socket) {
  socket.pipe(socket);
}

/**
 * Answers each message with one write of its own; corked, the answers to what was read at once
 * leave together.
 *
 * @param {number} size
 * @param {boolean} cork
 * @returns {(socket: net.Socket) => void}
 */
function replyTo(size, cork) {
  const reply = createReply(size);

  return function onsocket(socket) {
    let pending = 0;
    socket.on('data', (chunk) => {
      if (cork) socket.cork();
      for (pending += chunk.length; pending >= size; pending -= size) socket.write(reply);
      if (cork) socket.uncork();
    });
  };
}

const { port, mode, size } = readTask(['echo', 'reply', 'reply-cork']);
const onsocket = mode === 'echo' ? echo : replyTo(size, mode === 'reply-cork');

net
  .createServer({ noDelay: true }, (socket) => {
    // A client that goes away in the middle of a transfer is no failure of the server.
    socket.on('error', () => {});
    onsocket(socket);
  })
  .listen(port, '127.0.0.1', ready);
