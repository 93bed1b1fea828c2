'use strict';

const assert = require('assert');
const net = require('net');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const {
  closed,
  fill,
  freePort,
  listen,
  logEvents,
  pair,
  pairWithNode,
  read,
  readAll,
  turns,
  write,
} = require('../support/sockets');
const { run } = require('../support/program');
const { unansweringPort } = require('../support/unanswering');
const { Calls, leavesNothing, until } = require('../support/watch');

/** @typedef {import('node:test').TestContext} Test */

test('a half-open end goes through its steps in order', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const log = logEvents(client);
  client.write('hello', () => log.push('write callback'));
  client.end(() => log.push('end callback'));
  client.read(Buffer.alloc(8), function onread(_error, buffer, count) {
    log.push(`read callback ${count}`);
    if (count > 0) client.read(buffer, onread);
  });
  assert.strictEqual((await readAll(peer)).toString(), 'hello');
  assert.ok(client.finished);
  assert.deepStrictEqual(log, ['write callback', 'finish', 'end callback']);
  peer.write('late');
  peer.end();
  await closed(client);
  assert.deepStrictEqual(log.slice(3), ['read callback 4', 'read callback 0', 'end', 'close']);
  assert.ok(client.closed && client.finished && client.ended);
});

test('close with everything pending goes through its steps in order', async (t) => {
  const { client } = await pair(t, { allowHalfOpen: true });
  const log = logEvents(client);
  await fill(client);
  client.read(Buffer.alloc(1), (error, _buffer, count) => log.push(`read ${error?.code} ${count}`));
  client.read(Buffer.alloc(1), (error, _buffer, count) => log.push(`read ${error?.code} ${count}`));
  client.write('a', (error, _data, length) => log.push(`write ${error?.code} ${length}`));
  client.writev([Buffer.alloc(9000)], (error) => log.push(`writev ${error?.code}`));
  client.end((error) => log.push(`end ${error?.code}`));
  client.close(() => log.push(`close callback, closed: ${client.closed}`));
  assert.strictEqual(client.closed, false);
  assert.strictEqual(client.readable || client.writable, false);
  client.close(() => log.push('another close callback'));
  assert.deepStrictEqual(log, [], 'never within the call');
  await closed(client);
  assert.deepStrictEqual(log, [
    'write ERR_STREAM_DESTROYED 1',
    'writev ERR_STREAM_DESTROYED',
    'finish', // As turbo-net has it.
    'end ERR_SOCKET_CLOSED',
    'close callback, closed: true',
    'another close callback',
    'read ERR_SOCKET_CLOSED 0',
    'read ERR_SOCKET_CLOSED 0',
    'close',
  ]);
});

test('after the close every operation is told so, and close succeeds', async (t) => {
  const { client } = await pair(t);
  client.close();
  await closed(client);
  await assert.rejects(read(client), { code: 'ERR_SOCKET_CLOSED' });
  await assert.rejects(write(client, 'x'), { code: 'ERR_STREAM_DESTROYED' });
  const end = new Promise((resolve) => client.end(resolve));
  assert.strictEqual((await end).code, 'ERR_SOCKET_CLOSED');
  await new Promise((resolve) => client.close(() => resolve(undefined)));
  assert.strictEqual(client.destroy(), client);
});

test('what is called between close and its event is told before the event, in order', async (t) => {
  const { client } = await pair(t);
  const log = logEvents(client);
  client.on('error', () => {});
  client.read(Buffer.alloc(1), () => log.push('read 1'));
  client.close(() => log.push('close callback'));
  client.write('x', (error) => log.push(`write ${error?.code}`));
  client.write('nobody hears of this, and nobody is to');
  client.read(Buffer.alloc(1), (error) => log.push(`read 2 ${error?.code}`));
  client.end((error) => log.push(`end ${error?.code}`));
  await closed(client);
  client.write('nor of this');
  await turns(3);
  assert.deepStrictEqual(log, [
    'write ERR_STREAM_DESTROYED',
    'end ERR_SOCKET_CLOSED',
    'close callback',
    'read 1',
    'read 2 ERR_SOCKET_CLOSED',
    'close',
  ]);
});

