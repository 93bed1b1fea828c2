'use strict';

// What a connection has of node:net's sockets: its methods and what it tells of itself.

const assert = require('assert');
const net = require('net');
const { inspect } = require('util');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const reactor = require('../../lib/net/reactor');
const { tcpSockets } = require('../support/kernel');
const { closed, listen, pair, readAll, turns } = require('../support/sockets');

const libraries = { ours: /** @type {any} */ (oxwire), theirs: /** @type {any} */ (net) };
const onLinux = process.platform === 'linux';

/** A server of node:net that sends everything back. @param {import('node:test').TestContext} t */
async function echoServer(t) {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return /** @type {net.AddressInfo} */ (server.address()).port;
}

test('a method returns the connection where that of node:net does', async (t) => {
  const port = await echoServer(t);
  /** @type {any[][]} */
  const calls = [
    ['setTimeout', 1000],
    ['setTimeout', 0],
    ['setNoDelay'],
    ['setNoDelay', false],
    ['setKeepAlive'],
    ['setKeepAlive', true, 1000],
    ['pause'],
    ['resume'],
    ['ref'],
    ['unref'],
    ['end'],
    ['destroy'],
    ['resetAndDestroy'],
  ];
  const results = {};
  for (const [name, library] of Object.entries(libraries)) {
    const socket = library.connect(port, '127.0.0.1');
    const call = () =>
      calls.map(([method, ...values]) => [method, socket[method](...values) === socket]);
    const connecting = call();
    await closed(socket);
    results[name] = { connecting, closed: call() };
    const open = library.connect(port, '127.0.0.1');
    await once(open, 'connect');
    for (const [method, ...values] of calls) {
      assert.strictEqual(open[method](...values), open, `${name} ${method}`);
    }
  }
  assert.deepStrictEqual(results.ours, results.theirs);
});

test('a connection tells of itself what a socket of node:net does', async (t) => {
  const port = await echoServer(t);
  const seen = {};
  for (const [name, library] of Object.entries(libraries)) {
    const isOurs = library === oxwire;
    const log = (seen[name] = []);
    const note = (socket, when) => {
      const { connecting, destroyed, bytesRead, bytesWritten, writableLength } = socket;
      const { remoteAddress, remoteFamily, remotePort, localAddress, localFamily } = socket;
      const { port: localPort, ...address } = socket.address();
      log.push({
        when,
        flags: { connecting, destroyed, isPaused: socket.isPaused() },
        counts: { bytesRead, bytesWritten, writableLength },
        ends: { remoteAddress, remoteFamily, remotePort, localAddress, localFamily, address },
        isPort: localPort > 0 && localPort === socket.localPort,
      });
      // Of addresses that were read once node:net keeps the remote one, and oxwire both.
      if (destroyed) Object.assign(log.at(-1), { ends: undefined, isPort: undefined });
    };
    const receive = (socket) =>
      isOurs
        ? new Promise((resolve) => socket.read(Buffer.alloc(64), resolve))
        : once(socket, 'data');

    note(isOurs ? new library.Connection() : new library.Socket(), 'new');
    const socket = library.connect(port, '127.0.0.1');
    note(socket, 'connecting');
    socket.write('hello');
    socket.write(Buffer.alloc(10));
    note(socket, 'with what was written before the connection');
    await once(socket, 'connect');
    for (let received = 0; received < 15; received = socket.bytesRead) await receive(socket);
    note(socket, 'echoed');
    socket.write('x');
    await receive(socket);
    note(socket, 'and once more');
    socket.destroy();
    note(socket, 'destroyed');
    await closed(socket);
    note(socket, 'closed');
  }
  for (const [index, expected] of seen.theirs.entries()) {
    assert.deepStrictEqual(seen.ours[index], expected);
  }
});

