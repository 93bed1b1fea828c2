'use strict';

// Bad luck: peers that do not answer, refuse, or are gone. Each time every callback is told once, and
// no descriptor is left.

const assert = require('assert');
const dns = require('dns');
const net = require('net');
const { spawn } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const errors = require('../../lib/errors');
const reactor = require('../../lib/net/reactor');
const { errnoOf } = require('../support/errno');
const { run } = require('../support/program');
const {
  closed,
  fill,
  freePort,
  listen,
  pair,
  pairWithNode,
  read,
  turns,
} = require('../support/sockets');
const { isUnansweringKnown, unansweringPort } = require('../support/unanswering');
const { Calls, leavesNothing } = require('../support/watch');

/** @typedef {import('../..').Connection} Connection */

const UNCONNECTED = 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION';
/** Reset or broken pipe, whichever comes first. */
const GONE = /^(ECONNRESET|EPIPE)$/;

/**
 * Calls every operation, in this order.
 *
 * @param {Connection} connection
 * @param {Calls} calls
 */
function callAll(connection, calls) {
  connection.read(Buffer.alloc(8), calls.of('read'));
  connection.write('x', calls.of('write'));
  connection.write('', calls.of('write nothing'));
  connection.read(Buffer.alloc(0), calls.of('read into nothing'));
  connection.write(Buffer.alloc(100_000), calls.of('write much'));
  connection.writev([Buffer.alloc(1), Buffer.alloc(1)], calls.of('writev'));
  connection.writev([Buffer.alloc(9000), Buffer.alloc(1)], calls.of('writev much'));
  connection.writev([], calls.of('writev nothing'));
  connection.end(calls.of('end'));
  connection.end(calls.of('end again'));
  connection.write('late', calls.of('write after end'));
}

/** What all of them are told of one error. @param {string} code */
function allTold(code) {
  return [
    `read ${code}`,
    `write ${code}`,
    `write nothing ${code}`,
    `read into nothing ${code}`,
    `write much ${code}`,
    `writev ${code}`,
    `writev much ${code}`,
    `writev nothing ${code}`,
    `end ${code}`,
    `end again ${code}`,
    'write after end ERR_STREAM_WRITE_AFTER_END',
  ];
}

test('a refused connection tells each of many callbacks once, in the order of the calls', () =>
  leavesNothing(async () => {
    const port = await freePort();
    for (let i = 0; i < 20; i++) {
      const client = oxwire.connect(port);
      const calls = new Calls();
      calls.on(client, ['error', 'close']);
      callAll(client, calls);
      await calls.once();
      assert.deepStrictEqual(calls.log, [
        ...allTold('ECONNREFUSED'),
        'error ECONNREFUSED',
        'close',
      ]);
      assert.deepStrictEqual(
        [client.closed, client.readable, client.writable],
        [true, false, false],
      );
    }
  }));

test('a failed lookup tells each of many callbacks once, in the order of the calls', (t) =>
  leavesNothing(async () => {
    const failure = Object.assign(new Error('getaddrinfo EAI_AGAIN name'), {
      errno: -3001,
      code: 'EAI_AGAIN',
      syscall: 'getaddrinfo',
      hostname: 'name',
    });
    t.mock.method(dns, 'lookup', (_name, _options, callback) => setImmediate(callback, failure));
    const client = oxwire.connect(80, 'name');
    const calls = new Calls();
    client.on(
      'error',
      calls.of('error', (error) => assert.strictEqual(error, failure)),
    );
    calls.on(client, ['close']);
    callAll(client, calls);
    await calls.once();
    assert.deepStrictEqual(calls.log, [...allTold('EAI_AGAIN'), 'error EAI_AGAIN', 'close']);
  }));

test('a lookup that ends after close or destroy opens nothing', (t) =>
  leavesNothing(async () => {
    const port = await freePort();
    for (const method of ['close', 'destroy']) {
      /** @type {Function} */
      let found = () => {};
      t.mock.method(dns, 'lookup', (_name, _options, callback) => (found = callback));
      const native = require('../../lib/net/reactor').open();
      const connect = t.mock.method(native, 'connect');
      const client = oxwire.connect(port, 'name');
      const calls = new Calls();
      calls.on(client, ['close']);
      client.read(Buffer.alloc(1), calls.of('read'));
      client[method]();
      found(null, [{ address: '127.0.0.1', family: 4 }]);
      await calls.once();
      assert.deepStrictEqual(calls.log, [`read ${UNCONNECTED}`, 'close']);
      assert.strictEqual(connect.mock.callCount(), 0);
      t.mock.restoreAll();
    }
  }));