test('what a callback of the closing calls is told before the event', async (t) => {
  const { client } = await pair(t);
  const log = [];
  await fill(client);
  client.read(Buffer.alloc(1), () => log.push('read'));
  client.write('x', () => {
    assert.strictEqual(client.closed, false);
    client.write('y', () => log.push('write'));
    client.end(() => log.push('end'));
    client.close(() => log.push('close callback'));
  });
  client.on('close', () => log.push('close'));
  client.close();
  await closed(client);
  assert.deepStrictEqual(log, ['write', 'end', 'close callback', 'read', 'close']);
});

test('who awaits a failed read is in time for close', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const pending = read(connection);
  socket.resetAndDestroy();
  await assert.rejects(pending, { code: 'ECONNRESET' });
  await closed(connection);
});

test('destroy takes a falsy value for no error', async (t) => {
  for (const value of [undefined, null, false, 0, '']) {
    const { client } = await pair(t);
    const pending = read(client);
    client.destroy(/** @type {any} */ (value));
    await assert.rejects(pending, { code: 'ERR_SOCKET_CLOSED' });
  }
});

test('end twice succeeds twice', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const results = [];
  client.end((error) => results.push(error));
  client.end((error) => results.push(error));
  await once(client, 'finish');
  client.end((error) => results.push(error));
  await turns(2);
  assert.deepStrictEqual(results, [null, null, null]);
  assert.strictEqual((await readAll(peer)).length, 0);
});

test("without allowHalfOpen the peer's end ends our side, after what was written has left", async (t) => {
  const { connection, socket } = await pairWithNode(t);
  const log = logEvents(connection);
  const over = closed(connection);
  const size = 16 << 20;
  connection.write(Buffer.alloc(size), (error) => log.push(`write ${error}`));
  const pending = read(connection);
  socket.end();
  assert.strictEqual((await pending).length, 0);
  let received = 0;
  for await (const chunk of socket) received += chunk.length;
  assert.strictEqual(received, size);
  await over;
  assert.deepStrictEqual(log, ['end', 'write null', 'finish', 'close']);
});

test('without allowHalfOpen a reply after our end is still read', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  connection.write('question');
  connection.end();
  await once(connection, 'finish');
  socket.end('late reply');
  assert.strictEqual((await read(connection)).toString(), 'late reply');
  const over = closed(connection);
  assert.strictEqual((await read(connection)).length, 0);
  await over;
});

test('what the callback of the end writes still leaves', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  connection.read(Buffer.alloc(1), () => connection.write('goodbye'));
  socket.end();
  let received = '';
  for await (const chunk of socket) received += chunk;
  assert.strictEqual(received, 'goodbye');
});

test('with both sides ended and nobody reading the connection closes', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  socket.resume();
  connection.end();
  await once(connection, 'finish');
  socket.end();
  await closed(connection);
  assert.ok(connection.ended);
});

test('when the last read leaves nothing but the end, the connection closes', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  connection.end();
  await once(connection, 'finish');
  socket.end('reply');
  await turns(); // The reply and the end are told of together.
  const events = logEvents(connection);
  connection.read(Buffer.alloc(5), () => events.push('read'));
  await closed(connection);
  assert.deepStrictEqual(events, ['read', 'end', 'close']);
});

test('bytes that nobody has read keep the connection open for who reads late', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  connection.end();
  await once(connection, 'finish');
  socket.end('unread');
  await turns();
  assert.strictEqual(connection.closed, false);
  assert.strictEqual((await readAll(connection)).toString(), 'unread');
});

