'use strict';

// Every operation in every state, twice.

const assert = require('assert');
const { test } = require('node:test');
const oxwire = require('../..');
const { run } = require('../support/program');
const { pair, pairWithNode, readAll, turns } = require('../support/sockets');
const { CONNECTION_STATES, SERVER_STATES } = require('../support/states');
const { Calls, codeOf, leavesNothing, until } = require('../support/watch');

/** @typedef {import('../..').Connection} Connection */

const HALF_OPEN = { allowHalfOpen: true };

// What callbacks are told.
const OK = 'ok';
const CLOSED = 'ERR_SOCKET_CLOSED';
const UNCONNECTED = 'ERR_SOCKET_CLOSED_BEFORE_CONNECTION';
const DESTROYED = 'ERR_STREAM_DESTROYED';
const AFTER_END = 'ERR_STREAM_WRITE_AFTER_END';
const NO_ROOM = 'ERR_INVALID_ARG_VALUE';
/** It waits, and is told only when the connection is destroyed. @param {string} code */
const waits = (code) => `waits, ${code}`;

/**
 * Operations, by what they have in common.
 *
 * @type {Record<string, Record<string, (connection: Connection, callback: any) => void>>}
 */
const OPERATIONS = {
  read: {
    read: (connection, callback) => connection.read(Buffer.alloc(8), callback),
  },
  readNothing: {
    'read into nothing': (connection, callback) => connection.read(Buffer.alloc(0), callback),
  },
  write: {
    write: (connection, callback) => connection.write(Buffer.alloc(3), callback),
    'write a string': (connection, callback) => connection.write('text', callback),
    'write much': (connection, callback) => connection.write(Buffer.alloc(5000), callback),
    writev: (connection, callback) =>
      connection.writev([Buffer.alloc(3), Buffer.alloc(2)], callback),
    'writev much': (connection, callback) =>
      connection.writev([Buffer.alloc(3000), Buffer.alloc(2000)], callback),
  },
  writeNothing: {
    'write nothing': (connection, callback) => connection.write(Buffer.alloc(0), callback),
    'write 0 bytes': (connection, callback) => connection.write(Buffer.alloc(9), 0, callback),
    'writev nothing': (connection, callback) => connection.writev([], callback),
  },
  end: {
    end: (connection, callback) => connection.end(callback),
  },
  close: {
    close: (connection, callback) => connection.close(callback),
  },
};

/** What each kind of operation is told in each state. @type {Record<string, Record<string, string>>} */
const TOLD = {
  'while it is connecting': {
    read: waits(UNCONNECTED),
    readNothing: waits(UNCONNECTED),
    write: waits(UNCONNECTED),
    writeNothing: waits(UNCONNECTED),
    end: waits(UNCONNECTED),
    close: OK,
  },
  'after end, while it is connecting': {
    read: waits(UNCONNECTED),
    readNothing: waits(UNCONNECTED),
    write: AFTER_END,
    writeNothing: AFTER_END,
    end: waits(UNCONNECTED),
    close: waits(OK),
  },
  'after close, while it is connecting and a write waits': {
    read: waits(CLOSED),
    readNothing: waits(CLOSED),
    write: waits(DESTROYED), // Behind the one that waits.
    writeNothing: waits(DESTROYED),
    end: CLOSED,
    close: waits(OK),
  },
  'while it is open': {
    read: waits(CLOSED),
    readNothing: NO_ROOM,
    write: OK,
    writeNothing: OK,
    end: OK,
    close: OK,
  },
  'after end, while a write waits': {
    read: waits(CLOSED),
    readNothing: NO_ROOM,
    write: waits(AFTER_END),
    writeNothing: waits(AFTER_END),
    end: waits(CLOSED),
    close: OK,
  },
  'once our side is ended': {
    read: waits(CLOSED),
    readNothing: NO_ROOM,
    write: AFTER_END,
    writeNothing: AFTER_END,
    end: OK,
    close: OK,
  },
  "once the peer's side is ended": {
    read: OK,
    readNothing: OK,
    write: OK,
    writeNothing: OK,
    end: OK,
    close: OK,
  },
  'once both sides are ended': {
    read: OK,
    readNothing: OK,
    write: DESTROYED,
    writeNothing: DESTROYED,
    end: OK,
    close: OK,
  },
  'after close': {
    read: CLOSED,
    readNothing: CLOSED,
    write: DESTROYED,
    writeNothing: DESTROYED,
    end: CLOSED,
    close: OK,
  },
  'after destroy': {
    read: CLOSED,
    readNothing: CLOSED,
    write: DESTROYED,
    writeNothing: DESTROYED,
    end: CLOSED,
    close: OK,
  },
  'after destroy with an error': {
    read: 'the reason',
    readNothing: 'the reason',
    write: 'the reason',
    writeNothing: 'the reason',
    end: 'the reason',
    close: OK,
  },
  'once it is closed': {
    read: CLOSED,
    readNothing: CLOSED,
    write: DESTROYED,
    writeNothing: DESTROYED,
    end: CLOSED,
    close: OK,
  },
  'once the peer has reset it and nobody knows': {
    read: 'ECONNRESET',
    readNothing: 'ECONNRESET',
    write: 'ECONNRESET',
    writeNothing: OK, // It asks the kernel nothing.
    close: OK,
  },
  'once a write has met the reset': {
    read: 'ECONNRESET',
    readNothing: 'ECONNRESET',
    write: 'ECONNRESET',
    writeNothing: 'ECONNRESET',
    end: 'ECONNRESET',
    close: OK,
  },
  'once it was refused': {
    read: CLOSED,
    readNothing: CLOSED,
    write: DESTROYED,
    writeNothing: DESTROYED,
    end: CLOSED,
    close: OK,
  },
  'where nobody connects it': {
    read: CLOSED,
    readNothing: CLOSED,
    write: CLOSED,
    writeNothing: CLOSED,
    end: CLOSED,
    close: OK,
  },
};

