'use strict';

const assert = require('assert');
const net = require('net');
const os = require('os');
const path = require('path');
const { spawnSync } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { tcpSockets } = require('../support/kernel');
const { listen, pair, turns } = require('../support/sockets');

/** @typedef {import('node:test').TestContext} Test */

test('a server listens on any port, and says where', async () => {
  const server = oxwire.createServer();
  assert.throws(() => server.address(), { code: 'ERR_SERVER_NOT_RUNNING' });
  await new Promise((resolve) => server.listen(() => resolve(undefined)));
  const { address, family, port } = server.address();
  assert.deepStrictEqual([address, family], ['0.0.0.0', 'IPv4']);
  assert.ok(port > 0 && port < 65536);
  await new Promise((resolve) => server.close(() => resolve(undefined)));
  assert.throws(() => server.address(), { code: 'ERR_SERVER_NOT_RUNNING' });

  await new Promise((resolve) => server.listen(String(port), () => resolve(undefined)));
  assert.strictEqual(server.address().port, port, 'a port in digits, and listening again');
  server.close();
});

test('options and the listener may each be left out', () => {
  const onconnection = () => {};
  assert.strictEqual(oxwire.createServer(onconnection).listenerCount('connection'), 1);
  const server = oxwire.createServer({ allowHalfOpen: true }, onconnection);
  assert.ok(server.allowHalfOpen && server instanceof oxwire.Server);
  assert.strictEqual(oxwire.createServer().allowHalfOpen, false);
});

test('Server and Connection can be extended', async () => {
  class Greeter extends oxwire.Server {
    constructor() {
      super({ allowHalfOpen: true });
      this.on('connection', (connection) => connection.end(() => connection.close()));
    }
  }
  const server = new Greeter();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = net.connect(server.address().port);
  client.resume();
  await once(client, 'close');
  server.close();
  class Mine extends oxwire.Connection {}
  assert.ok(new Mine() instanceof require('events').EventEmitter);
});

test('a program may put a field on a server that turbo-net has none of', async () => {
  class Mine extends oxwire.Server {
    constructor() {
      super();
      this.closed = true;
    }
  }
  const server = new Mine();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await server[Symbol.asyncDispose]();
  assert.deepStrictEqual([server.closed, server.listening], [true, false]);
});

test('a used port is one error, and the server can listen elsewhere', async (t) => {
  const first = await listen(t);
  const { port } = first.address();
  const second = oxwire.createServer();
  second.on('listening', () => assert.fail('it does not listen'));
  second.listen(port, '127.0.0.1');
  const [error] = await once(second, 'error');
  const theirs = net.createServer().listen(port, '127.0.0.1');
  const [expected] = await once(theirs, 'error');
  assert.strictEqual(error.message, expected.message);
  assert.deepStrictEqual({ ...error }, { ...expected });
  await turns();
  second.removeAllListeners('listening');
  second.listen(0, '127.0.0.1');
  await once(second, 'listening');
  second.close();
});

test('listening twice is thrown', async () => {
  const server = oxwire.createServer();
  server.listen(0);
  assert.throws(() => server.listen(0), { code: 'ERR_SERVER_ALREADY_LISTEN' });
  await once(server, 'listening');
  assert.throws(() => server.listen(0), { code: 'ERR_SERVER_ALREADY_LISTEN' });
  server.close();
});

test('close before listening cancels it', async () => {
  for (const address of ['127.0.0.1', 'localhost', 'no-such-host.invalid']) {
    const server = oxwire.createServer();
    server.on('error', assert.fail);
    server.on('listening', () => assert.fail('it was cancelled'));
    server.listen(0, address);
    await new Promise((resolve) => server.close(resolve));
    await turns();
  }
});

