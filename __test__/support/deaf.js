'use strict';

// A server that accepts nothing: it listens, says where, and sleeps. Its system takes as many
// connections as the backlog has room for, and leaves all others without an answer. It ends by
// itself, should nobody end it.

const fs = require('fs');
const net = require('net');

const [host, backlog] = process.argv.slice(2);

const server = net.createServer();
server.listen({ port: 0, host, backlog: Number(backlog) }, () => {
  fs.writeSync(1, String(/** @type {net.AddressInfo} */ (server.address()).port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
  process.exit();
});