test('an attempt that nobody answers is given up by close', { skip: !isUnansweringKnown }, () =>
  leavesNothing(async (t) => {
    const client = oxwire.connect(await unansweringPort(t));
    const calls = new Calls();
    calls.on(client, ['close']);
    client.read(Buffer.alloc(1), calls.of('read'));
    client.read(Buffer.alloc(1), calls.of('read again'));
    await turns();
    client.close(calls.of('close callback'));
    assert.deepStrictEqual(calls.log, []);
    await calls.once();
    assert.deepStrictEqual(calls.log, [
      `read ${UNCONNECTED}`,
      `read again ${UNCONNECTED}`,
      'close callback',
      'close',
    ]);
  }),
);

test('destroy gives up an attempt that close has left to wait', { skip: !isUnansweringKnown }, () =>
  leavesNothing(async (t) => {
    const port = await unansweringPort(t);
    for (const error of [null, new Error('reason')]) {
      const code = error === null ? UNCONNECTED : 'reason';
      const client = oxwire.connect(port);
      const calls = new Calls();
      calls.on(client, ['close']);
      client.on('error', assert.fail); // Callbacks take it.
      callAll(client, calls);
      client.close(calls.of('close callback'));
      await turns();
      assert.deepStrictEqual(calls.log, [], 'what was written is to leave first');
      client.destroy(error);
      client.destroy();
      await calls.once();
      assert.deepStrictEqual(calls.log, [...allTold(code), 'close callback', 'close']);
    }
  }),
);

test(
  'an attempt that is given up with an error nobody takes is an event',
  { skip: !isUnansweringKnown },
  () =>
    leavesNothing(async (t) => {
      const client = oxwire.connect(await unansweringPort(t));
      const calls = new Calls();
      calls.on(client, ['error', 'close']);
      client.destroy(new Error('reason'));
      await calls.once();
      assert.deepStrictEqual(calls.log, ['error reason', 'close']);
    }),
);

test(
  'an address that does not answer makes room for the next one',
  { skip: !isUnansweringKnown },
  (t) =>
    leavesNothing(async (scope) => {
      const port = await unansweringPort(scope);
      const server = oxwire.createServer();
      server.listen(port, '127.0.0.2');
      await once(server, 'listening');
      scope.after(() => server.close());
      t.mock.method(dns, 'lookup', (_name, _options, callback) => {
        const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
        process.nextTick(callback, null, addresses);
      });
      const before = net.getDefaultAutoSelectFamilyAttemptTimeout();
      net.setDefaultAutoSelectFamilyAttemptTimeout(10); // The least there is.
      scope.after(() => net.setDefaultAutoSelectFamilyAttemptTimeout(before));
      const client = oxwire.connect(port, 'name');
      client.write('hello');
      const [peer] = await once(server, 'connection');
      assert.strictEqual(client.remoteAddress, '127.0.0.2');
      assert.strictEqual((await read(peer)).toString(), 'hello');
      client.destroy();
      peer.destroy();
    }),
);

test('an attempt that has succeeded, or was given up, makes room for no other', (t) =>
  leavesNothing(async (scope) => {
    const { port } = (await listen(scope)).address();
    t.mock.method(dns, 'lookup', (_name, _options, callback) => {
      const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
      process.nextTick(callback, null, addresses);
    });
    // The time of an attempt does not run out here, however slow the machine is.
    const { setTimeout } = globalThis;
    const timers = /** @type {NodeJS.Timeout[]} */ ([]);
    t.mock.method(globalThis, 'setTimeout', () => {
      timers.push(setTimeout(() => {}, 2 ** 31 - 1));
      return timers.at(-1);
    });
    const clear = t.mock.method(globalThis, 'clearTimeout');

    const client = oxwire.connect(port, 'name');
    scope.after(() => client.destroy());
    await once(client, 'connect');
    const givenUp = oxwire.connect(port, 'name');
    const over = closed(givenUp);
    process.nextTick(() => process.nextTick(() => givenUp.destroy()));
    await over;

    const cleared = new Set(clear.mock.calls.map(({ arguments: [timer] }) => timer));
    t.mock.restoreAll();
    assert.strictEqual(timers.length, 2, 'there was another address for each');
    assert.ok(timers.every((timer) => cleared.has(timer)));
  }));