test('the listener of a listen that was cancelled or failed does not run later', async (t) => {
  const other = await listen(t);
  const server = oxwire.createServer();
  server.listen(0, '127.0.0.1', () => assert.fail('cancelled'));
  await new Promise((resolve) => server.close(resolve));
  server.listen(other.address().port, '127.0.0.1', () => assert.fail('failed'));
  await once(server, 'error');
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  server.close();
});

test("the array of connections is the program's too", async (t) => {
  const { server, peer } = await pair(t);
  server.connections.length = 0;
  const closed = once(peer, 'close');
  peer.close();
  await closed;
  assert.deepStrictEqual(server.connections, []);
});

test('close without listening is an error of its callback', async () => {
  const server = oxwire.createServer();
  server.on('close', () => assert.fail('nothing was closed'));
  const error = await new Promise((resolve) => server.close(resolve));
  assert.strictEqual(error.code, 'ERR_SERVER_NOT_RUNNING');
});

test('every close callback of one closing runs, and close is emitted once', async (t) => {
  const server = await listen(t);
  let events = 0;
  let callbacks = 0;
  server.on('close', () => events++);
  server.close(() => callbacks++);
  server.close(() => callbacks++);
  assert.strictEqual(events, 0);
  await turns(3);
  assert.deepStrictEqual([events, callbacks], [1, 2]);
});

test('connections stay when the server closes', async (t) => {
  const { server, client, peer } = await pair(t);
  await new Promise((resolve) => server.close(resolve));
  assert.deepStrictEqual(server.connections, [peer]);
  client.write('still here');
  await new Promise((resolve) => {
    peer.read(Buffer.alloc(16), (_error, buffer, count) => {
      assert.strictEqual(buffer.toString('latin1', 0, count), 'still here');
      resolve(undefined);
    });
  });
});

test('a name that does not exist is an error', async () => {
  const server = oxwire.createServer();
  server.listen(0, 'no-such-host.invalid');
  const [error] = await once(server, 'error');
  assert.strictEqual(error.syscall, 'getaddrinfo');
});

test('an IPv6 server takes IPv4 connections too', async () => {
  const server = oxwire.createServer();
  server.listen(0, '::');
  const failed = once(server, 'error').then(() => false);
  const listening = once(server, 'listening').then(() => true);
  if (!(await Promise.race([listening, failed]))) return; // No IPv6 here.
  assert.strictEqual(server.address().family, 'IPv6');
  const client = oxwire.connect(server.address().port, '127.0.0.1');
  const [peer] = await once(server, 'connection');
  assert.strictEqual(peer.remoteAddress, '::ffff:127.0.0.1');
  assert.strictEqual(peer.remoteFamily, 'IPv6');
  client.close();
  peer.close();
  server.close();
});

test('listening says what it says in node:net', async () => {
  const seen = [];
  for (const library of /** @type {any[]} */ ([oxwire, net])) {
    const server = library.createServer();
    const log = [server.listening];
    server.listen({ port: 0, host: 'localhost' });
    log.push(server.listening);
    await once(server, 'listening');
    log.push(server.listening);
    const over = once(server, 'close');
    server.close();
    log.push(server.listening);
    await over;
    log.push(server.listening);
    seen.push(log);
  }
  assert.deepStrictEqual(seen[0], [false, false, true, false, false]);
  assert.deepStrictEqual(seen[0], seen[1]);
});

test('methods return the server, as those of node:net do', async () => {
  for (const library of /** @type {any[]} */ ([oxwire, net])) {
    const server = library.createServer();
    assert.strictEqual(server.listen({ port: 0, host: '127.0.0.1', backlog: 5 }), server);
    assert.strictEqual(server.unref(), server);
    assert.strictEqual(server.ref(), server);
    assert.strictEqual(server.close(), server);
    await once(server, 'close');
    assert.strictEqual(
      server.close(() => {}),
      server,
    );
  }
});