test('a connection that is ended on both sides does not wait for ever to be read', async (t) => {
  // What was left unread is kept for a minute; the test lets it pass.
  const timers = [];
  t.mock.method(globalThis, 'setTimeout', (callback, delay) => {
    timers.push({ callback, delay });
    return { unref() {} };
  });
  const { connection, socket } = await pairWithNode(t);
  connection.end();
  await once(connection, 'finish');
  socket.end('nobody reads this');
  while (timers.length === 0) await turns(1);
  const { callback, delay } = timers.at(-1);
  assert.strictEqual(delay, 60_000);
  assert.strictEqual(connection.closed, false);
  callback();
  await closed(connection);
});

test('destroy tells its error to what is pending', async (t) => {
  const { client } = await pair(t);
  const log = logEvents(client);
  const reason = new Error('enough');
  const pending = read(client);
  client.destroy(reason);
  await assert.rejects(pending, reason);
  await turns();
  assert.deepStrictEqual(log, ['close'], 'a callback took it');
});

test('destroy with nothing pending tells its error to a listener, if there is one', async (t) => {
  const silent = await pair(t);
  silent.client.destroy(new Error('nobody hears'));
  await closed(silent.client);

  const { client } = await pair(t);
  const log = logEvents(client);
  client.destroy(new Error('heard'));
  await closed(client);
  assert.deepStrictEqual(log, ['error', 'close']);
});

/**
 * A server of node:net whose connections are kept, and what they emit.
 *
 * @param {Test} t
 */
async function listenWithNode(t) {
  const server = net.createServer({ allowHalfOpen: true });
  const sockets = [];
  const log = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', (/** @type {any} */ { code, syscall }) => log.push(`${syscall} ${code}`));
    for (const event of ['end', 'close']) socket.on(event, () => log.push(event));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  return { server, port, log, sockets };
}

test('resetAndDestroy resets the connection, as that of node:net', async (t) => {
  const { server, port, log } = await listenWithNode(t);
  for (const library of [oxwire, net]) {
    const client = /** @type {any} */ (library).connect(port, '127.0.0.1');
    const events = logEvents(client);
    const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    log.length = 0;
    const over = [closed(client), closed(socket)];
    assert.strictEqual(client.resetAndDestroy(), client);
    assert.ok(client.destroyed);
    assert.strictEqual(client.resetAndDestroy(), client, 'once more');
    await Promise.all(over);
    assert.strictEqual(client.resetAndDestroy(), client, 'and after the close');
    await turns();
    assert.deepStrictEqual(events, ['connect', 'close']);
    assert.deepStrictEqual(log, ['read ECONNRESET', 'close']);
  }
});

test('destroy and close are no reset', async (t) => {
  const { port, log, sockets, server } = await listenWithNode(t);
  for (const method of ['destroy', 'close']) {
    const client = oxwire.connect(port);
    const [[socket]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    log.length = 0;
    client[method]();
    await once(socket, 'end');
    assert.deepStrictEqual(log, ['end']);
    sockets.pop().destroy();
  }
});

test('a reset that is asked for before the connection comes behind its event', async (t) => {
  const { port, log } = await listenWithNode(t);
  for (const library of [oxwire, net]) {
    const client = /** @type {any} */ (library).connect(port, '127.0.0.1');
    /** @type {any[]} */
    const events = logEvents(client);
    client.on('connect', () => {
      events.push(client.destroyed, client.connecting, client.remotePort === port);
    });
    assert.strictEqual(client.resetAndDestroy().resetAndDestroy(), client);
    events.push(client.destroyed, client.connecting);
    await closed(client);
    while (!log.includes('close')) await turns(1);
    assert.deepStrictEqual(events, [false, true, 'connect', false, false, true, 'close']);
    assert.deepStrictEqual(log.splice(0), ['read ECONNRESET', 'close']);
  }
});

test('a listener that throws does not keep a connection from its reset', async (t) => {
  const { port, log } = await listenWithNode(t);
  const client = oxwire.connect(port);
  const uncaught = [];
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error.message));
  t.after(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  });
  client.on('connect', () => {
    throw new Error('thrown');
  });
  client.resetAndDestroy();
  await closed(client);
  while (!log.includes('close')) await turns(1);
  assert.deepStrictEqual(uncaught, ['thrown']);
  assert.deepStrictEqual(log, ['read ECONNRESET', 'close']);
});

