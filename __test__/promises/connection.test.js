'use strict';

const assert = require('assert');
const { AsyncLocalStorage } = require('async_hooks');
const { getEventListeners, once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const reactor = require('../../lib/net/reactor');
const { EAGAIN } = require('../../lib/native');

const { WRITABLE } = reactor;
const { Connection, connect, pool } = require('../../promises.js');
const { run } = require('../support/program');
const { closed, fill, freePort, listen, pair, readAll, turns } = require('../support/sockets');
const { leavesNothing, outcome, until } = require('../support/watch');

const PROMISES = JSON.stringify(require.resolve('../../promises.js'));

/**
 * Both ends of a connection, with promises.
 *
 * @param {import('../support/sockets').Scope} t
 * @param {import('../..').ServerOptions} [options]
 */
async function ends(t, options) {
  const { client, peer } = await pair(t, options);
  return { client: new Connection(client), peer: new Connection(peer) };
}

/** @param {import('../../promises.js').Connection} connection */
async function readText(connection) {
  const buffer = Buffer.alloc(100);
  return buffer.toString('latin1', 0, await connection.read(buffer));
}

test('reads say how many bytes there were, and 0 at the end', async (t) => {
  const { client, peer } = await ends(t);
  const buffer = Buffer.alloc(4);
  assert.strictEqual(await client.write('hello'), undefined);
  assert.deepStrictEqual([await peer.read(buffer), String(buffer)], [4, 'hell']);
  assert.deepStrictEqual([await peer.read(buffer), buffer[0]], [1, 'o'.charCodeAt(0)]);
  assert.strictEqual(await client.end(), undefined);
  assert.strictEqual(await peer.read(buffer), 0);
  assert.strictEqual(await peer.read(buffer), 0);
});

test('a read of the pool has its buffer with it', async (t) => {
  const { client, peer } = await ends(t);
  await client.write('pooled');
  const { buffer, bytesRead } = await peer.read(pool);
  assert.strictEqual(buffer?.toString('latin1', 0, bytesRead), 'pooled');
  assert.strictEqual(pool.lent, 1);
  await peer.write(buffer, bytesRead, { release: true });
  assert.strictEqual(pool.lent, 0);
  assert.strictEqual(await readText(client), 'pooled');
  await client.end();
  assert.deepStrictEqual(await peer.read(pool), { buffer: null, bytesRead: 0 });
});

test('writes take what those with callbacks do', async (t) => {
  const { client, peer } = await ends(t);
  const bytes = Buffer.from('0123456789');
  await client.write(bytes, 3);
  await client.write('f00d', 'hex');
  await client.writev([bytes, bytes], [1, 2]);
  await client.writev([bytes]);
  await client.end(bytes, 2);
  const all = await readAll(peer.connection);
  assert.strictEqual(all.toString('latin1'), '012\xf0\x0d001012345678901');
});

test('wrong arguments are rejected, and the connection goes on', async (t) => {
  const { client, peer } = await ends(t);
  const wrong = /** @type {any} */ ('wrong');
  const bytes = Buffer.alloc(4);
  const calls = [
    client.read(wrong),
    client.read(bytes, wrong),
    client.read(bytes, { signal: wrong }),
    client.write(/** @type {any} */ (7)),
    client.write(bytes, 5),
    client.write(bytes, 4, wrong),
    client.write(bytes, 4, { release: true }),
    client.write('x', wrong),
    client.writev(wrong),
    client.writev([bytes], null, { signal: wrong }),
    client.end(/** @type {any} */ ({})),
  ];
  assert.deepStrictEqual(await Promise.all(calls.map(outcome)), [
    'ERR_INVALID_ARG_TYPE',
    'ERR_INVALID_ARG_TYPE',
    'ERR_INVALID_ARG_TYPE',
    'ERR_INVALID_ARG_TYPE',
    'ERR_OUT_OF_RANGE',
    'ERR_INVALID_ARG_TYPE',
    'ERR_INVALID_ARG_VALUE',
    'ERR_UNKNOWN_ENCODING',
    'ERR_INVALID_ARG_TYPE',
    'ERR_INVALID_ARG_TYPE',
    'ERR_INVALID_ARG_TYPE',
  ]);
  await client.write('on');
  assert.strictEqual(await readText(peer), 'on');
});

test('what failed is told as it is with callbacks', async (t) => {
  const { client, peer } = await ends(t);
  await client.end();
  assert.strictEqual(await outcome(client.write('x')), 'ERR_STREAM_WRITE_AFTER_END');
  const waits = client.read(Buffer.alloc(4));
  peer.connection.resetAndDestroy();
  assert.strictEqual(await outcome(waits), 'ECONNRESET');
  assert.strictEqual(await client.close(), undefined);
  assert.strictEqual(await outcome(client.read(Buffer.alloc(4))), 'ECONNRESET');
  assert.strictEqual(await outcome(peer.end()), 'ERR_SOCKET_CLOSED');
});

test('for await has all that arrives, in buffers of its own, and ends with the peer', async (t) => {
  const { client, peer } = await ends(t, { allowHalfOpen: true });
  const sent = Buffer.alloc(1 << 20, 'some text');
  const written = client.end(sent);
  const chunks = [];
  for await (const chunk of peer) {
    assert.strictEqual(pool.lent, 0);
    chunks.push(chunk);
  }
  assert.deepStrictEqual(Buffer.concat(chunks), sent);
  await written;
  await peer.end('still writable');
  assert.strictEqual(await readText(client), 'still writable');
});

test('who leaves for await closes the connection', async (t) => {
  for (const leave of ['break', 'throw']) {
    const { client, peer } = await ends(t);
    await client.write('first');
    const loop = (async () => {
      for await (const chunk of peer) {
        assert.strictEqual(String(chunk), 'first');
        if (leave === 'throw') throw new Error('left');
        break;
      }
    })();
    assert.strictEqual(
      await loop.catch((error) => error.message),
      leave === 'throw' ? 'left' : undefined,
    );
    assert.strictEqual(peer.connection.destroyed, true);
    assert.strictEqual(await client.read(Buffer.alloc(4)), 0);
  }
});

test('for await has what came before a reset, and then throws it', async (t) => {
  const { client, peer } = await ends(t);
  await client.write('before');
  const chunks = [];
  const loop = (async () => {
    for await (const chunk of peer) {
      chunks.push(String(chunk));
      client.connection.resetAndDestroy();
    }
  })();
  assert.strictEqual(await outcome(loop), 'ECONNRESET');
  assert.deepStrictEqual(chunks, ['before']);
  assert.strictEqual(pool.lent, 0);
});

test('close and asyncDispose wait until it is closed', async (t) => {
  const { client, peer } = await ends(t);
  await client.close();
  assert.strictEqual(client.connection.closed, true);
  await client[Symbol.asyncDispose]();
  await peer[Symbol.asyncDispose]();
  assert.strictEqual(peer.connection.closed, true);
});

test('an operation goes on in the context that it was begun in', async (t) => {
  const { client, peer } = await ends(t);
  const storage = new AsyncLocalStorage();
  const stores = ['a', 'b'].map((store) =>
    storage.run(store, async () => {
      await client.read(Buffer.alloc(1));
      return storage.getStore();
    }),
  );
  await peer.write('xy');
  assert.deepStrictEqual(await Promise.all(stores), ['a', 'b']);
});

test('what connect is given wrong, or fails with, is a rejection', async (t) => {
  const port = await freePort();
  assert.strictEqual(await outcome(connect(port)), 'ECONNREFUSED');
  assert.strictEqual(await outcome(connect(-1)), 'ERR_SOCKET_BAD_PORT');
  assert.strictEqual(await outcome(connect({ port, host: 'nowhere.invalid' })), 'ENOTFOUND');
  const server = await listen(t);
  const connection = await connect(server.address().port, '127.0.0.1', { noDelay: false });
  assert.strictEqual(connection.connection.connecting, false);
  for (const event of ['connect', 'error', 'close']) {
    assert.strictEqual(connection.connection.listenerCount(event), 0);
  }
  connection.destroy();
});

test('connect is given up by its signal, before and meanwhile, and the connection later', async (t) => {
  const server = await listen(t);
  const { port } = server.address();
  const early = connect({ port, signal: AbortSignal.abort('why') });
  assert.strictEqual(await early.catch((error) => error.cause), 'why');
  const meanwhile = new AbortController();
  const attempt = connect({ port, signal: meanwhile.signal });
  meanwhile.abort();
  assert.strictEqual(await outcome(attempt), 'ABORT_ERR');
  const later = new AbortController();
  const connection = await connect({ port, signal: later.signal });
  const waits = connection.read(Buffer.alloc(1));
  later.abort();
  assert.strictEqual(await outcome(waits), 'ABORT_ERR');
  assert.strictEqual(connection.connection.destroyed, true);
});

// Signals of an operation.

test('a read that is given up takes no bytes', async (t) => {
  const { client, peer } = await ends(t);
  const { signal } = new AbortController();
  assert.strictEqual(
    await outcome(client.read(Buffer.alloc(4), { signal: AbortSignal.abort() })),
    'ABORT_ERR',
  );
  const given = new AbortController();
  const [first, last] = [Buffer.alloc(4), Buffer.alloc(4)];
  const reads = [
    client.read(first, { signal }),
    client.read(Buffer.alloc(4), { signal: given.signal }),
    client.read(pool, { signal: given.signal }),
    client.read(last, { signal }),
  ];
  given.abort();
  assert.deepStrictEqual(await Promise.all(reads.slice(1, 3).map(outcome)), [
    'ABORT_ERR',
    'ABORT_ERR',
  ]);
  await peer.write('12345678');
  assert.deepStrictEqual(await Promise.all([reads[0], reads[3]]), [4, 4]);
  assert.strictEqual(String(first) + String(last), '12345678');
  assert.strictEqual(getEventListeners(signal, 'abort').length, 0);
});

test('the last read may be given up: the next one, or a pipe, has all', async (t) => {
  for (const before of [0, 1]) {
    const { client, peer } = await ends(t);
    const given = new AbortController();
    const reads = Array.from({ length: before + 1 }, (_, index) =>
      client.read(Buffer.alloc(4), index === before ? { signal: given.signal } : null),
    );
    given.abort();
    assert.strictEqual(await outcome(reads[before]), 'ABORT_ERR');
    if (before === 1) {
      await peer.write('x');
      assert.strictEqual(await reads[0], 1);
    }
    const piped = client.connection.pipe(client.connection);
    await peer.end('round');
    assert.strictEqual(await readText(peer), 'round');
    await piped;
  }
});

test('a read that is given up keeps the process alive no longer', async () => {
  const result = await run(`
    const { connect } = require(${PROMISES});
    const server = oxwire.createServer().listen(0, '127.0.0.1', async () => {
      const c = await connect(server.address().port);
      const given = new AbortController();
      const read = c.read(Buffer.alloc(4), { signal: given.signal });
      server.unref();
      given.abort();
      await read.catch((error) => console.log(error.code));
    });`);
  assert.deepStrictEqual(
    { ...result, stdout: result.stdout.trim() },
    { status: 0, signal: null, stdout: 'ABORT_ERR', stderr: '' },
  );
});

test('a signal that comes when an operation is done changes nothing', async (t) => {
  const { client, peer } = await ends(t);
  const given = new AbortController();
  const options = { signal: given.signal };
  const [written, read] = [
    client.write('done', null, options),
    peer.read(Buffer.alloc(4), options),
  ];
  await until(() => peer.connection.bytesRead === 4);
  given.abort();
  assert.deepStrictEqual(await Promise.all([written, read]), [undefined, 4]);
  assert.deepStrictEqual([client.connection.destroyed, peer.connection.destroyed], [false, false]);
});

test('a write that the kernel has, or that is staged, is fulfilled and not given up', async (t) => {
  const { client, peer } = await ends(t);
  const given = new AbortController();
  const options = { signal: given.signal };
  const writes = [
    client.write('at once,', null, options),
    client.write('staged,', null, options),
    client.writev([Buffer.from('both'), Buffer.alloc(10_000)], null, options),
    client.write(Buffer.alloc(10_000), null, options),
    client.write('', null, options),
  ];
  given.abort();
  assert.deepStrictEqual(await Promise.all(writes.map(outcome)), new Array(5).fill(undefined));
  const all = await readAll(peer.connection, 8 + 7 + 4 + 20_000);
  assert.strictEqual(all.toString('latin1', 0, 19), 'at once,staged,both');
});

test('an empty write that waits is given up as any other', async (t) => {
  const { client } = await ends(t);
  await fill(client.connection);
  const given = new AbortController();
  const write = client.write('', null, { signal: given.signal });
  given.abort();
  assert.strictEqual(await outcome(write), 'ABORT_ERR');
});

test('a write that is given up before it begins gives its buffer of the pool back', async (t) => {
  const { client } = await ends(t);
  const buffer = await lend(t);
  const options = { signal: AbortSignal.abort(), release: true };
  assert.strictEqual(await outcome(client.write(buffer, 1, options)), 'ABORT_ERR');
  assert.strictEqual(pool.lent, 0);
  assert.strictEqual(
    await outcome(client.write(Buffer.alloc(4), 1, options)),
    'ERR_INVALID_ARG_VALUE',
  );
});

test('a signal may be aborted while the call is under way', async (t) => {
  const { client, peer } = await ends(t);
  const size = await fill(client.connection);
  const given = new AbortController();
  const write = client.write(Buffer.from('not sent'), null, {
    signal: given.signal,
    get release() {
      given.abort();
      return false;
    },
  });
  assert.strictEqual(await outcome(write), 'ABORT_ERR');
  const ended = client.end();
  assert.strictEqual((await readAll(peer.connection)).length, size);
  await ended;
});

test('one signal may be of any number of operations', async () => {
  const { status, stdout, stderr } = await run(`
    const { connect } = require(${PROMISES});
    const server = oxwire.createServer().listen(0, '127.0.0.1', async () => {
      const c = await connect(server.address().port);
      const given = new AbortController();
      const reads = [];
      for (let i = 0; i < 10_000; i++) reads.push(c.read(Buffer.alloc(1), { signal: given.signal }));
      given.abort();
      const results = await Promise.allSettled(reads);
      console.log(results.filter(({ reason }) => reason?.code === 'ABORT_ERR').length);
      await c.close();
      server.close();
    });`);
  assert.deepStrictEqual({ status, stdout, stderr }, { status: 0, stdout: '10000\n', stderr: '' });
});

test('what comes behind a read that is given up has its turn', async (t) => {
  const { client, peer } = await ends(t);
  const given = new AbortController();
  const options = { signal: given.signal };
  const reads = [client.read(Buffer.alloc(4), options), client.read(Buffer.alloc(0))];
  await turns();
  given.abort();
  assert.deepStrictEqual(await Promise.all(reads.map(outcome)), [
    'ABORT_ERR',
    'ERR_INVALID_ARG_VALUE',
  ]);
  // A read of a connection that waits for resume() hid the end, or a reset.
  for (const end of ['end', 'resetAndDestroy']) {
    const { client: paused, peer: other } = await ends(t);
    const again = new AbortController();
    paused.connection.pause();
    const read = paused.read(Buffer.alloc(4), { signal: again.signal });
    if (end === 'end') await paused.end();
    other.connection[end]();
    await turns();
    if (end === 'resetAndDestroy') await outcome(paused.write('x'));
    again.abort();
    assert.strictEqual(await outcome(read), 'ABORT_ERR');
    await until(() => paused.connection.closed);
    assert.strictEqual(paused.connection.closed, true, end);
  }
  peer.destroy();
});

test('a pipe begins when the last write that it waits for is given up', async (t) => {
  const [one, two] = [await ends(t), await ends(t)];
  const full = t.mock.method(reactor.open(), 'send', () => EAGAIN);
  const given = new AbortController();
  const write = one.client.write(Buffer.alloc(10_000), null, { signal: given.signal });
  full.mock.restore();
  const piped = one.client.connection.pipe(two.client.connection);
  await turns();
  given.abort();
  assert.strictEqual(await outcome(write), 'ABORT_ERR');
  await Promise.all([one.peer.end('through'), two.peer.end()]);
  assert.strictEqual(await readText(two.peer), 'through');
  await piped;
});

test('a write that waits is not sent when it is given up, and those around it are', async (t) => {
  const { client, peer } = await ends(t);
  assert.strictEqual(
    await outcome(client.write('x', null, { signal: AbortSignal.abort() })),
    'ABORT_ERR',
  );
  const size = await fill(client.connection);
  const given = new AbortController();
  const options = { signal: given.signal };
  const lent = await lend(t);
  const writes = [
    client.write('<'),
    client.write('given up', null, options),
    client.writev([Buffer.from('given'), Buffer.alloc(1 << 20)], null, options),
    client.write(lent, 100, { ...options, release: true }),
    client.write('>'),
  ];
  const before = client.connection.bytesWritten;
  given.abort();
  assert.strictEqual(client.connection.bytesWritten, before - 8 - 5 - (1 << 20) - 100);
  assert.deepStrictEqual(await Promise.all(writes.slice(1, 4).map(outcome)), [
    'ABORT_ERR',
    'ABORT_ERR',
    'ABORT_ERR',
  ]);
  assert.strictEqual(pool.lent, 0);
  const all = await readAll(peer.connection, size + 2);
  assert.strictEqual(all.toString('latin1', size), '<>');
  assert.deepStrictEqual(await Promise.all([writes[0], writes[4]]), [undefined, undefined]);
});

/** A buffer of the pool. @param {import('../support/sockets').Scope} t */
async function lend(t) {
  const { client, peer } = await ends(t);
  await client.write('x');
  const { buffer } = await peer.read(pool);
  return /** @type {Buffer} */ (buffer);
}

test('when the last write that waits is given up, what waited for it goes on', async (t) => {
  const { client, peer } = await ends(t, { allowHalfOpen: true });
  // For so long the kernel has no room at all.
  const full = t.mock.method(reactor.open(), 'send', () => EAGAIN);
  const given = new AbortController();
  const large = client.write(Buffer.alloc(100_000), null, { signal: given.signal });
  assert.strictEqual(client.connection.writableNeedDrain, true);
  const drained = once(client.connection, 'drain');
  full.mock.restore();
  given.abort();
  assert.strictEqual(await outcome(large), 'ABORT_ERR');
  assert.deepStrictEqual(
    [client.connection.writableLength, client.connection.writableNeedDrain],
    [0, false],
  );
  await drained;
  const fullAgain = t.mock.method(reactor.open(), 'send', () => EAGAIN);
  const second = new AbortController();
  const last = client.write(Buffer.alloc(100_000), null, { signal: second.signal });
  const ended = client.end();
  fullAgain.mock.restore();
  second.abort();
  assert.strictEqual(await outcome(last), 'ABORT_ERR');
  await ended;
  assert.strictEqual(await peer.read(Buffer.alloc(4)), 0);
});

test('a write that is given up takes none of the bytes before and behind it along', async (t) => {
  for (const [taken, expected] of [
    [0, '.silent.last'],
    [2, '.silent.last'],
    [7, '.silent.last'],
  ]) {
    const { client, peer } = await ends(t);
    const { connection } = client;
    const native = reactor.open();
    const { sendStage } = native;
    // The kernel takes so much of what is staged, and the rest later.
    const part = t.mock.method(native, 'sendStage', () => {
      if (taken === 0) return EAGAIN;
      reactor.words[1] = Number(taken);
      return sendStage();
    });
    const given = new AbortController();
    connection.write('.');
    connection.write('silent.');
    const write = client.write('given up', null, { signal: given.signal });
    connection.write('last');
    assert.strictEqual(connection.writableLength, 19);
    await until(() => part.mock.callCount() > 0);
    part.mock.restore();
    assert.strictEqual(connection.writableLength, 19 - Number(taken));
    given.abort();
    assert.strictEqual(await outcome(write), 'ABORT_ERR');
    assert.strictEqual(connection.writableLength, 11 - Number(taken));
    connection.end();
    /** @type {any} */ (connection)._onready(WRITABLE);
    assert.strictEqual(String(await readAll(peer.connection)), expected);
  }
});

test('a write of which some has left resets the connection when it is given up', async (t) => {
  const { client, peer } = await ends(t);
  const given = new AbortController();
  const large = client.write(Buffer.alloc(64 << 20), null, { signal: given.signal });
  const [read, write] = [client.read(Buffer.alloc(4)), client.write('behind')];
  await until(() => client.connection.writableLength < 64 << 20);
  given.abort();
  assert.strictEqual(await outcome(large), 'ABORT_ERR');
  // Others were not given up.
  assert.deepStrictEqual(await Promise.all([read, write].map(outcome)), [
    'ERR_SOCKET_CLOSED',
    'ERR_STREAM_DESTROYED',
  ]);
  assert.strictEqual(client.connection.destroyed, true);
  assert.strictEqual(await outcome(readAll(peer.connection)), 'ECONNRESET');
});

test('operations before the connection stands can be given up', async (t) => {
  const server = await listen(t);
  const client = new Connection(oxwire.connect(server.address().port));
  const given = new AbortController();
  const options = { signal: given.signal };
  const calls = [
    client.read(Buffer.alloc(4), options),
    client.write('not', null, options),
    client.write('sent'),
  ];
  given.abort();
  assert.deepStrictEqual(await Promise.all(calls.slice(0, 2).map(outcome)), [
    'ABORT_ERR',
    'ABORT_ERR',
  ]);
  const [peer] = await once(server, 'connection');
  await calls[2];
  assert.strictEqual(String(await readAll(peer, 4)), 'sent');
  client.destroy();
  await closed(client.connection);
});

// What nobody awaits.

test('a peer that goes away is no unhandled rejection', async () => {
  const { status, stdout, stderr } = await run(`
    const { Connection } = require(${PROMISES});
    const server = oxwire.createServer((peer) => {
      peer.read(Buffer.alloc(4), () => peer.resetAndDestroy());
    });
    server.listen(0, '127.0.0.1', () => {
      const c = new Connection(oxwire.connect(server.address().port));
      c.read(Buffer.alloc(4));
      c.connection.on('connect', () => {
        for (let i = 0; i < 10; i++) c.write(Buffer.alloc(1 << 16));
        c.writev([Buffer.alloc(10)]);
        c.end();
      });
      c.connection.on('close', () => {
        c.read(Buffer.alloc(4));
        c.write('x');
        c.read(Buffer.alloc(4), { signal: AbortSignal.abort() });
        server.close();
        console.log('closed');
      });
    });`);
  assert.deepStrictEqual({ status, stdout, stderr }, { status: 0, stdout: 'closed\n', stderr: '' });
});

test('wrong arguments are an unhandled rejection where nobody handles them', async () => {
  const { status, stderr } = await run(`
    const { Connection } = require(${PROMISES});
    new Connection(new oxwire.Connection()).write(7);`);
  assert.strictEqual(status, 1);
  assert.match(stderr, /ERR_INVALID_ARG_TYPE/);
});

test('nothing is left open, whatever is given up', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await ends(t);
    const given = new AbortController();
    const options = { signal: given.signal };
    const calls = [client.read(pool, options), client.write(Buffer.alloc(64 << 20), null, options)];
    await turns(2);
    given.abort();
    await Promise.all(calls.map(outcome));
    await client.close();
    await peer.close();
  }));
