'use strict';

// Run with few descriptors: a server that has used them all up, 30 connections that wait, and then
// descriptors again. Says how it went.

const fs = require('fs');
const net = require('net');
const { fork } = require('child_process');
const { once } = require('events');
const oxwire = require('../..');

const COUNT = 30;

if (process.argv[2] === undefined) serve();
else connectAll(Number(process.argv[2]));

async function serve() {
  const errors = [];
  const server = oxwire.createServer((connection) => {
    connection.write('served');
    connection.end();
  });
  server.on('drop', ({ error }) => errors.push(error));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const child = fork(__filename, [String(server.address().port)]);
  await once(child, 'message');

  const held = [];
  try {
    for (;;) held.push(fs.openSync('/dev/null', 'r'));
  } catch {
    // All are used up.
  }
  const before = oxwire.counters().accept;
  child.send('connect');
  await new Promise((resolve) => setTimeout(resolve, 500));
  const accepts = oxwire.counters().accept - before;
  const drops = errors.length;
  for (const file of held) fs.closeSync(file);
  const [served] = await once(child, 'message');
  server.close();
  console.log(JSON.stringify({ drops, code: errors[0]?.code, accepts, served }));
}

/** @param {number} port */
async function connectAll(port) {
  process.send?.('ready');
  await once(process, 'message');
  let served = 0;
  for (let i = 0; i < COUNT; i++) {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('data', () => {
      if (++served < COUNT) return;
      process.send?.(served);
      process.disconnect();
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
