'use strict';

// A port where connections are neither accepted nor refused, for as long as one likes.

const net = require('net');
const { once } = require('events');
const { Worker } = require('worker_threads');
const { turns } = require('./sockets');

/** A server whose thread sleeps as soon as it listens, so that what comes waits in its backlog. */
const SLEEPER = `
  const { parentPort, workerData: flag } = require('worker_threads');
  const server = require('net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(flag, 0, 0);
    process.exit();
  });`;

/** What a system does with a full backlog differs; that of Linux is known. */
const isUnansweringKnown = process.platform === 'linux';

/**
 * A port of 127.0.0.1 whose backlog is full: an attempt to connect stays under way.
 *
 * @param {import('./sockets').Scope} t
 * @returns {Promise<number>}
 */
async function unansweringPort(t) {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SLEEPER, { eval: true, workerData: flag });
  const fillers = /** @type {net.Socket[]} */ ([]);
  t.after(async () => {
    for (const filler of fillers) filler.destroy();
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
    await once(worker, 'exit');
  });
  const [port] = await once(worker, 'message');
  let isFull = false;
  while (!isFull) {
    const filler = net.connect(port, '127.0.0.1').on('error', () => {});
    fillers.push(filler);
    await turns();
    isFull = filler.connecting;
  }
  return port;
}

module.exports = { isUnansweringKnown, unansweringPort };
