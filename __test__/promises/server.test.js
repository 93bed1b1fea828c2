'use strict';

const assert = require('assert');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { Server, connect, createServer } = require('../../promises.js');
const { turns } = require('../support/sockets');
const { leavesNothing, openSockets, outcome, until } = require('../support/watch');

/**
 * A server that listens, and is closed at the end with all its connections.
 *
 * @param {import('../support/sockets').Scope} t
 * @param {import('../..').ServerOptions} [options]
 */
async function listen(t, options) {
  const server = await createServer(options).listen(0, '127.0.0.1');
  t.after(async () => {
    await server[Symbol.asyncDispose]();
    for (const connection of server.server.connections) connection.destroy();
  });
  return server;
}

/** Connections to a server, closed at the end. @param {any} t @param {Server} server */
async function connectTo(t, server) {
  const connection = await connect(server.address().port);
  t.after(() => connection.destroy());
  return connection;
}

test('listen is fulfilled with the server, when it listens', async (t) => {
  const server = createServer();
  assert.ok(server instanceof Server);
  assert.strictEqual(server.listening, false);
  assert.strictEqual(await server.listen(0, '127.0.0.1'), server);
  t.after(() => server.close());
  assert.strictEqual(server.listening, true);
  assert.strictEqual(server.address().address, '127.0.0.1');
});

test('what listen is given wrong, or fails with, is a rejection, and it may be tried again', async (t) => {
  const { port } = (await listen(t)).address();
  const server = createServer();
  assert.strictEqual(await outcome(server.listen(port, '127.0.0.1')), 'EADDRINUSE');
  assert.strictEqual(await outcome(server.listen(-1)), 'ERR_SOCKET_BAD_PORT');
  await server.listen(0, '127.0.0.1');
  assert.strictEqual(await outcome(server.listen(0)), 'ERR_SERVER_ALREADY_LISTEN');
  await server.close();
  for (const event of ['listening', 'error', 'close']) {
    assert.ok(server.server.listenerCount(event) <= 1, event);
  }
});

test('a signal gives listen up, and closes the server later', async () => {
  const early = createServer().listen({ port: 0, signal: AbortSignal.abort('why') });
  assert.strictEqual(await early.catch((error) => error.cause), 'why');
  const meanwhile = new AbortController();
  const listening = createServer().listen({ port: 0, signal: meanwhile.signal });
  meanwhile.abort();
  assert.strictEqual(await outcome(listening), 'ABORT_ERR');
  const later = new AbortController();
  const server = await createServer().listen({ port: 0, signal: later.signal });
  const loop = (async () => {
    for await (const connection of server) connection.destroy();
  })();
  later.abort();
  await loop;
  assert.strictEqual(server.listening, false);
});

test('a listen that close cancels is rejected', async () => {
  const server = createServer();
  const listening = server.listen(0);
  await server.close();
  assert.strictEqual(await outcome(listening), 'ERR_SERVER_NOT_RUNNING');
});

test('close is fulfilled where there is nothing to close, too', async (t) => {
  const server = createServer();
  await server.close();
  await server.listen(0, '127.0.0.1');
  const client = await connectTo(t, server);
  for await (const connection of server) {
    connection.destroy();
    break;
  }
  await Promise.all([server.close(), server.close(), client.close()]);
  await server.close();
});

test('a server may listen again at once, and its loops go on', async (t) => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const server = await listen(t);
    const iterator = server[Symbol.asyncIterator]();
    const closing = server.close();
    assert.strictEqual(await server.listen(0, host), server);
    await closing;
    const taken = iterator.next();
    await turns();
    await connectTo(t, server);
    assert.strictEqual((await taken).done, false);
  }
});

test('a loop may begin before it listens again', async (t) => {
  const server = await listen(t);
  await server.close();
  const listening = server.listen(0, '127.0.0.1');
  const taken = server[Symbol.asyncIterator]().next();
  await listening;
  await connectTo(t, server);
  assert.strictEqual((await taken).done, false);
});