test('connecting and destroyed follow a connection through its life', async (t) => {
  const server = await listen(t);
  const flags = (connection) => [connection.connecting, connection.destroyed, connection.closed];
  assert.deepStrictEqual(flags(new oxwire.Connection()), [false, false, false]);
  const client = oxwire.connect(server.address().port);
  assert.deepStrictEqual(flags(client), [true, false, false]);
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  assert.deepStrictEqual(flags(client), [false, false, false]);
  assert.deepStrictEqual(flags(peer), [false, false, false]);
  client.end();
  assert.deepStrictEqual(flags(client), [false, false, false]);
  client.close();
  assert.deepStrictEqual(flags(client), [false, true, false]);
  await closed(client);
  assert.deepStrictEqual(flags(client), [false, true, true]);
});

test('address is that of this end', async (t) => {
  const { client, peer, server } = await pair(t);
  assert.deepStrictEqual(peer.address(), server.address());
  const { localAddress, localFamily, localPort } = client;
  const expected = { address: localAddress, family: localFamily, port: localPort };
  const address = client.address();
  assert.deepStrictEqual(address, expected);
  Object.assign(address, { port: 0 }); // It is a copy.
  client.destroy();
  assert.deepStrictEqual(client.address(), expected, 'what was asked for is kept');
});

test('setNoDelay is for the connection at once, or for the one to come', async (t) => {
  const { port } = (await listen(t)).address();
  const native = reactor.open();
  const connect = t.mock.method(native, 'connect');
  const set = t.mock.method(native, 'setNoDelay');
  const seen = () => set.mock.calls.map(({ arguments: [, noDelay] }) => noDelay);

  let answer;
  const lookup = (_host, _options, callback) => {
    answer = callback;
  };
  const client = oxwire.connect({ port, host: 'a.name', lookup });
  client.setNoDelay(false);
  assert.deepStrictEqual(seen(), []);
  /** @type {any} */ (answer)(null, '127.0.0.1');
  assert.strictEqual(connect.mock.calls[0].arguments[2], false);
  await once(client, 'connect');

  for (const noDelay of [undefined, true, false, 0, 1, null]) {
    client.setNoDelay(/** @type {any} */ (noDelay));
  }
  assert.deepStrictEqual(seen(), [true, true, false, false, true, false]);
  client.destroy();
  client.setNoDelay();
  assert.strictEqual(set.mock.callCount(), 6, 'nothing is left to be set');
});

test('setKeepAlive counts whole seconds, as node:net does', async (t) => {
  const { client } = await pair(t);
  const set = t.mock.method(reactor.open(), 'setKeepAlive');
  const any = /** @type {any} */ (client);
  const cases = [
    { values: [], expected: -1 },
    { values: [false, 5000], expected: -1 },
    { values: [true], expected: 0 },
    { values: [true, 0], expected: 0 },
    { values: [true, 999], expected: 0 },
    { values: [true, 1999], expected: 1 },
    { values: [1, 60_000], expected: 60 },
    { values: [true, -5000], expected: 0 },
    { values: [true, NaN], expected: 0 },
    { values: [true, 1e12], expected: 32_767 },
  ];
  for (const { values } of cases) any.setKeepAlive(...values);
  assert.deepStrictEqual(
    set.mock.calls.map(({ arguments: [, seconds] }) => seconds),
    cases.map(({ expected }) => expected),
  );
  assert.throws(() => any.setKeepAlive(true, '5000'), {
    name: 'TypeError',
    code: 'ERR_INVALID_ARG_TYPE',
    message: /"initialDelay" argument/,
  });
});

/**
 * What the kernel says of the connection between two ports.
 *
 * @param {number} localPort
 * @param {number} remotePort
 */
function kernelSocket(localPort, remotePort) {
  const [found, ...more] = tcpSockets(localPort).filter(
    (socket) => socket.localPort === localPort && socket.remotePort === remotePort,
  );
  assert.deepStrictEqual([found.state, more], ['ESTABLISHED', []]);
  return found;
}

