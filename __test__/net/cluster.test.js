'use strict';

// Ports in the workers of a cluster, which are processes of their own.

const assert = require('assert');
const cluster = /** @type {import('cluster').Cluster} */ (/** @type {any} */ (require('cluster')));
const path = require('path');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { closed, readAll } = require('../support/sockets');

cluster.setupPrimary({ exec: path.join(__dirname, '../support/worker.js'), args: [] });

/** Where the system spreads the connections of a port over all that listen on it. */
const options = { skip: !['linux', 'freebsd'].includes(process.platform) };

/**
 * A worker that waits to be told where to listen.
 *
 * @param {import('node:test').TestContext} t
 */
async function fork(t) {
  const worker = cluster.fork();
  t.after(async () => {
    if (worker.isDead()) return;
    worker.process.kill('SIGKILL');
    await once(worker, 'exit');
  });
  await once(worker, 'message');
  return worker;
}

/**
 * Lets a worker listen.
 *
 * @param {import('cluster').Worker} worker
 * @param {object} where
 * @returns {Promise<any>} its address, or the code of its error
 */
async function listen(worker, where) {
  const answer = once(worker, 'message');
  worker.send({ host: '127.0.0.1', ...where });
  return (await answer)[0];
}

/** Which process answers on a port. @param {number} port */
async function ask(port) {
  const client = oxwire.connect(port);
  const over = closed(client);
  const answer = String(await readAll(client));
  await over;
  return Number(answer);
}

test('workers share a port, and the system spreads connections', options, async (t) => {
  const workers = await Promise.all([fork(t), fork(t)]);
  const address = await listen(workers[0], { port: 0 });
  const { port } = address;
  assert.deepStrictEqual(address, { address: '127.0.0.1', family: 'IPv4', port });
  assert.deepStrictEqual(await listen(workers[1], { port }), address);
  const seen = new Set();
  for (let i = 0; i < 200 && seen.size < 2; i++) seen.add(await ask(port));
  assert.deepStrictEqual(
    [...seen].toSorted(),
    workers.map(({ process: { pid } }) => pid).toSorted(),
  );

  const [first, second] = workers;
  first.process.kill('SIGKILL');
  await once(first, 'exit');
  for (let i = 0; i < 10; i++) assert.strictEqual(await ask(port), second.process.pid);
});

test('the primary hears that a worker listens, and where', options, async (t) => {
  const worker = await fork(t);
  const heard = once(cluster, 'listening');
  const { address, port } = await listen(worker, { port: 0 });
  const [who, where] = await heard;
  assert.strictEqual(who.id, worker.id);
  assert.deepStrictEqual([where.address, where.port, where.addressType], [address, port, 4]);
});

test('with port 0 each worker gets a port of its own', options, async (t) => {
  const workers = await Promise.all([fork(t), fork(t)]);
  const ports = new Set();
  for (const worker of workers) {
    const { port } = await listen(worker, { port: 0 });
    ports.add(port);
    assert.strictEqual(await ask(port), worker.process.pid);
  }
  assert.strictEqual(ports.size, 2);
});

test('a worker that is to have a port exclusively has it alone', options, async (t) => {
  const [first, second] = await Promise.all([fork(t), fork(t)]);
  const { port } = await listen(first, { port: 0, exclusive: true });
  assert.deepStrictEqual(await listen(second, { port, exclusive: true }), { code: 'EADDRINUSE' });
  assert.deepStrictEqual(await listen(second, { port }), { code: 'EADDRINUSE' });
  assert.strictEqual(await ask(port), first.process.pid);
});

test('a port that another program has alone is an error for a worker', options, async (t) => {
  const server = oxwire.createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const worker = await fork(t);
  const { port } = server.address();
  assert.deepStrictEqual(await listen(worker, { port }), { code: 'EADDRINUSE' });
});

test('a worker that is disconnected listens no more, and ends', async (t) => {
  const worker = await fork(t);
  const ports = [];
  for (let i = 0; i < 3; i++) ports.push((await listen(worker, { port: 0 })).port);
  for (const port of ports) assert.strictEqual(await ask(port), worker.process.pid);
  worker.disconnect();
  const [code, signal] = await once(worker, 'exit');
  assert.deepStrictEqual([code, signal], [0, null]);
  for (const port of ports) {
    const [error] = await once(oxwire.connect(port), 'error');
    assert.strictEqual(error.code, 'ECONNREFUSED');
  }
});

test('a worker that is disconnected ends no connection', async (t) => {
  const worker = await fork(t);
  const { port } = await listen(worker, { port: 0 });
  const client = oxwire.connect({ port, allowHalfOpen: true });
  const pid = String(worker.process.pid);
  assert.strictEqual(String(await readAll(client, pid.length)), pid);
  // The worker waits for our end.
  worker.disconnect();
  await once(worker, 'disconnect');
  assert.strictEqual((await readAll(client)).length, 0);
  assert.strictEqual(worker.isDead(), false);
  const over = closed(client);
  client.end();
  await Promise.all([over, once(worker, 'exit')]);
});