test('a refused connection that was to be reset is an error as any other', async () => {
  const port = await freePort();
  for (const library of [oxwire, net]) {
    const client = /** @type {any} */ (library).connect(port, '127.0.0.1');
    const log = [];
    client.on('error', ({ code }) => log.push(code));
    client.on('close', () => log.push('close'));
    client.resetAndDestroy();
    await closed(client);
    assert.deepStrictEqual(log, ['ECONNREFUSED', 'close']);
  }
});

test('destroy ends a connection that waits for its reset', { skip: !onLinux() }, async (t) => {
  const client = oxwire.connect(await unansweringPort(t));
  client.write('x', (error) =>
    assert.strictEqual(error?.code, 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION'),
  );
  client.resetAndDestroy();
  await turns();
  assert.deepStrictEqual([client.connecting, client.destroyed], [true, false]);
  client.destroy();
  await closed(client);
});

test('a reset in the middle of a write tells what is pending, and the peer', async (t) => {
  const { client, peer } = await pair(t);
  await fill(client);
  const log = logEvents(client);
  assert.ok(client.writableLength > 0);
  client.write('x', (error) => log.push(error?.code));
  client.read(Buffer.alloc(1), (error) => log.push(error?.code));
  client.end((error) => log.push(error?.code));
  client.resetAndDestroy();
  assert.deepStrictEqual([client.destroyed, client.writableLength], [true, 0]);
  await closed(client);
  assert.deepStrictEqual(log, [
    'ERR_STREAM_DESTROYED',
    'finish',
    'ERR_SOCKET_CLOSED',
    'ERR_SOCKET_CLOSED',
    'close',
  ]);
  // What came before it can be read; the end never comes.
  await assert.rejects(readAll(peer), { code: 'ECONNRESET' });
});

test('what came before a reset of our own is not read any more', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  socket.write('unread');
  await turns();
  connection.pause();
  const pending = read(connection);
  connection.resetAndDestroy();
  await assert.rejects(pending, { code: 'ERR_SOCKET_CLOSED' });
});

test('a Connection that was never connected can be reset', async () => {
  const connection = new oxwire.Connection();
  assert.strictEqual(connection.resetAndDestroy(), connection);
  await closed(connection);
  assert.ok(connection.destroyed);
});

test('a read that is refused while a close waits for what was written changes nothing else', () =>
  leavesNothing(async (t) => {
    const server = net.createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = /** @type {net.AddressInfo} */ (server.address());
    for (const isAsked of [false, true]) {
      const calls = new Calls();
      const data = Buffer.alloc(32 << 20, 'x');
      const client = oxwire.connect(port);
      calls.on(client, ['close']);
      if (isAsked) client.read(Buffer.alloc(10), calls.of('read before'));
      client.write(data, calls.of('write'));
      client.close(calls.of('close callback'));
      client.read(Buffer.alloc(10), calls.of('read'));
      client.read(oxwire.pool, calls.of('read of the pool'));
      client.read(Buffer.alloc(0), calls.of('read of nothing'));
      const [socket] = await once(server, 'connection');
      if (isAsked) socket.write('y');
      let count = 0;
      for await (const chunk of socket) count += chunk.length;
      socket.destroy();
      await calls.once();
      assert.strictEqual(count, data.length);
      assert.deepStrictEqual(calls.log, [
        ...(isAsked ? ['read before'] : []),
        'read ERR_SOCKET_CLOSED',
        'read of the pool ERR_SOCKET_CLOSED',
        'read of nothing ERR_SOCKET_CLOSED',
        'write',
        'close callback',
        'close',
      ]);
    }
  }));

