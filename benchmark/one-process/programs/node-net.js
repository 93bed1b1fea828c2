'use strict';

const net = require('net');
const { report } = require('./report');

const WRITES = 8;
const MESSAGE = 1024 * 1024;

const server = net.createServer((socket) => socket.pipe(socket));

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  const socket = net.connect(port, '127.0.0.1');
  const tally = { bytes: 0 };
  socket.on('data', (chunk) => (tally.bytes += chunk.length));
  for (let i = 0; i < WRITES; i++) {
    const buffer = Buffer.alloc(MESSAGE);
    const write = () => socket.write(buffer, write);
    write();
  }
  report(tally);
});