test('the listener of listen runs once for each time, in any of its forms', async () => {
  const server = oxwire.createServer();
  const forms = [
    [],
    [0],
    [0, '127.0.0.1'],
    [0, '127.0.0.1', 5],
    [{ port: 0 }],
    [{ port: null, host: '127.0.0.1' }],
  ];
  let count = 0;
  for (const values of /** @type {any[]} */ (forms)) {
    await new Promise((resolve) => {
      server.listen(...values, () => resolve(count++));
    });
    await new Promise((resolve) => server.close(resolve));
  }
  assert.deepStrictEqual([count, server.listenerCount('listening')], [forms.length, 0]);
});

test('what listen and createServer were given reaches the system', async (t) => {
  // What becomes of it there, tests in Rust say.
  const native = require('../../lib/net/reactor').open();
  const listened = t.mock.method(native, 'listen');
  const options = { noDelay: false, keepAlive: true, keepAliveInitialDelay: 5000 };
  const given = { port: 0, host: '127.0.0.1', backlog: 7, ipv6Only: true };
  const server = oxwire.createServer(options).listen(given);
  const other = oxwire.createServer().listen();
  await Promise.all([once(server, 'listening'), once(other, 'listening')]);
  assert.deepStrictEqual(
    listened.mock.calls.map((call) => call.arguments),
    [
      ['127.0.0.1', 0, 7, true, false, false, 5],
      ['0.0.0.0', 0, 511, false, false, true, -1],
    ],
  );
  server.close();
  other.close();
});

test('a backlog of 1 holds as many as in node:net', { skip: !onLinux() }, async (t) => {
  const seen = [];
  for (const library of /** @type {any[]} */ ([oxwire, net])) {
    const server = library.createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 });
    await once(server, 'listening');
    const { port } = server.address();
    const sockets = [1, 2, 3].map(() => net.connect(port, '127.0.0.1'));
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    await new Promise(process.nextTick); // They connect; no turn passes in which one is accepted.
    // The system may take its time; the event loop stands still meanwhile.
    const look = () => tcpSockets(port);
    const waiting = (found) => found.find(({ state }) => state === 'LISTEN')?.received;
    const end = performance.now() + 5000;
    let found = look();
    while (waiting(found) !== 2 && performance.now() < end) found = look();
    const received = waiting(found);
    const isNow = ({ remotePort, state }) => remotePort === port && state !== 'TIME_WAIT';
    const states = found.filter(isNow).map(({ state }) => state);
    seen.push([received, ...states.toSorted()]);
    server.close();
  }
  assert.deepStrictEqual(seen[0], [2, 'ESTABLISHED', 'ESTABLISHED', 'SYN_SENT']);
  assert.deepStrictEqual(seen[0], seen[1]);
});

test(
  'with ipv6Only a server leaves the port to IPv4, as in node:net',
  { skip: !hasIPv6() },
  async () => {
    const four = oxwire.createServer().listen(0, '0.0.0.0');
    await once(four, 'listening');
    const { port } = four.address();
    for (const library of /** @type {any[]} */ ([oxwire, net])) {
      const both = library.createServer().listen({ port, host: '::' });
      assert.strictEqual((await once(both, 'error'))[0].code, 'EADDRINUSE');
      const six = library.createServer().listen({ port, host: '::', ipv6Only: true });
      await once(six, 'listening');
      for (const [server, host] of /** @type {any[]} */ ([
        [four, '127.0.0.1'],
        [six, '::1'],
      ])) {
        const client = oxwire.connect(port, host);
        const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
        assert.strictEqual(peer.remoteAddress, host);
        peer.destroy();
        client.destroy();
      }
      six.close();
    }
    four.close();
  },
);

