'use strict';

// What ends a socket or server besides its methods: a signal, and `await using`. (Node 20 does not
// know the syntax, so the method is called.)

const assert = require('assert');
const net = require('net');
const { getEventListeners, once } = require('events');
const { test } = require('node:test');
const { run } = require('../support/program');
const oxwire = require('../..');
const { closed, freePort, listen, pair, read, turns } = require('../support/sockets');
const { Calls, leavesNothing } = require('../support/watch');

const libraries = { ours: /** @type {any} */ (oxwire), theirs: /** @type {any} */ (net) };

/**
 * What is emitted, in order, errors with all they say.
 *
 * @param {import('events').EventEmitter} emitter
 */
function logAll(emitter) {
  const log = [];
  for (const event of ['listening', 'connect', 'end', 'close']) {
    emitter.on(event, () => log.push(event));
  }
  emitter.on('error', (error) => {
    const { name, message, cause } = error;
    log.push({ name, message, cause, own: { ...error } });
  });
  return log;
}

/** How many listeners a signal has. @param {AbortSignal} signal */
function heard(signal) {
  return getEventListeners(signal, 'abort').length;
}

test('an abort destroys a connection that is connecting, as in node:net', async (t) => {
  const { port } = (await listen(t)).address();
  const logs = {};
  for (const [name, library] of Object.entries(libraries)) {
    for (const reason of [undefined, new Error('enough'), 'enough']) {
      const controller = new AbortController();
      const { signal } = controller;
      const client = library.connect({ port, host: '127.0.0.1', signal });
      const log = ((logs[name] ??= {})[String(reason)] = logAll(client));
      controller.abort(reason);
      log.push([client.destroyed, client.connecting]);
      await closed(client);
      if (reason === undefined) log[1].cause = log[1].cause.name; // Another one each time.
    }
  }
  assert.deepStrictEqual(logs.ours, logs.theirs);
  const log = logs.ours['Error: enough'];
  assert.deepStrictEqual(
    log.map((entry) => entry.name ?? entry),
    [[true, false], 'AbortError', 'close'],
  );
});

test('an abort destroys a connection that stands, as in node:net', async (t) => {
  const { port } = (await listen(t)).address();
  const logs = {};
  for (const [name, library] of Object.entries(libraries)) {
    const controller = new AbortController();
    const client = library.connect({ port, host: '127.0.0.1', signal: controller.signal });
    const log = (logs[name] = logAll(client));
    await once(client, 'connect');
    controller.abort(new Error('enough'));
    log.push([client.destroyed, client.connecting]);
    await closed(client);
  }
  assert.deepStrictEqual(logs.ours, logs.theirs);
});

test('what is pending is told of the abort, and then nobody need listen', async (t) => {
  const { port } = (await listen(t)).address();
  const controller = new AbortController();
  const client = oxwire.connect({ port, signal: controller.signal });
  const log = logAll(client);
  await once(client, 'connect');
  const pending = assert.rejects(read(client), { name: 'AbortError', code: 'ABORT_ERR' });
  controller.abort();
  await Promise.all([pending, closed(client)]);
  assert.deepStrictEqual(log, ['connect', 'close']);
});

test('what was queued before the connection is told of the abort', async (t) => {
  const { port } = (await listen(t)).address();
  const controller = new AbortController();
  const client = oxwire.connect({ port, signal: controller.signal });
  const log = [];
  client.write('x', (error) => log.push(error?.code));
  client.read(Buffer.alloc(1), (error) => log.push(error?.code));
  client.end((error) => log.push(error?.code));
  client.on('error', assert.fail);
  controller.abort();
  await closed(client);
  assert.deepStrictEqual(log, ['ABORT_ERR', 'ABORT_ERR', 'ABORT_ERR']);
});

test('an abort that nobody listens for ends no process', async (t) => {
  const { port } = (await listen(t)).address();
  const controller = new AbortController();
  const client = oxwire.connect({ port, signal: controller.signal });
  controller.abort();
  await closed(client);
});