/**
 * Calls an operation twice, then destroys the connection.
 *
 * @param {Connection} connection
 * @param {(connection: Connection, callback: any) => void} operation
 */
async function callTwice(connection, operation) {
  const calls = new Calls();
  const wasClosed = connection.closed;
  if (!wasClosed) calls.on(connection, ['close']);
  const told = ['', ''];
  let within = true;
  for (const i of [0, 1]) {
    const name = ['first', 'second'][i];
    const callback = calls.of(name, (error) => {
      assert.strictEqual(within, false, 'never within the call');
      assert.ok(error === null || error instanceof Error);
      // Which of the two a write meets depends on the system.
      told[i] += error ? codeOf(error).replace('EPIPE', 'ECONNRESET') : OK;
    });
    operation(connection, callback);
  }
  within = false;
  await turns();
  const waiting = told.map((code) => code === '');
  connection.destroy();
  await calls.once();
  if (!wasClosed) assert.strictEqual(calls.log.at(-1), 'close');
  return told.map((code, i) => (waiting[i] ? waits(code) : code));
}

for (const [state, told] of Object.entries(TOLD)) {
  const open = CONNECTION_STATES[state];
  if (open === undefined) continue; // Not on this system.
  test(`every operation is told each time it is called ${state}`, async () => {
    const seen = {};
    const expected = {};
    for (const [kind, operations] of Object.entries(OPERATIONS)) {
      if (told[kind] === undefined) continue;
      for (const [name, operation] of Object.entries(operations)) {
        expected[name] = [told[kind], told[kind]];
        await leavesNothing(async (t) => {
          const connection = await open(t);
          connection.on('error', () => {});
          seen[name] = await callTwice(connection, operation);
        });
      }
    }
    assert.deepStrictEqual(seen, expected);
  });

  test(`all operations at once ${state} are each told once`, () =>
    leavesNothing(async (t) => {
      const connection = await open(t);
      const wasClosed = connection.closed;
      connection.on('error', () => {});
      const calls = new Calls();
      if (!wasClosed) calls.on(connection, ['close']);
      for (const round of [1, 2, 3]) {
        for (const operations of Object.values(OPERATIONS)) {
          for (const [name, operation] of Object.entries(operations)) {
            operation(connection, calls.of(`${name} ${round}`));
          }
        }
        if (round === 2) connection.destroy();
      }
      await calls.once();
      if (!wasClosed) assert.strictEqual(calls.log.at(-1), 'close');
    }));
}

test('an end that is the first to meet the reset is told ECONNRESET', () =>
  leavesNothing(async (t) => {
    const { connection, socket } = await pairWithNode(t, HALF_OPEN);
    socket.resetAndDestroy();
    await turns();
    const calls = new Calls();
    calls.on(connection, ['finish', 'close']);
    connection.end(calls.of('end'));
    await calls.once();
    assert.deepStrictEqual(calls.log, ['finish', 'end ECONNRESET', 'close']);
  }));

test('a Connection that nobody connects closes, whatever was called before', async () => {
  for (const kind of ['write', 'writeNothing', 'end']) {
    for (const [name, operation] of Object.entries(OPERATIONS[kind])) {
      const connection = new oxwire.Connection();
      const calls = new Calls();
      calls.on(connection, ['close']);
      operation(connection, calls.of(name));
      connection.close(calls.of('close callback'));
      await turns();
      const { log } = calls;
      connection.destroy();
      assert.deepStrictEqual(log, [`${name} ${CLOSED}`, 'close callback', 'close']);
    }
  }
});