test('connections that nobody has taken are closed however the server is', async (t) => {
  const given = new AbortController();
  const ways = [
    (/** @type {Server} */ server) => server.close(),
    (/** @type {Server} */ server) => server.server.close(),
    () => given.abort(),
  ];
  for (const close of ways) {
    const server = await createServer().listen({ port: 0, signal: given.signal });
    const client = await connectTo(t, server);
    await until(() => server.server.connections.length === 1);
    close(server);
    assert.strictEqual(await client.read(Buffer.alloc(1)), 0);
  }
});

test('for await has every connection, those that came before it too', async (t) => {
  const server = await listen(t);
  const clients = [await connectTo(t, server), await connectTo(t, server)];
  const ports = [];
  for await (const { connection } of server) {
    ports.push(connection.remotePort);
    if (ports.length === 2) clients.push(await connectTo(t, server));
    if (ports.length === 3) break;
  }
  assert.deepStrictEqual(
    ports,
    clients.map(({ connection }) => connection.localPort),
  );
});

test('a connection is for one of several loops', async (t) => {
  const server = await listen(t);
  const seen = /** @type {string[]} */ ([]);
  const loops = ['a', 'b'].map(async (name) => {
    for await (const connection of server) {
      seen.push(name);
      connection.destroy();
    }
  });
  for (let i = 0; i < 4; i++) await connectTo(t, server);
  await until(() => seen.length === 4);
  await server.close();
  await Promise.all(loops);
  assert.deepStrictEqual(seen, ['a', 'b', 'a', 'b']);
});

test('a loop ends when the server is closed, and may begin again when it listens again', async (t) => {
  const server = await listen(t);
  const loop = async () => {
    let count = 0;
    for await (const connection of server) {
      count++;
      connection.destroy();
    }
    return count;
  };
  const first = loop();
  await connectTo(t, server);
  await until(() => server.server.connections.length === 0);
  await turns();
  await server.close();
  assert.strictEqual(await first, 1);
  assert.strictEqual(await loop(), 0);
  await server.listen(0, '127.0.0.1');
  const second = loop();
  await connectTo(t, server);
  await turns();
  await server.close();
  assert.strictEqual(await second, 1);
});

test('who leaves the loop closes the server, and connections that nobody has taken', async (t) => {
  for (const leave of ['break', 'throw']) {
    const server = await listen(t);
    const clients = [];
    for (let i = 0; i < 3; i++) clients.push(await connectTo(t, server));
    const loop = (async () => {
      for await (const connection of server) {
        if (leave === 'throw') throw new Error('left');
        assert.ok(connection.connection.remotePort);
        break;
      }
    })();
    await loop.catch((error) => assert.strictEqual(error.message, 'left'));
    assert.strictEqual(server.listening, false);
    const [taken, ...others] = clients;
    for (const client of others) assert.strictEqual(await client.read(Buffer.alloc(1)), 0);
    assert.strictEqual(taken.connection.ended, false, 'one that was taken stays');
  }
});

test('connections that nobody takes wait in the system, all but 64', async (t) => {
  const before = openSockets();
  const server = await listen(t);
  const clients = [];
  for (let i = 0; i < 200; i++) clients.push(connectTo(t, server));
  await Promise.all(clients);
  await turns();
  assert.strictEqual(server.server.connections.length, 64);
  let count = 0;
  for await (const connection of server) {
    connection.destroy();
    if (++count === 200) break;
  }
  for (const client of await Promise.all(clients)) {
    assert.strictEqual(await client.read(Buffer.alloc(1)), 0);
    client.destroy();
  }
  await until(() => openSockets() <= before);
});

test('a server and its connections leave nothing behind', () =>
  leavesNothing(async (t) => {
    const server = await createServer().listen(0, '127.0.0.1');
    const client = await connectTo(t, server);
    const closing = once(client.connection, 'close');
    const iterator = server[Symbol.asyncIterator]();
    const { value } = await iterator.next();
    const waits = iterator.next();
    await value?.end('bye');
    for await (const chunk of client) assert.strictEqual(String(chunk), 'bye');
    await closing;
    await server[Symbol.asyncDispose]();
    assert.deepStrictEqual(await waits, { value: undefined, done: true });
    assert.deepStrictEqual(await iterator.next(), { value: undefined, done: true });
  }));

test('it is the sockets of oxwire', async (t) => {
  const server = await listen(t);
  assert.ok(server.server instanceof oxwire.Server);
  assert.ok((await connectTo(t, server)).connection instanceof oxwire.Connection);
});