test('with a signal that is aborted already nothing is looked up or reached', async (t) => {
  // node:net destroys the connection, and then connects it all the same.
  const server = await listen(t);
  const reached = [];
  server.on('connection', () => reached.push('server'));
  const lookup = () => reached.push('lookup');
  const { port } = server.address();
  const signal = AbortSignal.abort(new Error('enough'));
  for (const host of ['127.0.0.1', 'a.name']) {
    const client = oxwire.connect({ port, host, signal, lookup });
    assert.deepStrictEqual([client.destroyed, client.connecting], [true, false]);
    const log = logAll(client);
    await closed(client);
    assert.deepStrictEqual(
      log.map((entry) => entry.cause?.message ?? entry),
      ['enough', 'close'],
    );
  }
  // Whoever was reached before is heard of before.
  const last = oxwire.connect(port);
  await once(server, 'connection');
  assert.deepStrictEqual(reached, ['server']);
  last.destroy();
});

test('an abort after the close, or a second one, changes nothing', async (t) => {
  const { port } = (await listen(t)).address();
  const controller = new AbortController();
  const { signal } = controller;
  const client = oxwire.connect({ port, signal });
  client.on('error', assert.fail);
  await once(client, 'connect');
  client.destroy();
  controller.abort();
  controller.abort();
  await closed(client);
});

test('a signal is let go of as soon as the connection is over', async (t) => {
  const { port } = (await listen(t)).address();
  const { signal } = new AbortController();
  const client = oxwire.connect({ port, signal });
  assert.strictEqual(heard(signal), 1);
  await once(client, 'connect');
  assert.strictEqual(heard(signal), 1);
  client.destroy();
  assert.strictEqual(heard(signal), 0);

  const refused = oxwire.connect({ port: await freePort(), signal });
  refused.on('error', () => {});
  await closed(refused);
  assert.strictEqual(heard(signal), 0);
});

test('one signal may hold any number of connections', async (t) => {
  const { port } = (await listen(t)).address();
  const controller = new AbortController();
  const clients = Array.from({ length: 20 }, () =>
    oxwire.connect({ port, signal: controller.signal }),
  );
  await Promise.all(clients.map((client) => once(client, 'connect')));
  controller.abort();
  assert.ok(clients.every((client) => client.destroyed));
  await Promise.all(clients.map(closed));
});

test('an abort closes a server without an error, as in node:net', async () => {
  const logs = {};
  for (const [name, library] of Object.entries(libraries)) {
    const controller = new AbortController();
    const server = library.createServer();
    const log = (logs[name] = logAll(server));
    server.listen({ port: 0, host: '127.0.0.1', signal: controller.signal });
    await once(server, 'listening');
    const over = once(server, 'close');
    controller.abort();
    log.push(server.listening);
    await over;
  }
  assert.deepStrictEqual(logs.ours, ['listening', false, 'close']);
  assert.deepStrictEqual(logs.ours, logs.theirs);
});

test('an abort keeps a server from listening', async () => {
  for (const host of ['127.0.0.1', 'localhost', 'no-such-host.invalid']) {
    const controller = new AbortController();
    const server = oxwire.createServer();
    const log = logAll(server);
    server.listen({ port: 0, host, signal: controller.signal });
    controller.abort();
    await once(server, 'close');
    await turns();
    assert.deepStrictEqual(log, ['close']);
  }
});

test('a server whose signal is aborted already closes, and may listen again', async () => {
  const server = oxwire.createServer();
  const log = logAll(server);
  const signal = AbortSignal.abort();
  const listener = () => assert.fail('it does not listen');
  assert.strictEqual(server.listen({ port: 0, host: '127.0.0.1', signal }, listener), server);
  assert.strictEqual(server.listening, false);
  assert.deepStrictEqual(log, []);
  await once(server, 'close');
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  assert.strictEqual(server.listening, true);
  server.close();
});