test('an error of destroy that a callback takes is no event', () =>
  leavesNothing(async (t) => {
    const { client } = await pair(t);
    const calls = new Calls();
    calls.on(client, ['close']);
    client.on('error', () => calls.log.push('error'));
    client.destroy(new Error('reason'));
    client.write('x', calls.of('write'));
    await calls.once();
    assert.deepStrictEqual(calls.log, ['write reason', 'close']);
  }));

/** What a server does: whether it can listen, what the callback of close is told, whether it has an address. */
const SERVER_DOES = {
  'before it listens': { listens: true, close: 'ERR_SERVER_NOT_RUNNING', address: false },
  'when listen was called': { listens: false, close: OK, address: false },
  'while it looks a name up': { listens: false, close: OK, address: false },
  'while it listens': { listens: false, close: OK, address: true },
  'when close was called': { listens: true, close: OK, address: false },
  'once it is closed': { listens: true, close: 'ERR_SERVER_NOT_RUNNING', address: false },
  'once listening has failed': { listens: true, close: 'ERR_SERVER_NOT_RUNNING', address: false },
};

for (const [state, expected] of Object.entries(SERVER_DOES)) {
  const open = SERVER_STATES[state];
  test(`a server does what it can ${state}, each time it is asked`, () =>
    leavesNothing(async (t) => {
      const closes = await open(t);
      const told = [];
      const calls = new Calls();
      for (const name of ['first', 'second']) {
        const callback = calls.of(name, (error) => told.push(error ? codeOf(error) : OK));
        closes.close(callback);
      }
      assert.deepStrictEqual(told, [], 'never within the call');
      await calls.once();
      assert.deepStrictEqual(told, [expected.close, expected.close]);

      const addresses = await open(t);
      if (expected.address) assert.ok(addresses.address().port > 0);
      else assert.throws(() => addresses.address(), { code: 'ERR_SERVER_NOT_RUNNING' });
      addresses.close();

      const listens = await open(t);
      const listening = new Calls();
      if (expected.listens) {
        listens.listen(0, '127.0.0.1', listening.of('listening'));
      }
      const again = { code: 'ERR_SERVER_ALREADY_LISTEN' };
      assert.throws(() => listens.listen(0, '127.0.0.1', assert.fail), again);
      await listening.once();
      assert.throws(() => listens.listen(0, '127.0.0.1', assert.fail), again);
      const over = new Calls();
      over.on(listens, ['close']);
      listens.close(over.of('callback'));
      await over.once();
    }));
}

test('ref and unref may be called in any state, any number of times', () =>
  leavesNothing(async (t) => {
    const states = [...Object.values(CONNECTION_STATES), ...Object.values(SERVER_STATES)];
    for (const open of states) {
      const handle = await open(t);
      /** @type {import('events').EventEmitter} */ (handle).on('error', () => {});
      for (const method of ['ref', 'ref', 'unref', 'unref', 'ref']) {
        assert.strictEqual(handle[method](), handle);
      }
      await turns(1);
      for (const method of ['unref', 'ref']) handle[method]();
      if (handle instanceof oxwire.Connection) handle.destroy();
      else handle.close();
    }
  }));

test('a connection behind a Proxy is the same connection', () =>
  leavesNothing(async (t) => {
    const { client, peer } = await pair(t);
    const proxy = new Proxy(client, {});
    client.write('a');
    proxy.write('b');
    client.write('c');
    proxy.write('d');
    assert.strictEqual(proxy.bytesWritten, 4);
    assert.strictEqual(String(await readAll(peer, 4)), 'abcd');
    const calls = new Calls();
    calls.on(client, ['close']);
    // It echoes, so it is piped to itself.
    proxy.pipe(client, calls.of('pipe'));
    peer.write('echo');
    assert.strictEqual(String(await readAll(peer, 4)), 'echo');
    await until(() => client.bytesRead > 0); // Another thread counts, once they have left.
    assert.deepStrictEqual([client.bytesRead, proxy.bytesRead], [4, 4]);
    proxy.destroy();
    await calls.once();
    assert.deepStrictEqual(calls.log, ['pipe ERR_SOCKET_CLOSED', 'close']);
  }));