test('keepAlive is what the kernel has of it', { skip: !onLinux }, async (t) => {
  const server = await listen(t, { keepAlive: true, keepAliveInitialDelay: 2_000_000 });
  const { port } = server.address();
  const connect = async (options) => {
    const client = oxwire.connect({ port, ...options });
    t.after(() => client.destroy());
    await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    return client;
  };
  const probe = (localPort, remotePort) => {
    const { isProbed, timer } = kernelSocket(localPort, remotePort);
    // Seconds have not passed; a thousand, which the next case is away from it, never will.
    return isProbed ? Math.ceil(timer / 1000) * 1000 : 0;
  };
  const off = await connect({});
  assert.strictEqual(probe(off.localPort, port), 0);
  assert.strictEqual(probe(port, off.localPort), 2000, 'an accepted one has what the server says');
  const on = await connect({ keepAlive: true, keepAliveInitialDelay: 1_000_000 });
  assert.strictEqual(probe(on.localPort, port), 1000);

  on.setKeepAlive(true, 3_000_000);
  assert.strictEqual(probe(on.localPort, port), 3000);
  on.setKeepAlive(false);
  assert.strictEqual(probe(on.localPort, port), 0);
  on.setKeepAlive(true);
  assert.strictEqual(probe(on.localPort, port), 3000, 'the time stays as it was');

  const piping = off.pipe(on);
  for (const connection of [off, on]) {
    connection.setKeepAlive(true, 4_000_000);
    assert.strictEqual(probe(connection.localPort, port), 4000, 'in a pipe too');
    connection.setKeepAlive(false);
    assert.strictEqual(probe(connection.localPort, port), 0);
  }
  off.destroy();
  await assert.rejects(piping);
  await turns();
});

test('keepAlive without a time has that of the system', { skip: !onLinux }, async (t) => {
  const system = Number(
    require('fs').readFileSync('/proc/sys/net/ipv4/tcp_keepalive_time', 'latin1'),
  );
  const server = await listen(t);
  const { port } = server.address();
  for (const library of Object.values(libraries)) {
    const client = library.connect({ port, host: '127.0.0.1', keepAlive: true });
    t.after(() => client.destroy());
    await once(client, 'connect');
    const { isProbed, timer } = kernelSocket(client.localPort, port);
    assert.deepStrictEqual([isProbed, Math.abs(timer - system) < 100], [true, true]);
  }
});

test('end writes what it is given before it ends', async (t) => {
  for (const [given, sent] of /** @type {[any[], string][]} */ ([
    [['bye'], 'bye'],
    [['ÿ', 'latin1'], '\xff'],
    [[Buffer.from('bytes')], 'bytes'],
    [[''], ''],
    [[null], ''],
  ])) {
    const { client, peer } = await pair(t);
    const told = new Promise((resolve) => client.end(...given, resolve));
    assert.strictEqual((await readAll(peer)).toString('latin1'), sent);
    assert.strictEqual(await told, null);
    const other = await pair(t);
    other.client.end(...given);
    assert.strictEqual((await readAll(other.peer)).toString('latin1'), sent);
  }
});

test('an end with something wrong is thrown, and nothing is written or ended', async (t) => {
  const { client, peer } = await pair(t);
  const end = /** @type {any} */ (client.end.bind(client));
  assert.throws(() => end('bye', 'utf8', 'no function'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => end('bye', 'no-such-encoding'), { code: 'ERR_UNKNOWN_ENCODING' });
  assert.throws(() => end(5), { code: 'ERR_INVALID_ARG_TYPE' });
  client.end('all of it');
  assert.strictEqual(String(await readAll(peer)), 'all of it');
});

test('what is printed of a connection and a server is short, and says where they are', async (t) => {
  const { server, client } = await pair(t);
  const { port } = server.address();
  assert.match(inspect(client), new RegExp(`^Connection \\{[^]*'open'[^]*127.0.0.1 port ${port}`));
  assert.match(inspect(server), new RegExp(`^Server \\{[^]*${port}[^]*connections: 1`));
  assert.ok(inspect(client).length < 400);
  const close = closed(client);
  client.destroy();
  await close;
  assert.match(inspect(client), /'closed'/);
  assert.match(inspect([new oxwire.Connection()]), /^\[\s+Connection \{[^]*'connecting'/);
});
