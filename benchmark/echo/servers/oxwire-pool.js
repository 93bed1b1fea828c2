'use strict';

const { createServer, pool } = require('../../..');
const { readTask, ready } = require('./command-line');

/**
 * Echoes through buffers that all connections share: each has one from its bytes' arrival until they
 * have left.
 *
 * @param {import('../../..').Connection} socket
 */
function echo(socket) {
  socket.on('error', ignore);
  socket.read(pool, onread);

  /** @type {import('../../..').PoolReadCallback} */
  function onread(error, buffer, n) {
    if (buffer === null) socket.close();
    else socket.write(buffer, n, RELEASE, onwrite);
  }

  /** @param {Error | null} error */
  function onwrite(error) {
    if (!error) socket.read(pool, onread);
  }
}

const RELEASE = { release: true };

/** A client that goes away in the middle of a transfer is no failure of the server. */
function ignore() {}

const { port } = readTask(['echo']);
createServer(echo).listen(port, '127.0.0.1', ready);