test('an abort leaves the connections of a server as they are', async () => {
  const controller = new AbortController();
  const server = oxwire.createServer();
  server.listen({ port: 0, host: '127.0.0.1', signal: controller.signal });
  await once(server, 'listening');
  const client = oxwire.connect(server.address().port);
  const [[peer]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
  controller.abort();
  await once(server, 'close');
  peer.write('still here');
  assert.strictEqual((await read(client)).toString(), 'still here');
  client.destroy();
  peer.destroy();
});

test('a signal is let go of as soon as a server is closed or could not listen', async (t) => {
  const { signal } = new AbortController();
  const server = oxwire.createServer();
  server.listen({ port: 0, host: '127.0.0.1', signal });
  assert.strictEqual(heard(signal), 1);
  await once(server, 'listening');
  server.close();
  assert.strictEqual(heard(signal), 0);

  const { port } = (await listen(t)).address();
  server.listen({ port, host: '127.0.0.1', signal });
  await once(server, 'error');
  assert.strictEqual(heard(signal), 0);
});

test('to dispose of a connection is to destroy it, and to wait for its close', async (t) => {
  const { client } = await pair(t);
  const log = logAll(client);
  const pending = assert.rejects(read(client), { code: 'ERR_SOCKET_CLOSED' });
  const disposed = client[Symbol.asyncDispose]();
  assert.ok(client.destroyed);
  assert.strictEqual(await disposed, undefined);
  assert.ok(client.closed);
  assert.deepStrictEqual(log, ['close']);
  await pending;
  assert.strictEqual(await client[Symbol.asyncDispose](), undefined, 'and once more');
});

test('a connection that is connecting, refused or closing can be disposed of', async (t) => {
  const { port } = (await listen(t)).address();
  const connecting = oxwire.connect(port);
  connecting.write('x');
  await connecting[Symbol.asyncDispose]();
  assert.ok(connecting.closed);

  const refused = oxwire.connect(await freePort());
  await refused[Symbol.asyncDispose]();

  const { client } = await pair(t);
  client.close();
  await Promise.all([client[Symbol.asyncDispose](), client[Symbol.asyncDispose]()]);
  assert.ok(client.closed);
});

test('to dispose of a server is to close it, and to wait for that, as in node:net', async () => {
  for (const library of Object.values(libraries)) {
    const server = library.createServer();
    await server[Symbol.asyncDispose](); // It never listened.
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const over = closed(server);
    await server[Symbol.asyncDispose]();
    assert.strictEqual(server.listening, false);
    await over;
    await server[Symbol.asyncDispose]();
  }
});

test('a server that is about to listen, or to close, can be disposed of', async () => {
  const server = oxwire.createServer();
  server.on('listening', assert.fail);
  server.listen(0, '127.0.0.1');
  await server[Symbol.asyncDispose]();
  assert.strictEqual(server.listening, false);
  server.removeAllListeners('listening');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  await server[Symbol.asyncDispose]();
});

/** What stands for a signal, and is none or throws. @type {Record<string, any>} */
const NO_SIGNALS = {
  'that can not be listened to': { aborted: false },
  'that can not be forgotten': { aborted: false, addEventListener() {} },
  'that throws when listened to': {
    aborted: false,
    addEventListener() {
      throw Object.assign(new Error('not to be heard'), { code: 'MINE' });
    },
    removeEventListener() {},
  },
  'that throws when asked': {
    get aborted() {
      throw Object.assign(new Error('not to be seen'), { code: 'MINE' });
    },
    addEventListener() {},
    removeEventListener() {},
  },
};

for (const [name, signal] of Object.entries(NO_SIGNALS)) {
  test(`with a signal ${name} nothing begins`, () =>
    leavesNothing(async (t) => {
      const { server, client, peer } = await pair(t);
      let accepted = 0;
      server.on('connection', () => accepted++);
      const { port } = server.address();
      assert.throws(() => oxwire.connect({ port, signal }), code);
      const idle = oxwire.createServer();
      assert.throws(() => idle.listen({ port: 0, signal }), code);
      assert.throws(() => client.pipe(peer, { signal }, () => assert.fail('it has begun')), code);
      await assert.rejects(async () => client.pipe(peer, { signal }), code);
      await turns();
      assert.strictEqual(accepted, 0);
      // All are as they were.
      idle.listen(0, '127.0.0.1');
      await once(idle, 'listening');
      idle.close();
      client.write('x');
      assert.strictEqual(String(await read(peer)), 'x');
    }));
}

/** @param {any} error */
function code(error) {
  return error.code === 'ERR_INVALID_ARG_TYPE' || error.code === 'MINE';
}

test('an abort within the listening to a signal ends what begins then', () =>
  leavesNothing(async (t) => {
    const { server, client, peer } = await pair(t);
    const hasty = () => ({
      aborted: false,
      reason: 'at once',
      addEventListener: (/** @type {string} */ _name, /** @type {() => void} */ abort) => abort(),
      removeEventListener() {},
    });
    const calls = new Calls();
    const other = oxwire.connect({
      port: server.address().port,
      signal: /** @type {any} */ (hasty()),
    });
    calls.on(other, ['error', 'close']);
    client.pipe(peer, { signal: /** @type {any} */ (hasty()) }, calls.of('pipe'));
    await calls.once();
    assert.deepStrictEqual(calls.log.slice().sort(), [
      'close',
      'error ABORT_ERR',
      'pipe ABORT_ERR',
    ]);
  }));

test('options are read once', () =>
  leavesNothing(async (t) => {
    const { server, client, peer } = await pair(t);
    /** @type {Record<string, number>} */
    const reads = {};
    const watched = (/** @type {object} */ options) =>
      new Proxy(options, {
        get(target, name, receiver) {
          reads[String(name)] = (reads[String(name)] ?? 0) + 1;
          return Reflect.get(target, name, receiver);
        },
      });
    const { signal } = new AbortController();
    const { port } = server.address();
    const other = oxwire.connect(/** @type {any} */ (watched({ port, signal, host: '127.0.0.1' })));
    await once(other, 'connect');
    other.destroy();
    const controller = new AbortController();
    const piping = client.pipe(peer, watched({ signal: controller.signal, splice: false }));
    controller.abort();
    await assert.rejects(piping, { code: 'ABORT_ERR' });
    assert.deepStrictEqual([reads.signal, reads.splice, reads.port, reads.host], [2, 1, 1, 1]);
  }));

test('a signal that cannot be forgotten keeps nothing from its end', () =>
  leavesNothing(async (t) => {
    const { server, client, peer } = await pair(t);
    const signal = /** @type {any} */ ({
      aborted: false,
      addEventListener() {},
      removeEventListener() {
        throw new Error('not to be forgotten');
      },
    });
    const calls = new Calls();
    const other = oxwire.connect({ port: server.address().port, signal });
    const idle = oxwire.createServer().listen({ port: 0, signal });
    calls.on(other, ['connect', 'close']);
    calls.on(idle, ['listening']);
    client.pipe(client, { signal }, calls.of('pipe'));
    other.on('connect', () => other.destroy());
    idle.on('listening', () => idle.close(calls.of('idle')));
    peer.end();
    await calls.once();
  }));

test('a listener that stops the event of an abort stops no abort, as in node:net', async (t) => {
  const controller = new AbortController();
  const { signal } = controller;
  signal.addEventListener('abort', (event) => event.stopImmediatePropagation());
  const { server } = await pair(t);
  const client = oxwire.connect({ port: server.address().port, signal });
  const idle = oxwire.createServer().listen({ port: 0, signal });
  await Promise.all([once(client, 'connect'), once(idle, 'listening')]);
  client.on('error', () => {});
  controller.abort();
  await Promise.all([closed(client), closed(idle)]);
});

test('what a signal does while it is listened to is seen before a pipe begins', () =>
  leavesNothing(async (t) => {
    for (const method of ['destroy', 'pipe']) {
      const { client, peer } = await pair(t);
      const calls = new Calls();
      const signal = /** @type {any} */ ({
        aborted: false,
        addEventListener() {
          if (method === 'destroy') client.destroy();
          else client.pipe(client, calls.of('inner'));
        },
        removeEventListener() {},
      });
      client.pipe(peer, { signal }, calls.of('pipe'));
      setImmediate(() => client.destroy());
      await calls.once();
      assert.ok(
        calls.log.some((entry) => entry.startsWith('pipe ERR_')),
        String(calls.log),
      );
      assert.strictEqual(client.closed, true);
    }
  }));

test('what a signal ends is ended whatever becomes of the others', async () => {
  const { status, stdout, stderr } = await run(`
    const { Abortion } = require(${JSON.stringify(require.resolve('../../lib/net/lifetime'))});
    const given = new AbortController();
    const ends = [() => { throw new Error('first'); }, () => console.log('second')];
    for (const end of ends) Abortion.on(given.signal, end).begin();
    process.on('uncaughtException', ({ message }) => console.log(message));
    given.abort();`);
  assert.deepStrictEqual(
    { status, stdout, stderr },
    { status: 0, stdout: 'second\nfirst\n', stderr: '' },
  );
});
