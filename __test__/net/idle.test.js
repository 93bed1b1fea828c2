'use strict';

// The timeout of a connection. No test measures time: where it matters when a timer is set anew, the
// timers are the test's own.

const assert = require('assert');
const net = require('net');
const { AsyncLocalStorage } = require('async_hooks');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { closed, fill, listen, pair, read, turns, write } = require('../support/sockets');

const libraries = { ours: /** @type {any} */ (oxwire), theirs: /** @type {any} */ (net) };

/** The lookup of a connection that stays where it is. */
const never = () => {};

/**
 * Timers that run when the test lets them.
 *
 * @param {import('node:test').TestContext} t
 */
function ownTimers(t) {
  const timers = [];
  const make = (callback, delay) => {
    const timer = {
      callback,
      delay,
      refreshed: 0,
      isCleared: false,
      isRefed: true,
      refresh: () => timer.refreshed++,
      unref: () => (timer.isRefed = false),
    };
    timers.push(timer);
    return timer;
  };
  t.mock.method(globalThis, 'setTimeout', make);
  t.mock.method(globalThis, 'clearTimeout', (timer) => {
    if (timer) timer.isCleared = true;
  });
  return timers;
}

test('a connection on which nothing moves tells so, and stays open', async (t) => {
  const { client, peer } = await pair(t);
  for (const connection of [client, peer]) {
    assert.strictEqual(connection.timeout, 0);
    assert.strictEqual(connection.setTimeout(1), connection);
    assert.strictEqual(connection.timeout, 1);
    await once(connection, 'timeout');
    assert.strictEqual(connection.destroyed, false);
  }
  client.write('still here');
  assert.strictEqual((await read(peer)).toString(), 'still here');
});

test('the timeout comes once, and again after something has moved', async (t) => {
  const { client } = await pair(t);
  const timers = ownTimers(t);
  let count = 0;
  client.on('timeout', () => count++);
  client.setTimeout(1000);
  timers[0].callback();
  await turns();
  assert.strictEqual(count, 1);
  assert.deepStrictEqual([timers.length, timers[0].refreshed], [1, 0], 'it is not set anew');
  await write(client, 'x');
  assert.ok(timers[0].refreshed > 0);
  timers[0].callback();
  assert.strictEqual(count, 2);
});

test('the callback of setTimeout is a listener for the next timeout, as in node:net', async (t) => {
  const { port } = (await listen(t)).address();
  const seen = {};
  for (const [name, library] of Object.entries(libraries)) {
    const log = (seen[name] = []);
    const socket = library.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const first = () => log.push('first');
    const second = () => log.push('second');
    const count = () => log.push(socket.listenerCount('timeout'));
    socket.setTimeout(1000, first);
    socket.setTimeout(1000, second);
    socket.setTimeout(1000, second);
    count();
    socket.setTimeout(0, second);
    count();
    socket.setTimeout(0, () => {});
    count();
    socket.setTimeout(1);
    await once(socket, 'timeout');
    count();
    socket.destroy();
  }
  assert.deepStrictEqual(seen.ours, [3, 2, 2, 'first', 'second', 0]);
  assert.deepStrictEqual(seen.ours, seen.theirs);
});

test('setTimeout takes and refuses what that of node:net does', async (t) => {
  const { port } = (await listen(t)).address();
  const seen = {};
  for (const [name, library] of Object.entries(libraries)) {
    const socket = library.connect(port, '127.0.0.1');
    const call = (...values) => {
      try {
        const result = socket.setTimeout(...values);
        return result === socket ? socket.timeout : result;
      } catch (error) {
        return `${error.name} ${error.code} ${error.message}`;
      }
    };
    seen[name] = [
      [0],
      [1],
      [1.5],
      [2 ** 31 - 1],
      [-1],
      [-0],
      [Infinity],
      [NaN],
      ['5'],
      [true],
      [null],
      [undefined],
      [{}],
      [],
      [5, 'callback'],
      [0, {}],
    ].map((values) => call(...values));
    socket.destroy();
    await closed(socket);
  }
  assert.deepStrictEqual(seen.ours, seen.theirs);
});

test('a time longer than timers take is the longest that they do', async (t) => {
  const timers = ownTimers(t);
  const client = oxwire.connect({ port: 1, host: 'a.name', lookup: never });
  client.setTimeout(2 ** 40);
  assert.strictEqual(timers[0].delay, 2 ** 31 - 1);
  client.destroy();
});

