'use strict';

// What a worker of run.js does.

const { parentPort, workerData } = require('worker_threads');
const oxwire = require('../..');

const { name, port } = workerData;
const client = oxwire.connect(port);
/** @param {string} text */
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window's
const tell = (text) => parentPort?.postMessage(text);

if (name === 'echo') {
  client.write('from a worker');
  client.read(Buffer.alloc(100), (error, buffer, count) => {
    if (error) throw error;
    tell(String(buffer.subarray(0, count)));
    client.close();
  });
} else {
  // A read that waits, a write that waits, and a listening server.
  oxwire.createServer().listen(0, '127.0.0.1');
  client.read(Buffer.alloc(100), () => {});
  client.write(Buffer.alloc(32 << 20), () => {});
  client.on('connect', () => tell('up'));
}