test('with reusePort servers share a port', { skip: !sharesPorts() }, async (t) => {
  const first = oxwire.createServer().listen({ port: 0, host: '127.0.0.1', reusePort: true });
  await once(first, 'listening');
  const { port } = first.address();
  const second = oxwire.createServer().listen({ port, host: '127.0.0.1', reusePort: true });
  await once(second, 'listening');
  const counts = [0, 0];
  first.on('connection', () => counts[0]++);
  second.on('connection', () => counts[1]++);
  const clients = Array.from({ length: 64 }, () => oxwire.connect(port));
  t.after(() => clients.forEach((client) => client.destroy()));
  while (counts[0] + counts[1] < clients.length) await turns(1);
  assert.ok(counts[0] > 0 && counts[1] > 0, `${counts}`);

  // Who does not ask for it does not get it.
  const third = oxwire.createServer().listen({ port, host: '127.0.0.1' });
  assert.strictEqual((await once(third, 'error'))[0].code, 'EADDRINUSE');
  for (const server of [first, second]) {
    server.close();
    for (const connection of server.connections) connection.destroy();
  }
});

test(
  'a port that is not shared is an error for who would share it',
  { skip: !sharesPorts() },
  async (t) => {
    const { port } = (await listen(t)).address();
    const server = oxwire.createServer().listen({ port, host: '127.0.0.1', reusePort: true });
    assert.strictEqual((await once(server, 'error'))[0].code, 'EADDRINUSE');
  },
);

test(
  'reusePort is an error where the system would not spread connections',
  { skip: sharesPorts() },
  async () => {
    const server = oxwire.createServer().listen({ port: 0, host: '127.0.0.1', reusePort: true });
    const [{ code, syscall }] = await once(server, 'error');
    assert.deepStrictEqual([code, syscall], ['ENOTSUP', 'listen']);
  },
);

test('many connections at once are all accepted', async (t) => {
  const server = await listen(t);
  let accepted = 0;
  server.on('connection', () => accepted++);
  const clients = Array.from({ length: 300 }, () => oxwire.connect(server.address().port));
  await Promise.all(clients.map((client) => once(client, 'connect')));
  while (accepted < 300) await turns(1);
  assert.strictEqual(server.connections.length, 300);
  for (const client of clients) client.destroy();
});

/**
 * Connects a socket of node:net, and says which event of the server came of it.
 *
 * @param {Test} t
 * @param {oxwire.Server} server
 */
async function attempt(t, server) {
  const socket = net.connect(server.address().port, '127.0.0.1');
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  return new Promise((resolve) => {
    const listeners = ['connection', 'drop'].map((event) => {
      const listener = (value) => {
        for (const [name, other] of listeners) server.off(name, other);
        resolve({ event, value, socket });
      };
      server.on(event, listener);
      return /** @type {const} */ ([event, listener]);
    });
  });
}

test('connections past maxConnections are closed, and told of, as in node:net', async (t) => {
  const ours = await listen(t);
  const theirs = net.createServer().listen(0, '127.0.0.1');
  t.after(() => theirs.close());
  await once(theirs, 'listening');
  const drops = [];
  for (const server of /** @type {any[]} */ ([ours, theirs])) {
    server.maxConnections = 1;
    const first = await attempt(t, server);
    const second = await attempt(t, server);
    assert.deepStrictEqual([first.event, second.event], ['connection', 'drop']);
    const { port } = server.address();
    assert.deepStrictEqual(
      [second.value.localPort, typeof second.value.remotePort],
      [port, 'number'],
    );
    drops.push({ ...second.value, localPort: 0, remotePort: 0 });
    second.socket.resume();
    await once(second.socket, 'close');
    first.value.destroy();
  }
  assert.deepStrictEqual(drops[0], drops[1]);
});