test('a process does not end before a close that waits, whatever was read meanwhile', () =>
  leavesNothing(async (t) => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {}).resume();
      socket.write('unasked');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = /** @type {net.AddressInfo} */ (server.address());
    const { stdout, stderr } = await run(`
      const client = oxwire.connect(${port});
      client.read(Buffer.alloc(10), () => console.log('read'));
      client.write(Buffer.alloc(32 << 20), () => console.log('written'));
      client.close(() => console.log('closed'));
      client.read(Buffer.alloc(10), (error) => console.log(error.code));`);
    assert.strictEqual(stderr, '');
    // The reads are told when the peer's bytes come, which may be late.
    const lines = ['ERR_SOCKET_CLOSED', 'closed', 'read', 'written'];
    assert.deepStrictEqual(stdout.trim().split('\n').sort(), lines);
  }));

test('an error of destroy is told as it is, whatever it looks like', () =>
  leavesNothing(async (t) => {
    const errors = [
      Object.assign(new Error('of a disk'), { syscall: 'write', code: 'ENOSPC', errno: -28 }),
      Object.assign(new Error('of another socket'), {
        syscall: 'write',
        code: 'EPIPE',
        errno: -32,
      }),
      Object.assign(new Error('without a number'), { syscall: 'write' }),
      Object.assign(new Error('of an end'), { syscall: 'shutdown', errno: 'x' }),
    ];
    for (const error of errors) {
      const { client } = await pair(t);
      const told = /** @type {unknown[]} */ ([]);
      client.read(Buffer.alloc(1), (reason) => told.push(reason));
      await fill(client);
      client.write('x', (reason) => told.push(reason));
      client.end((reason) => told.push(reason));
      client.destroy(error);
      client.read(Buffer.alloc(1), (reason) => told.push(reason));
      await closed(client);
      assert.deepStrictEqual(
        told.map((reason) => reason === error),
        [true, true, true, true],
      );
    }
  }));

test('half a message whose buffer is gone is a reset at once, whatever is pending', () =>
  leavesNothing(async (t) => {
    for (const paused of [false, true]) {
      const { client: connection, peer } = await pair(t);
      const calls = new Calls();
      calls.on(connection, ['close']);
      if (paused) connection.pause();
      connection.read(Buffer.alloc(10), calls.of('read'));
      const memory = new ArrayBuffer(32 << 20);
      connection.write(
        new Uint8Array(memory),
        calls.of('write', () => connection.end(calls.of('end'))),
      );
      await turns();
      structuredClone(memory, { transfer: [memory] });
      await assert.rejects(readAll(peer), { code: 'ECONNRESET' });
      await calls.once();
      assert.deepStrictEqual(calls.log, [
        'write ERR_INVALID_STATE',
        'end ERR_INVALID_STATE',
        'read ERR_INVALID_STATE',
        'close',
      ]);
    }
  }));

test('an end after a failure is told of the failure', () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t);
    const calls = new Calls();
    connection.pause();
    connection.read(Buffer.alloc(10), calls.of('read'));
    socket.resetAndDestroy();
    await turns();
    connection.write(
      'x',
      calls.of('write', () => connection.end(calls.of('end'))),
    );
    await until(() => calls.log.length === 2);
    connection.resume();
    await calls.once();
    assert.deepStrictEqual(calls.log, ['write ECONNRESET', 'end ECONNRESET', 'read ECONNRESET']);
  }));

test('an error that a refused operation did not take is an event', () =>
  leavesNothing(async (t) => {
    const { server, client, peer } = await pair(t);
    const calls = new Calls();
    const other = oxwire.connect(server.address().port);
    calls.on(other, ['error', 'close']);
    other.write('x');
    other.close();
    other.read(Buffer.alloc(4), calls.of('read'));
    other.destroy(new Error('mine'));
    await calls.once();
    assert.deepStrictEqual(calls.log, ['read ERR_SOCKET_CLOSED', 'error mine', 'close']);

    const late = new Calls();
    late.on(client, ['error', 'close']);
    client.write(Buffer.alloc(32 << 20));
    client.end();
    client.write('x', late.of('write'));
    peer.resetAndDestroy();
    await late.once();
    assert.deepStrictEqual(late.log, [
      'write ERR_STREAM_WRITE_AFTER_END',
      'error ECONNRESET',
      'close',
    ]);
  }));

