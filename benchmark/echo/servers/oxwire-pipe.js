'use strict';

const oxwire = require('../../..');
const { readTask, ready } = require('./command-line');

const { port, mode } = readTask(['pipe', 'splice']);
const options = { splice: mode === 'splice' };

/** Neither needs to know how a pipe has ended, or why a connection closed. */
function ignore() {}

oxwire
  .createServer((socket) => {
    socket.on('error', ignore);
    socket.pipe(socket, options, ignore);
  })
  .listen(port, '127.0.0.1', ready);