test('a write of a detached buffer after the end is one error', () =>
  leavesNothing(async (t) => {
    const { client } = await pair(t, { allowHalfOpen: true });
    const errors = /** @type {string[]} */ ([]);
    client.on('error', (/** @type {any} */ error) => errors.push(error.code));
    client.end();
    const memory = new ArrayBuffer(8);
    const view = new Uint8Array(memory);
    structuredClone(memory, { transfer: [memory] });
    client.write(view);
    client.writev([view]);
    await turns();
    assert.deepStrictEqual(errors, ['ERR_STREAM_WRITE_AFTER_END', 'ERR_STREAM_WRITE_AFTER_END']);
  }));

test('setters on Object.prototype see nothing of what the native half makes', async () => {
  const result = await run(`
    const seen = [];
    const names = ['address', 'family', 'port', 'bytes', 'forward', 'recv', 'accept'];
    let client;
    for (const name of names) {
      Object.defineProperty(Object.prototype, name, {
        configurable: true,
        set() {
          // Node's own objects have such properties too; what the native half makes has none before.
          if (!/lib.net/.test(new Error().stack.split('\\n')[2])) return;
          seen.push(name);
          client?.destroy();
        },
      });
    }
    const server = oxwire.createServer((peer) => peer.pipe(peer, (error, result) => {
      seen.push(Object.keys(result).join(), Object.keys(result.forward).join());
    }));
    server.listen(0, '127.0.0.1', () => {
      client = oxwire.connect(server.address().port);
      client.on('connect', () => {
        seen.push(Object.keys(client.address()).join(), oxwire.counters().recv);
        client.end();
        server.close();
      });
    });
    process.on('exit', () => {
      for (const name of names) delete Object.prototype[name];
      console.log(JSON.stringify(seen));
    });`);
  assert.strictEqual(result.stderr, '');
  assert.deepStrictEqual(JSON.parse(result.stdout), [
    'address,family,port',
    0,
    'forward,backward',
    'bytes,ended,error',
  ]);
});

test('a server forgets a connection that was closed behind a Proxy', () =>
  leavesNothing(async (t) => {
    for (const method of ['destroy', 'close', 'resetAndDestroy']) {
      const { server, peer } = await pair(t);
      new Proxy(peer, {})[method]();
      await until(() => server.connections.length === 0);
      assert.deepStrictEqual(server.connections, []);
    }
  }));

test('what a program makes of the list of connections costs no descriptor', async () => {
  for (const list of ['Object.freeze([])', 'null', 'new Set()']) {
    const result = await run(`
      process.on('uncaughtException', (error) => console.log(error.name));
      const server = oxwire.createServer();
      server.connections = ${list};
      server.listen(0, '127.0.0.1', () => {
        const client = oxwire.connect(server.address().port);
        client.read(Buffer.alloc(1), () => {});
        client.on('close', () => { console.log('closed'); server.close(); });
      });`);
    assert.deepStrictEqual(result, {
      status: 0,
      signal: null,
      stderr: '',
      stdout: 'TypeError\nclosed\n',
    });
  }
});

test('an error that refuses a result ends a pipe all the same', () =>
  leavesNothing(async (t) => {
    const refusing = () =>
      Object.defineProperty(new Error('mine'), 'result', {
        get: () => undefined,
        set() {
          throw new Error('no result');
        },
      });
    const { client, peer } = await pair(t);
    const calls = new Calls();
    calls.on(client, ['close']);
    client.pipe(client, calls.of('pipe'));
    await turns();
    client.destroy(refusing());
    peer.destroy();
    const lookup = (
      /** @type {any} */ _host,
      /** @type {any} */ _options,
      /** @type {any} */ callback,
    ) => setImmediate(() => callback(refusing()));
    const lost = oxwire.connect({ host: 'a.name', port: 1, lookup });
    calls.most('error');
    lost.on('error', calls.of('event'));
    lost.on('close', calls.of('closed'));
    lost.pipe(lost, calls.of('other pipe'));
    await calls.once();
  }));

test('a connection that nobody connects refuses everything, and keeps nothing alive', async () => {
  const result = await run(`
    const connection = new oxwire.Connection();
    const say = (name) => (error) => console.log(name, error && error.code);
    connection.on('error', say('error'));
    connection.on('close', () => console.log('closed'));
    connection.read(Buffer.alloc(1), say('read'));
    console.log(connection.write('x', say('write')));
    connection.end(say('end'));
    connection.end('y', say('end with data'));
    connection.close(say('close'));`);
  assert.strictEqual(result.stderr, '');
  const lines = ['false', 'read CLOSED', 'write CLOSED', 'end CLOSED', 'end with data CLOSED'];
  const expected = [...lines, 'close null', 'closed'].join('\n').replaceAll('CLOSED', CLOSED);
  assert.strictEqual(result.stdout.trim(), expected);
});