test(
  'what was written before close leaves when a slow peer answers at last',
  { skip: !isUnansweringKnown },
  (t) =>
    leavesNothing(async (scope) => {
      // The same, but the answer comes from the second address, and close was called long before.
      const port = await unansweringPort(scope);
      const server = oxwire.createServer();
      server.listen(port, '127.0.0.2');
      await once(server, 'listening');
      scope.after(() => server.close());
      let answer = () => {};
      t.mock.method(dns, 'lookup', (_name, _options, callback) => {
        answer = () => callback(null, [{ address: '127.0.0.2', family: 4 }]);
      });
      const client = oxwire.connect(port, 'name');
      const calls = new Calls();
      calls.on(client, ['connect', 'close']);
      client.write('goodbye', calls.of('write'));
      client.close(calls.of('close callback'));
      await turns();
      assert.deepStrictEqual(calls.log, []);
      answer();
      const [peer] = await once(server, 'connection');
      assert.strictEqual((await read(peer)).toString(), 'goodbye');
      await calls.once();
      assert.deepStrictEqual(calls.log, ['connect', 'write', 'close callback', 'close']);
      peer.destroy();
    }),
);

test('what was written before connect and close leaves, however much it is', () =>
  leavesNothing(async (t) => {
    const server = await listen(t);
    const client = oxwire.connect(server.address().port);
    const calls = new Calls();
    calls.on(client, ['close']);
    client.write(Buffer.alloc(16 << 20), calls.of('write'));
    client.close(calls.of('close callback'));
    const [peer] = await once(server, 'connection');
    const buffer = Buffer.alloc(65536);
    let received = 0;
    await new Promise((resolve) => {
      peer.read(buffer, function onread(error, _buffer, count) {
        received += count;
        if (error || count === 0) resolve(undefined);
        else peer.read(buffer, onread);
      });
    });
    await calls.once();
    assert.strictEqual(received, 16 << 20);
    assert.deepStrictEqual(calls.log, ['write', 'close callback', 'close']);
  }));

test('the failures of listening are those of node:net, one event each', () =>
  leavesNothing(async (t) => {
    const used = (await listen(t)).address().port;
    // An address for documentation, which no machine has (RFC 5737).
    for (const [port, address] of /** @type {const} */ ([
      [used, '127.0.0.1'],
      [0, '203.0.113.1'],
    ])) {
      const server = oxwire.createServer();
      const calls = new Calls();
      calls.on(server, ['error']);
      for (const event of ['listening', 'close']) server.on(event, assert.fail);
      const failed = once(server, 'error');
      server.listen(port, address, assert.fail);
      const [ours] = await failed;
      const [theirs] = await once(net.createServer().listen(port, address), 'error');
      assert.strictEqual(ours.message, theirs.message);
      assert.deepStrictEqual({ ...ours }, { ...theirs });
      await calls.once();
    }
  }));

for (const data of ['', 'last words']) {
  const name = data === '' ? '' : ', and the bytes before it are read first';
  test(`a reset with reads and writes pending is told to each, once${name}`, () =>
    leavesNothing(async (t) => {
      const { connection, socket } = await pairWithNode(t);
      const calls = new Calls();
      const reads = [];
      calls.on(connection, ['finish', 'close']);
      for (const event of ['error', 'end']) connection.on(event, () => calls.log.push(event));
      if (data !== '') await new Promise((resolve) => socket.write(data, resolve));
      await fill(connection);
      connection.write('x', calls.of('write'));
      connection.writev([Buffer.alloc(5000), Buffer.alloc(2)], calls.of('writev'));
      connection.write('', calls.of('write nothing'));
      connection.end(calls.of('end callback'));
      connection.write('late', calls.of('write after end'));
      for (const number of [1, 2, 3]) {
        const onread = (error, buffer, count) => {
          reads.push(error ? '' : buffer.toString('latin1', 0, count));
          assert.strictEqual(count > 0, error === null, 'it is not the end');
        };
        connection.read(Buffer.alloc(5), calls.of(`read ${number}`, onread));
      }
      socket.resetAndDestroy();
      await calls.once();
      assert.strictEqual(reads.join(''), data);
      const log = calls.log.map((entry) => entry.replace('EPIPE', 'ECONNRESET'));
      const failed = ['write', 'writev', 'write nothing'].map((each) => `${each} ECONNRESET`);
      const told = data === '' ? 0 : 2;
      assert.deepStrictEqual(
        log.filter((entry) => !entry.startsWith('read')),
        [
          ...failed,
          'write after end ERR_STREAM_WRITE_AFTER_END',
          'finish',
          'end callback ECONNRESET',
          'close',
        ],
      );
      assert.deepStrictEqual(
        log.filter((entry) => entry.startsWith('read')),
        [1, 2, 3].map((number) => `read ${number}${number > told ? ' ECONNRESET' : ''}`),
      );
    }));
}