test('maxConnections counts what is open, and may be changed', async (t) => {
  const server = await listen(t);
  server.maxConnections = 0;
  assert.strictEqual((await attempt(t, server)).event, 'drop', 'in node:net from Node 21 on');
  server.maxConnections = 1;
  const first = await attempt(t, server);
  assert.strictEqual(first.event, 'connection');
  assert.strictEqual((await attempt(t, server)).event, 'drop');
  assert.deepStrictEqual(server.connections, [first.value]);

  server.maxConnections = 2;
  assert.strictEqual((await attempt(t, server)).event, 'connection', 'raised');
  assert.strictEqual((await attempt(t, server)).event, 'drop');

  const over = once(first.value, 'close');
  first.value.destroy();
  await over;
  assert.strictEqual((await attempt(t, server)).event, 'connection', 'one has closed');

  server.maxConnections = 1;
  assert.strictEqual(server.connections.length, 2, 'those that are open stay');
  assert.strictEqual((await attempt(t, server)).event, 'drop');
});

test('no number for maxConnections is no limit, as in node:net', async (t) => {
  const server = await listen(t);
  assert.strictEqual(server.maxConnections, Infinity);
  for (const none of [null, undefined, NaN, Infinity]) {
    server.maxConnections = /** @type {any} */ (none);
    assert.strictEqual((await attempt(t, server)).event, 'connection', String(none));
  }
});

test('past maxConnections all are dropped, however many come at once', async (t) => {
  const server = await listen(t);
  server.maxConnections = 5;
  let drops = 0;
  let connections = 0;
  server.on('drop', () => drops++);
  server.on('connection', () => connections++);
  const { port } = server.address();
  const sockets = Array.from({ length: 100 }, () => net.connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => {});
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  while (drops + connections < 100) await turns(1);
  assert.deepStrictEqual([connections, drops], [5, 95]);
});

test(
  'without descriptors a server drops, pauses, and recovers by itself',
  { skip: !onLinux() },
  () => {
    const script = path.join(__dirname, '../support/descriptors.js');
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', `ulimit -n 100; exec "$0" "$1"`, process.execPath, script],
      {
        timeout: 20_000,
      },
    );
    assert.strictEqual(String(stderr), '');
    const { drops, code, accepts, served } = JSON.parse(String(stdout));
    assert.strictEqual(code, 'EMFILE');
    assert.ok(drops >= 1 && drops < 20, `${drops} drops`);
    assert.ok(accepts < 20, `${accepts} calls of accept`);
    assert.strictEqual(served, 30);
  },
);

test('a connect without descriptors fails, and leaves nothing behind', { skip: !onLinux() }, () => {
  const script = `
    const fs = require('fs');
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    const held = [];
    try { for (;;) held.push(fs.openSync('/dev/null')); } catch {}
    // With one left for the reactor it is the socket that fails, and that is an event.
    const log = (error) => console.log(error.code);
    try { oxwire.connect(1).on('error', log); } catch (error) { log(error); }
    held.forEach((file) => fs.closeSync(file));
    oxwire.connect(1).on('error', (error) => console.log(error.code));`;
  const { stdout, status } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 100; exec "$0" -e "$1"', process.execPath, script],
    {
      timeout: 20_000,
    },
  );
  assert.strictEqual(String(stdout), 'EMFILE\nECONNREFUSED\n');
  assert.strictEqual(status, 0);
});

function onLinux() {
  return process.platform === 'linux';
}

function sharesPorts() {
  return ['linux', 'freebsd'].includes(process.platform);
}

function hasIPv6() {
  const all = Object.values(os.networkInterfaces()).flat();
  return all.some((found) => found?.address === '::1');
}

test('wrong arguments are thrown', () => {
  const server = oxwire.createServer();
  const anyListen = /** @type {any} */ (server.listen.bind(server));
  for (const port of [-1, 65536, 1.5, 'http']) {
    assert.throws(() => anyListen(port), { name: 'RangeError', code: 'ERR_SOCKET_BAD_PORT' });
  }
  assert.throws(() => anyListen(0, {}), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => anyListen(0, '::1', 'x'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => oxwire.createServer(/** @type {any} */ ('x')), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
  assert.throws(() => oxwire.createServer(null, /** @type {any} */ ('x')), {
    code: 'ERR_INVALID_ARG_TYPE',
  });
});