test('what is sent and received puts the timeout off', async (t) => {
  const { client, peer } = await pair(t);
  const timers = ownTimers(t);
  client.setTimeout(1000);
  const [timer] = timers;
  const isPutOff = () => {
    const { refreshed } = timer;
    timer.refreshed = 0;
    return refreshed > 0;
  };
  client.write('at once');
  await turns();
  assert.ok(isPutOff());
  client.write('at once');
  client.write('staged');
  await turns();
  assert.ok(isPutOff());
  client.writev([Buffer.alloc(5000), Buffer.alloc(5000)]);
  await turns();
  assert.ok(isPutOff());
  await turns();
  assert.ok(!isPutOff(), 'nothing');
  const received = read(client);
  await turns();
  assert.ok(!isPutOff(), 'a read that finds nothing');
  peer.write('x');
  await received;
  assert.ok(isPutOff());
});

test('each part of a write that leaves puts the timeout off', async (t) => {
  const { client, peer } = await pair(t);
  const timers = ownTimers(t);
  client.setTimeout(1000);
  await fill(client);
  const [timer] = timers;
  timer.refreshed = 0;
  await turns();
  assert.strictEqual(timer.refreshed, 0, 'the peer does not read');
  let { writableLength } = client;
  while (client.writableLength > 0) {
    await read(peer, 1 << 20);
    await turns(1);
    assert.strictEqual(timer.refreshed > 0, client.writableLength < writableLength);
    ({ writableLength } = client);
    timer.refreshed = 0;
  }
});

test('the option timeout runs from the beginning of the attempt, as in node:net', async (t) => {
  await listen(t); // A lookup of its own does not keep node:net waiting.
  for (const library of Object.values(libraries)) {
    const options = { port: 1, host: 'a.name', lookup: never, timeout: 1 };
    const socket = library.connect(options);
    const log = [];
    socket.on('error', (error) => log.push(error));
    assert.strictEqual(socket.timeout, 1);
    await once(socket, 'timeout');
    assert.deepStrictEqual([socket.connecting, socket.destroyed], [true, false]);
    socket.destroy(); // It is for the program to do.
    await closed(socket);
    assert.deepStrictEqual(log, []);
  }
});

test('setTimeout before the connection is one of the attempt, as in node:net', async (t) => {
  await listen(t);
  for (const library of Object.values(libraries)) {
    const socket = library.connect({ port: 1, host: 'a.name', lookup: never });
    socket.setTimeout(1);
    await once(socket, 'timeout');
    assert.strictEqual(socket.connecting, true);
    socket.destroy();
  }
});

test('what is written before the connection does not put its timeout off', async (t) => {
  const server = await listen(t);
  const timers = ownTimers(t);
  /** @type {any} */
  let answer;
  const lookup = (_host, _options, callback) => {
    answer = callback;
  };
  const client = oxwire.connect({
    port: server.address().port,
    host: 'a.name',
    lookup,
    timeout: 1000,
  });
  t.after(() => client.destroy());
  client.write('x');
  client.writev([Buffer.alloc(5000)]);
  client.read(Buffer.alloc(1), () => {});
  assert.strictEqual(timers[0].refreshed, 0);
  answer(null, '127.0.0.1', 4);
  await once(client, 'connect');
  assert.ok(timers[0].refreshed > 0, 'the connection does');
});

test('a timeout does not keep the process alive, and ends with the connection', async (t) => {
  const { client } = await pair(t);
  const timers = ownTimers(t);
  client.setTimeout(1000);
  assert.strictEqual(timers[0].isRefed, false);
  client.setTimeout(2000);
  assert.deepStrictEqual([timers[0].isCleared, timers[1].isCleared], [true, false]);
  client.destroy();
  assert.strictEqual(timers[1].isCleared, true);
  await closed(client);
  assert.strictEqual(client.setTimeout(1), client);
  assert.strictEqual(timers.length, 2, 'there is nothing to wait for any more');
});

test('setTimeout within its event takes effect', async (t) => {
  const { client } = await pair(t);
  const times = [];
  client.setTimeout(1);
  await new Promise((resolve) => {
    client.on('timeout', () => {
      times.push(client.timeout);
      if (times.length === 3) resolve(client.setTimeout(0));
      else client.setTimeout(client.timeout + 1);
    });
  });
  assert.deepStrictEqual(times, [1, 2, 3]);
  assert.strictEqual(client.timeout, 0);
});

test('a connection whose reads wait times out though bytes have come', async (t) => {
  const { client, peer } = await pair(t);
  client.pause();
  client.read(Buffer.alloc(1), (error) => assert.strictEqual(error?.code, 'ERR_SOCKET_CLOSED'));
  await write(peer, 'x');
  client.setTimeout(1);
  await once(client, 'timeout');
  const over = closed(client);
  client.destroy();
  await over;
});

test('the timeout runs in the context of connect', async (t) => {
  const { port } = (await listen(t)).address();
  const storage = new AsyncLocalStorage();
  const client = storage.run('connect', () => oxwire.connect(port));
  await once(client, 'connect');
  const seen = new Promise((resolve) => client.on('timeout', () => resolve(storage.getStore())));
  storage.run('setTimeout', () => client.setTimeout(1));
  assert.strictEqual(await seen, 'connect');
  client.destroy();
});