test('a read that fails by a reset is told of a failed read, whatever met the reset first', () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t);
    await fill(connection);
    const pending = read(connection);
    socket.resetAndDestroy();
    await assert.rejects(pending, { code: 'ECONNRESET', syscall: 'read' });
  }));

/** A program that takes or gives 32 MiB, and is killed in the midst of it. */
const PEERS = {
  // Bytes that were not read make the kernel reset the connection.
  'is killed as it receives': `socket.once('data', () => process.kill(process.pid, 'SIGKILL'));`,
  'is killed as it sends': `
    socket.pause();
    socket.write(Buffer.alloc(32 << 20));
    setImmediate(() => process.kill(process.pid, 'SIGKILL'));`,
  'resets as it sends': `
    socket.pause();
    socket.write(Buffer.alloc(32 << 20));
    setImmediate(() => socket.resetAndDestroy());`,
  'ends as it receives': `socket.once('data', () => socket.destroy());`,
};

for (const [what, program] of Object.entries(PEERS)) {
  for (const method of ['write', 'writev', 'many writes']) {
    test(`when the peer ${what} each callback of 32 MiB, by ${method}, runs once`, () =>
      leavesNothing(async (t) => {
        const server = await listen(t);
        const { port } = server.address();
        const script = `
          const socket = require('net').connect(${port}, '127.0.0.1').on('error', () => {});
          ${program}`;
        const child = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
        const over = once(child, 'exit');
        const [connection] = await once(server, 'connection');
        const calls = new Calls();
        calls.on(connection, ['close']);
        connection.on('error', assert.fail); // Callbacks take it.
        const codes = new Set();
        const onwrite = (error) => codes.add(error?.code);
        const part = Buffer.alloc(32 << 10);
        const parts = new Array(1024).fill(part);
        if (method === 'write') {
          connection.write(Buffer.alloc(32 << 20), calls.of('write', onwrite));
        } else if (method === 'writev') {
          connection.writev(parts, calls.of('write', onwrite));
        } else {
          parts.forEach((_, i) => connection.write(part, calls.of(`write ${i}`, onwrite)));
        }
        let received = 0;
        const buffer = Buffer.alloc(65536);
        let reads = 0;
        const next = () => connection.read(buffer, calls.of(`read ${reads++}`, onread));
        const onread = (error, _buffer, count) => {
          received += count;
          if (count > 0) next();
          else if (error) assert.match(error.code, GONE);
        };
        next();
        // The peer may be gone by now, within the calls above.
        connection.end(
          calls.of('end', ({ code }) =>
            assert.match(code, /^(ECONNRESET|EPIPE|ERR_SOCKET_CLOSED)$/),
          ),
        );
        await calls.once();
        await over;
        assert.ok(received <= 32 << 20);
        codes.delete(undefined);
        assert.strictEqual(codes.size, 1, 'all writes that failed did so for one reason');
        assert.match([...codes][0], GONE);
        assert.strictEqual(calls.log.at(-1), 'close');
      }));
  }
}

test('when the peer goes in the midst of 700 000 buffers their callback runs once', () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t);
    const calls = new Calls();
    calls.on(connection, ['close']);
    const part = Buffer.alloc(64);
    const buffers = new Array(700_000).fill(part);
    connection.writev(
      buffers,
      calls.of('writev', (error, given, lengths) => {
        assert.match(error.code, GONE);
        assert.strictEqual(given, buffers);
        assert.strictEqual(lengths.length, 700_000);
      }),
    );
    socket.once('data', () => socket.resetAndDestroy());
    await calls.once();
  }));

test("the peer's end is told to nobody until there is a read", () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t);
    const calls = new Calls();
    calls.on(connection, ['end', 'finish', 'close']);
    connection.on('error', assert.fail);
    connection.write('x', calls.of('write'));
    socket.end();
    await turns();
    assert.deepStrictEqual(calls.log, ['write']);
    assert.deepStrictEqual([connection.readable, connection.ended], [true, false]);
    connection.read(
      Buffer.alloc(1),
      calls.of('read', (_error, _buffer, count) => assert.strictEqual(count, 0)),
    );
    await calls.once();
    assert.deepStrictEqual(calls.log, ['write', 'read', 'end', 'finish', 'close']);
  }));