test('an error that nobody has heard before a close is an event', () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t);
    const calls = new Calls();
    calls.on(connection, ['close']);
    connection.on('error', calls.most('error'));
    connection.pause();
    connection.read(Buffer.alloc(4), calls.of('read'));
    socket.resetAndDestroy();
    await turns();
    connection.write('x');
    await turns();
    connection.close();
    await calls.once();
    assert.deepStrictEqual(calls.log, ['read ECONNRESET', 'close']);
  }));

/**
 * Does something as near to the end of the stack as it can be begun, and says whether it threw.
 *
 * @param {number} distance how many frames before the end
 * @param {() => void} body
 */
function nearTheEnd(distance, body) {
  let level = 0;
  let threw = false;
  (function dive() {
    try {
      dive();
    } catch {}
    if (level++ !== distance) return;
    try {
      body();
    } catch {
      threw = true;
    }
  })();
  return threw;
}

test('what ends a connection or a server does it, or changes nothing, at the end of the stack', () =>
  leavesNothing(async (t) => {
    for (const method of ['destroy', 'close']) {
      for (let distance = 0; distance < 40; distance++) {
        const { server, client } = await pair(t);
        const calls = new Calls();
        client.on('close', calls.of('close of the client'));
        server.on('close', calls.of('close of the server'));
        client.read(Buffer.alloc(1), calls.of('read'));
        if (nearTheEnd(distance, () => client[method]())) {
          assert.ok(!client.destroyed, `${method} at ${distance}`);
          client[method]();
        }
        const close = calls.of('callback of the server');
        if (nearTheEnd(distance, () => server.close(close))) {
          assert.ok(server.listening, `server.close at ${distance}`);
          server.close(close);
        }
        await calls.once();
      }
    }
  }));

test('close within any callback and event is the end of it', async (t) => {
  for (const moment of ['read', 'write', 'end', 'finish', 'connection', 'connect', 'close']) {
    const server = await listen(t, { allowHalfOpen: true });
    server.on('connection', (peer) => {
      if (moment === 'connection') peer.close();
      peer.write('x');
      peer.end();
    });
    const client = oxwire.connect(server.address().port, { allowHalfOpen: true });
    const over = closed(client);
    client.on(moment, () => client.close());
    client.read(Buffer.alloc(1), () => {
      if (moment === 'read') client.close();
      client.read(Buffer.alloc(1), () => {});
    });
    client.write('y', () => {
      if (moment === 'write') client.close();
    });
    client.end();
    await over;
    assert.ok(client.closed, moment);
  }
});

test('a server forgets its connections when they close', async (t) => {
  const server = await listen(t);
  const clients = [];
  for (let i = 0; i < 5; i++) {
    clients.push(net.connect(server.address().port));
    await once(server, 'connection');
  }
  assert.strictEqual(server.connections.length, 5);
  const [first, , third] = server.connections;
  third.close();
  first.close();
  await turns();
  assert.strictEqual(server.connections.length, 3);
  assert.ok(!server.connections.includes(first) && !server.connections.includes(third));
  for (const connection of server.connections.slice()) connection.destroy();
  await turns();
  assert.deepStrictEqual(server.connections, []);
  for (const client of clients) client.destroy();
});

test('a server forgets its connections even where a program has sorted them', async (t) => {
  const server = await listen(t);
  const clients = [];
  for (let i = 0; i < 4; i++) {
    clients.push(net.connect(server.address().port));
    await once(server, 'connection');
  }
  const [first, second, third, fourth] = server.connections;
  server.connections.reverse();
  second.destroy();
  await turns();
  assert.deepStrictEqual(new Set(server.connections), new Set([first, third, fourth]));
  server.connections.unshift(/** @type {any} */ (null));
  for (const connection of [fourth, first, third]) connection.destroy();
  await turns();
  assert.deepStrictEqual(server.connections, [null]);
  server.connections.pop();
  for (const client of clients) client.destroy();
});

function onLinux() {
  return process.platform === 'linux';
}