test('a broken pipe is told as node:net tells it', () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t, { allowHalfOpen: true });
    socket.end();
    await turns(); // The peer's end is there before its reset.
    socket.destroy();
    const calls = new Calls();
    calls.on(connection, ['close']);
    /** @type {any} */
    let error = null;
    for (let i = 0; error === null; i++) {
      const callback = calls.of(`write ${i}`, (told) => (error = told));
      connection.write('x', callback);
      await turns();
    }
    await calls.once();
    const { code, errno, syscall, message } = error;
    assert.deepStrictEqual(
      { code, errno, syscall, message },
      {
        code: 'EPIPE',
        errno: errnoOf('EPIPE'),
        syscall: 'write',
        message: 'write EPIPE',
      },
    );
  }));

test('no peer ends the process with an error that nobody hears', async () => {
  const program = `
    const net = require('net');
    const { once } = require('events');
    const turns = async () => {
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    const large = Buffer.alloc(16 << 20);
    const operations = {
      none() {},
      end: (connection) => connection.end(),
      write: (connection) => connection.write('x'),
      'many writes': (connection) => { for (let i = 0; i < 5; i++) connection.write('x'); },
      'write much': (connection) => connection.write(large),
      'write much and end': (connection) => { connection.write(large); connection.end(); },
      writev: (connection) => connection.writev([large, large]),
    };
    const ends = {
      reset: (socket) => socket.resetAndDestroy(),
      end: (socket) => socket.end(),
      'end and reset': (socket) => socket.end(() => socket.resetAndDestroy()),
    };
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', async () => {
      let count = 0;
      for (const before of Object.values(operations)) {
        for (const end of Object.values(ends)) {
          for (const after of Object.values(operations)) {
            for (const isRead of [false, true]) {
              const socket = net.connect(server.address().port).on('error', () => {});
              const [connection] = await once(server, 'connection');
              if (isRead) connection.read(Buffer.alloc(1), () => {});
              before(connection);
              end(socket);
              await turns();
              after(connection);
              await turns();
              connection.destroy();
              socket.destroy();
              count++;
            }
          }
        }
      }
      // Gone before it was accepted.
      const socket = net.connect(server.address().port, () => socket.resetAndDestroy());
      const [connection] = await once(server, 'connection');
      connection.write('x');
      await turns();
      server.close();
      console.log(count);
    });`;
  const { status, signal, stdout, stderr } = await run(program);
  assert.deepStrictEqual(
    { status, signal, stdout, stderr },
    { status: 0, signal: null, stdout: `${7 * 3 * 7 * 2}\n`, stderr: '' },
  );
});

/**
 * A connection whose sends fail from now on, as after a reset, while a read waits that has not met it.
 *
 * @param {import('node:test').TestContext} t
 */
async function failing(t) {
  const { client } = await pair(t);
  const calls = new Calls();
  client.read(Buffer.alloc(1), calls.of('read'));
  await turns();
  const native = reactor.open();
  const code = errors.numberOf('ECONNRESET');
  for (const method of /** @type {const} */ (['send', 'sendv', 'sendStage'])) {
    t.mock.method(native, method, () => code);
  }
  return { client, calls };
}

test('an end whose staged bytes meet the reset is finished once', async (t) => {
  const { client, calls } = await failing(t);
  calls.on(client, ['finish', 'close']);
  client.on('error', assert.fail); // Callbacks take it.
  // The first leaves at once, so it fails; the stage is what is written after a good one.
  t.mock.method(reactor.open(), 'send', (_id, _data, start, end) => end - start, { times: 1 });
  client.write('first');
  client.write('staged', calls.of('write'));
  client.end(calls.of('end'));
  await calls.once();
  const code = 'ECONNRESET';
  assert.deepStrictEqual(calls.log, [
    `write ${code}`,
    'finish',
    `end ${code}`,
    `read ${code}`,
    'close',
  ]);
});

test('a failure that a callback was told of is no event for a later write without one', async (t) => {
  const { client, calls } = await failing(t);
  calls.on(client, ['close']);
  client.on('error', assert.fail);
  client.write('fails', calls.of('write'));
  client.write('is refused, and silent');
  client.writev([Buffer.from('so is this')]);
  await calls.once();
  assert.deepStrictEqual(calls.log, ['write ECONNRESET', 'read ECONNRESET', 'close']);
});

test('a failure that no callback was told of is one event', async (t) => {
  const { client } = await pair(t);
  const heard = [];
  client.on('error', (/** @type {any} */ error) => heard.push(error.code));
  const close = closed(client);
  t.mock.method(reactor.open(), 'send', () => errors.numberOf('ECONNRESET'));
  client.write('fails');
  client.write('is refused');
  client.write('is refused too');
  await close;
  assert.deepStrictEqual(heard, ['ECONNRESET']);
});
