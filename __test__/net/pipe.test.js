'use strict';

const assert = require('assert');
const net = require('net');
const path = require('path');
const { AsyncLocalStorage } = require('async_hooks');
const { spawn, spawnSync } = require('child_process');
const { getEventListeners, once } = require('events');
const { test } = require('node:test');
const { Worker } = require('worker_threads');
const oxwire = require('../..');
const { ACTIONS, MOMENTS, giveUp } = require('../support/giving-up');
const { begin, beginRunning, ends, pump, receive, send, until } = require('../support/pipes');
const {
  closed,
  fill,
  freePort,
  listen,
  pair,
  pairWithNode,
  read,
  readAll,
  turns,
  write,
} = require('../support/sockets');

/** @typedef {import('node:test').TestContext} Test */

const ROOT = JSON.stringify(path.join(__dirname, '../..'));
const onLinux = process.platform === 'linux';
const SPLICES = [false, true];

/** A way that has ended as it should. @param {number} bytes */
const whole = (bytes) => ({ bytes, ended: true, error: null });
/** A way that was given up. @param {number} bytes */
const cut = (bytes) => ({ bytes, ended: false, error: null });

/**
 * The port of a server of node:net, and its next connection.
 *
 * @param {Test} t
 */
async function listenWithNode(t) {
  const server = net.createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  /** @type {net.Socket[]} */
  const accepted = [];
  server.on('connection', (socket) => {
    accepted.push(socket.on('error', () => {}));
    t.after(() => socket.destroy());
  });
  const next = async () => {
    if (accepted.length === 0) await once(server, 'connection');
    return /** @type {net.Socket} */ (accepted.shift());
  };
  return { port: /** @type {net.AddressInfo} */ (server.address()).port, next };
}

/** A lookup that answers when it is told to. */
function lookupLater() {
  const answers = [];
  return {
    lookup: (_host, _options, callback) => answers.push(callback),
    answer: (error = null) => answers.shift()(error, '127.0.0.1', 4),
  };
}

/**
 * A program in another process, and what it says.
 *
 * @param {Test} t
 * @param {string} program in which `oxwire` is there
 * @param {string[]} [limit] what starts it
 */
function start(t, program, limit = []) {
  const script = `const oxwire = require(${ROOT});\n${program}`;
  const [command, ...given] = [...limit, process.execPath, '-e', script];
  const child = spawn(command, given, { stdio: ['pipe', 'pipe', 'inherit', 'ipc'] });
  t.after(() => child.kill('SIGKILL'));
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const messages = [];
  child.on('message', (message) => messages.push(message));
  const message = async () => {
    if (messages.length === 0) await Promise.race([once(child, 'message'), exit]);
    if (messages.length === 0) assert.fail(`it has ended: ${JSON.stringify(await exit)}`);
    return messages.shift();
  };
  return { child, exit, message };
}

/**
 * All that a stream gives until its end.
 *
 * @param {import('stream').Readable} stream
 */
async function textOf(stream) {
  let text = '';
  stream.on('data', (chunk) => (text += chunk));
  await once(stream.resume(), 'end');
  return text;
}

/**
 * How a connection was left: 'end', or the code of an error.
 *
 * @param {import('../..').Connection} connection
 */
async function fateOf(connection) {
  try {
    while ((await read(connection)).length > 0);
    return 'end';
  } catch (error) {
    return error.code;
  }
}

// What moves.

test('bytes of any number arrive as they were sent, both ways at once', async (t) => {
  const sizes = [
    [0, 0],
    [1, 0],
    [0, 1],
    [100_000, 1],
    [1 << 20, (5 << 20) + 1],
    [64 << 20, 64 << 20],
  ];
  for (const splice of SPLICES) {
    for (const [there, back] of sizes) {
      const { source, target, left, right } = await ends(t);
      const { told, over } = begin({ source, target }, { splice });
      const received = [receive(right), receive(left)];
      const sent = await Promise.all([send(left, there), send(right, back)]);
      assert.deepStrictEqual(await Promise.all(received), sent);
      const { error, result } = await told;
      assert.strictEqual(error, null);
      assert.deepStrictEqual(result, { forward: whole(there), backward: whole(back) });
      await over;
    }
  }
});

test('a slow reader holds the sender back, and no bytes gather in the process', async (t) => {
  const size = 128 << 20;
  for (const splice of SPLICES) {
    const server = await listenWithNode(t);
    const program = `
      const connect = () => new Promise((resolve) => {
        const connection = oxwire.connect(${server.port}, () => resolve(connection));
      });
      process.on('message', () => process.send(process.resourceUsage().maxRSS * 1024));
      (async () => {
        const [source, target] = [await connect(), await connect()];
        await source.pipe(target, { splice: ${splice} });
        process.disconnect();
      })();`;
    const { child, exit, message } = start(t, program);
    const memory = () => {
      child.send('how much?');
      return message();
    };
    const left = await server.next();
    const right = await server.next();
    left.write('.');
    await once(right, 'data');
    const before = await memory();
    let most = 0;
    const received = receive(right, (count) => {
      most = Math.max(most, left.bytesWritten - left.writableLength - count);
      right.pause();
      setImmediate(() => right.resume());
    });
    const sent = await send(left, size);
    const last = memory();
    right.end();
    assert.deepStrictEqual(await received, sent);
    assert.ok(most < size / 2, `${most} bytes were under way`);
    const grown = (await last) - before;
    assert.ok(grown < 16 << 20, `the process grew by ${grown} bytes`);
    assert.deepStrictEqual(await exit, { code: 0, signal: null });
  }
});

test('piped to itself a connection echoes', async (t) => {
  for (const splice of SPLICES) {
    for (const size of [0, 1, 16 << 20]) {
      const { connection, socket } = await pairWithNode(t);
      const piped = { source: connection, target: connection };
      const { log, told, over } = begin(piped, { splice });
      const received = receive(socket);
      assert.deepStrictEqual(await send(socket, size), await received);
      const { error, result } = await told;
      assert.strictEqual(error, null);
      assert.deepStrictEqual(result, { forward: whole(size), backward: cut(0) });
      await over;
      assert.deepStrictEqual(log, ['callback', 'source end', 'source finish', 'source close']);
      assert.deepStrictEqual([connection.bytesRead, connection.bytesWritten], [size, size]);
    }
  }
});

test('200 pipes run at once', async (t) => {
  const size = 100_000;
  const all = await Promise.all(Array.from({ length: 200 }, () => ends(t)));
  await Promise.all(
    all.map(async ({ source, target, left, right }, number) => {
      const { told, over } = begin({ source, target }, { splice: number % 2 === 0 });
      const received = Promise.all([receive(right), receive(left)]);
      const sent = await Promise.all([send(left, size), send(right, size + number)]);
      assert.deepStrictEqual(await received, sent);
      const { result } = await told;
      assert.deepStrictEqual(result, { forward: whole(size), backward: whole(size + number) });
      await over;
    }),
  );
});

test('connections may be of one server, and are forgotten when their pipe is over', async (t) => {
  const server = await listen(t);
  const sockets = [];
  for (let i = 0; i < 9; i++) {
    sockets.push(net.connect({ port: server.address().port, allowHalfOpen: true }));
    await once(server, 'connection');
  }
  const connections = server.connections.slice();
  const piped = [];
  for (let i = 0; i < 8; i += 2) piped.push(connections[i].pipe(connections[i + 1]));
  piped.push(connections[8].pipe(connections[8]));
  assert.strictEqual(server.connections.length, 9);
  for (const socket of sockets) socket.resume().end();
  await Promise.all([...piped, ...connections.map(closed)]);
  assert.deepStrictEqual(server.connections, []);
});

// How each side ends.

test('the end of one way is passed on, and the other goes on', async (t) => {
  for (const splice of SPLICES) {
    for (const first of ['left', 'right']) {
      const piped = await ends(t);
      const { source, target } = piped;
      const [early, late] =
        first === 'left' ? [piped.left, piped.right] : [piped.right, piped.left];
      const { log, told, over } = await beginRunning(piped, { splice });
      early.end('last');
      assert.strictEqual(await textOf(late), 'last');
      assert.deepStrictEqual(log, [], 'nothing is over');
      const received = receive(early);
      assert.deepStrictEqual(await send(late, 1 << 20), await received);
      const { error, result } = await told;
      assert.strictEqual(error, null);
      const [short, long] = [whole(1 + 4), whole(1 + (1 << 20))];
      const [forward, backward] = first === 'left' ? [short, long] : [long, short];
      assert.deepStrictEqual(result, { forward, backward });
      await over;
      assert.deepStrictEqual(log, [
        'callback',
        'source end',
        'source finish',
        'target end',
        'target finish',
        'source close',
        'target close',
      ]);
      for (const connection of [source, target]) {
        assert.ok(connection.ended && connection.finished && connection.closed);
      }
    }
  }
});

test('what had come before the pipe goes through it, and so does the end', async (t) => {
  for (const splice of SPLICES) {
    const { source, target, left, right } = await ends(t);
    left.end('early');
    right.end('early too');
    await turns();
    const { told } = begin({ source, target }, { splice });
    const received = await Promise.all([receive(right), receive(left)]);
    assert.deepStrictEqual(
      received.map(({ size }) => size),
      [5, 9],
    );
    assert.deepStrictEqual((await told).result, { forward: whole(5), backward: whole(9) });
  }
});

test('a peer that had ended before makes no second end of it', async (t) => {
  const { connection: source, socket: left } = await pairWithNode(t, { allowHalfOpen: true });
  const { connection: target, socket: right } = await pairWithNode(t);
  let heard = 0;
  source.on('end', () => heard++);
  left.end();
  assert.strictEqual((await read(source)).length, 0);
  await turns();
  assert.strictEqual(heard, 1);
  const { told, over } = begin({ source, target });
  const received = receive(left);
  assert.deepStrictEqual(await send(right, 1000), await received);
  assert.deepStrictEqual((await told).result, { forward: whole(0), backward: whole(1000) });
  await over;
  assert.strictEqual(heard, 1);
});

test('the callback of a read that met the end may pipe the connection', async (t) => {
  const { connection: source, socket: left } = await pairWithNode(t);
  const { connection: target, socket: right } = await pairWithNode(t);
  left.end();
  const piped = new Promise((resolve, reject) => {
    source.read(Buffer.alloc(1), () => source.pipe(target).then(resolve, reject));
  });
  const received = receive(left);
  assert.deepStrictEqual(await send(right, 1000), await received);
  assert.deepStrictEqual(await piped, { forward: whole(0), backward: whole(1000) });
});

// How it begins.

test('a pipe may begin before either side is connected', async (t) => {
  for (const splice of SPLICES) {
    const [front, back] = [await listenWithNode(t), await listenWithNode(t)];
    const [source, target] = [oxwire.connect(front.port), oxwire.connect(back.port)];
    const { log, told, over } = begin({ source, target }, { splice });
    assert.ok(source.connecting && target.connecting);
    const [left, right] = await Promise.all([front.next(), back.next()]);
    const received = Promise.all([receive(right), receive(left)]);
    const sent = await Promise.all([send(left, 1000), send(right, 2000)]);
    assert.deepStrictEqual(await received, sent);
    assert.deepStrictEqual((await told).result, { forward: whole(1000), backward: whole(2000) });
    await over;
    assert.deepStrictEqual(log.slice(0, 2).sort(), ['source connect', 'target connect']);
    assert.strictEqual(log[2], 'callback');
  }
});

test('what comes while the other side is being connected waits for it', async (t) => {
  for (const late of ['source', 'target']) {
    const { connection, socket } = await pairWithNode(t);
    const server = await listenWithNode(t);
    const { lookup, answer } = lookupLater();
    const connecting = oxwire.connect(server.port, 'somewhere', { lookup });
    const [source, target] =
      late === 'target' ? [connection, connecting] : [connecting, connection];
    const { told } = begin({ source, target });
    const sent = send(socket, 1 << 20);
    await turns();
    assert.strictEqual(connection.bytesRead, 0);
    answer();
    const peer = await server.next();
    assert.deepStrictEqual(await receive(peer), await sent);
    peer.end();
    const { forward, backward } = (await told).result;
    const [through, nothing] = late === 'target' ? [forward, backward] : [backward, forward];
    assert.deepStrictEqual([through, nothing], [whole(1 << 20), whole(0)]);
  }
});

test('what was written before leaves first, in order', async (t) => {
  for (const splice of SPLICES) {
    const { source, target, left, right } = await ends(t);
    const log = [];
    const waiting = await fill(target);
    target.write('tail', () => log.push('tail'));
    source.write('a', () => log.push('a'));
    source.write('b', () => log.push('b')); // It is staged.
    const { told, over } = begin({ source, target }, { splice });
    told.then(() => log.push('told'));
    left.end('from left');
    right.end('from right');
    let [back, forth] = ['', ''];
    left.on('data', (chunk) => (back += chunk));
    let count = 0;
    right.on('data', (chunk) => {
      count += chunk.length;
      forth = (forth + chunk).slice(-20);
    });
    await Promise.all([once(left, 'end'), once(right, 'end'), over]);
    assert.strictEqual(count, waiting + 4 + 9);
    assert.match(forth, /xtailfrom left$/);
    assert.strictEqual(back, 'abfrom right');
    assert.deepStrictEqual(log, ['a', 'b', 'tail', 'told']);
    const { result } = await told;
    assert.deepStrictEqual(result, { forward: whole(9), backward: whole(10) });
    assert.strictEqual(target.bytesWritten, count);
    assert.strictEqual(source.bytesWritten, 12);
  }
});

test('what was written before there was a connection leaves first', async (t) => {
  const { connection: source, socket: left } = await pairWithNode(t);
  const server = await listenWithNode(t);
  const target = oxwire.connect(server.port);
  target.write('hello ');
  const piped = source.pipe(target);
  left.end('world');
  const right = await server.next();
  right.end();
  left.resume();
  assert.strictEqual(await textOf(right), 'hello world');
  assert.deepStrictEqual(await piped, { forward: whole(5), backward: whole(0) });
});

test('a connection may be piped as soon as it is accepted', async (t) => {
  const { port, next } = await listenWithNode(t);
  const server = await listen(t);
  const piped = new Promise((resolve, reject) => {
    server.on('connection', (source) => source.pipe(oxwire.connect(port)).then(resolve, reject));
  });
  const left = net.connect({ port: server.address().port, allowHalfOpen: true });
  left.end('at once');
  const right = await next();
  right.end();
  left.resume();
  assert.strictEqual((await receive(right)).size, 7);
  assert.deepStrictEqual(await piped, { forward: whole(7), backward: whole(0) });
});

// How it fails before it begins.

test('a connection that fails while the pipe waits for it is told in the callback', async (t) => {
  const notFound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  const port = await freePort();
  const failures = {
    ECONNREFUSED: () => oxwire.connect(port),
    ENOTFOUND: () =>
      oxwire.connect(1, 'nowhere.invalid', {
        lookup: (_host, _options, callback) => setImmediate(callback, notFound, []),
      }),
  };
  for (const [code, fail] of Object.entries(failures)) {
    for (const which of ['source', 'target']) {
      const { connection, socket } = await pairWithNode(t);
      const failing = fail();
      const [source, target] = which === 'source' ? [failing, connection] : [connection, failing];
      const { log, told, over } = begin({ source, target });
      const gone = once(socket.resume(), 'end');
      const { error, result } = await told;
      assert.strictEqual(error.code, code);
      assert.deepStrictEqual(result, { forward: cut(0), backward: cut(0) });
      await Promise.all([over, gone]);
      await turns(3);
      assert.strictEqual(log[0], 'callback');
      assert.deepStrictEqual(
        log.slice(1).sort(),
        ['source close', 'target close', `${which} error`].sort(),
      );
      assert.ok(log.indexOf(`${which} error`) < log.indexOf(`${which} close`));
    }
  }
});

test("a connect that fails in a pipe is an 'error' event all the same", async (t) => {
  const { connection: source } = await pairWithNode(t);
  const target = oxwire.connect(await freePort());
  const heard = once(target, 'error');
  await assert.rejects(source.pipe(target), { code: 'ECONNREFUSED', syscall: 'connect' });
  const [error] = await heard;
  assert.strictEqual(error.code, 'ECONNREFUSED');
});

test('once it was closed, nobody need listen to the error of its connect', async (t) => {
  const { connection: source } = await pairWithNode(t);
  const target = oxwire.connect(await freePort());
  target.write('to leave first');
  const piped = assert.rejects(source.pipe(target), { code: 'ECONNREFUSED' });
  const over = Promise.all([closed(source), closed(target)]);
  target.close();
  await Promise.all([piped, over]);
});

test('a write that fails while the pipe waits for it is told in the callback too', async (t) => {
  const { source, target, right } = await ends(t);
  await fill(target);
  const failed = new Promise((resolve) => target.write('last', resolve));
  const { log, told, over } = begin({ source, target });
  right.resetAndDestroy();
  assert.match((await failed).code, /^(ECONNRESET|EPIPE)$/);
  const { error, result } = await told;
  assert.match(error.code, /^(ECONNRESET|EPIPE)$/);
  assert.deepStrictEqual(result, { forward: cut(0), backward: cut(0) });
  await over;
  assert.deepStrictEqual(log.sort(), ['callback', 'source close', 'target close']);
});

// Resets.

/**
 * When the peer of a piped connection resets it. `near` is that connection, `socket` its peer, `far`
 * is piped with it, and `witness` is the peer of `far`.
 *
 * @typedef {{ near: import('../..').Connection, far: import('../..').Connection, socket: net.Socket,
 *   witness: import('../..').Connection }} Parties
 * @type {Record<string, (parties: Parties) => Promise<unknown>>}
 */
const RESETS = {
  'at once': async ({ socket }) => socket.resetAndDestroy(),
  async 'while nothing moves'({ socket, witness }) {
    const passed = once(socket, 'data');
    await write(witness, '.');
    await passed;
    socket.resetAndDestroy();
  },
  async 'while much moves'({ socket, witness }) {
    pump(socket.resume());
    await readAll(witness, 1 << 20);
    socket.resetAndDestroy();
  },
  async 'while nobody receives'({ near, socket }) {
    socket.write(Buffer.alloc(64 << 20));
    await until(() => near.bytesRead > 1 << 20);
    socket.resetAndDestroy();
  },
  async 'when its peer has ended'({ socket, witness }) {
    witness.end();
    await once(socket.resume(), 'end');
    socket.resetAndDestroy();
  },
};

/**
 * @param {Test} t
 * @param {'source' | 'target'} which is reset
 * @param {boolean} splice
 */
async function partiesOf(t, which, splice) {
  const { connection: near, socket } = await pairWithNode(t);
  const { client: witness, peer: far } = await pair(t, { allowHalfOpen: true });
  const piped = which === 'source' ? { source: near, target: far } : { source: far, target: near };
  return { near, far, socket, witness, ...begin(piped, { splice }) };
}

for (const [moment, reset] of Object.entries(RESETS)) {
  test(`a reset ${moment} is passed on as one, and no way has ended by it`, async (t) => {
    for (const splice of SPLICES) {
      for (const which of /** @type {const} */ (['source', 'target'])) {
        const parties = await partiesOf(t, which, splice);
        await reset(parties);
        const fate = fateOf(parties.witness);
        const { error, result } = await parties.told;
        const context = `${which}, splice: ${splice}, ${JSON.stringify(result)}`;
        assert.strictEqual(error, null, context);
        const { forward, backward } = result;
        const [from, to] = which === 'source' ? [forward, backward] : [backward, forward];
        const failures = [from.error, to.error].filter((failure) => failure !== null);
        assert.strictEqual(failures.length, 1, context);
        assert.match(failures[0].code, /^(ECONNRESET|EPIPE)$/, context);
        assert.match(failures[0].syscall, /^(read|write|shutdown)$/, context);
        assert.strictEqual(from.ended, false, context);
        assert.match(await fate, /^(ECONNRESET|EPIPE)$/, context);
        await parties.over;
        await turns(3);
        const { log } = parties;
        assert.strictEqual(log.filter((entry) => entry === 'callback').length, 1);
        assert.strictEqual(log.filter((entry) => entry.endsWith('close')).length, 2);
        assert.ok(!log.some((entry) => entry.endsWith('error')), String(log));
      }
    }
  });
}

test('a reset before the pipe has begun is found when it does', async (t) => {
  for (const late of ['source', 'target']) {
    const { connection, socket } = await pairWithNode(t);
    const server = await listenWithNode(t);
    const { lookup, answer } = lookupLater();
    const connecting = oxwire.connect(server.port, 'somewhere', { lookup });
    const [source, target] =
      late === 'target' ? [connection, connecting] : [connecting, connection];
    const { told, over } = begin({ source, target });
    socket.resetAndDestroy();
    await turns();
    answer();
    const peer = await server.next();
    const failed = closed(peer.resume()).then(() => /** @type {any} */ (peer.errored)?.code);
    const { error, result } = await told;
    assert.strictEqual(error, null);
    const { forward, backward } = result;
    const [reset, other] = late === 'target' ? [forward, backward] : [backward, forward];
    assert.strictEqual(reset.error.code, 'ECONNRESET');
    assert.strictEqual(other.error, null);
    assert.strictEqual(await failed, 'ECONNRESET');
    await over;
  }
});

test('a reset after its end is passed on at once, though nothing moves', async (t) => {
  for (const splice of SPLICES) {
    for (const which of /** @type {const} */ (['source', 'target'])) {
      const { socket, witness, told, over } = await partiesOf(t, which, splice);
      socket.end('last');
      assert.strictEqual(String(await readAll(witness)), 'last');
      socket.resetAndDestroy();
      const { error, result } = await told;
      assert.strictEqual(error, null);
      const { forward, backward } = result;
      const [from, to] = which === 'source' ? [forward, backward] : [backward, forward];
      assert.deepStrictEqual(from, whole(4));
      assert.match(to.error.code, /^(ECONNRESET|EPIPE)$/);
      assert.strictEqual(to.ended, false);
      await assert.rejects(write(witness, 'too late'));
      await over;
    }
  }
});

test('an end does not hide the reset that comes with it', async (t) => {
  for (const splice of SPLICES) {
    for (const which of /** @type {const} */ (['source', 'target'])) {
      const { socket, witness, told, over } = await partiesOf(t, which, splice);
      witness.end();
      socket.end('last');
      await once(socket, 'finish');
      socket.resetAndDestroy();
      const { error, result } = await told;
      assert.strictEqual(error, null);
      const { forward, backward } = result;
      const failures = [forward.error, backward.error].filter((failure) => failure !== null);
      // Where both ends were passed on before there was nothing left to reset.
      assert.strictEqual(failures.length, forward.ended && backward.ended ? 0 : 1);
      await over;
    }
  }
});

test('a reset of one that is piped to itself is told', async (t) => {
  for (const splice of SPLICES) {
    for (const moves of [false, true]) {
      const { connection, socket } = await pairWithNode(t);
      const { told, over } = begin({ source: connection, target: connection }, { splice });
      if (moves) pump(socket);
      else socket.write('.');
      await once(socket, 'data');
      socket.resetAndDestroy();
      const { error, result } = await told;
      assert.strictEqual(error, null);
      assert.match(result.forward.error.code, /^(ECONNRESET|EPIPE)$/);
      assert.strictEqual(result.forward.ended, false);
      assert.strictEqual(result.backward.error, null);
      await over;
    }
  }
});

test('a peer that goes in the middle of 32 MiB is not one that has ended', async (t) => {
  for (const splice of SPLICES) {
    for (const which of /** @type {const} */ (['left', 'right'])) {
      const piped = await ends(t);
      const { told, over } = begin(piped, { splice });
      const other = which === 'left' ? piped.right : piped.left;
      for (const socket of [piped.left, piped.right]) send(socket, 32 << 20);
      const gone = closed(other);
      other.resume();
      await once(piped[which], 'data');
      piped[which].destroy(); // With bytes unread: the kernel resets the connection.
      const { error, result } = await told;
      assert.strictEqual(error, null);
      const failures = [result.forward.error, result.backward.error].filter(Boolean);
      assert.strictEqual(failures.length, 1);
      assert.match(failures[0].code, /^(ECONNRESET|EPIPE)$/);
      const to = which === 'left' ? result.backward : result.forward;
      assert.strictEqual(to.ended, false);
      assert.ok(to.bytes < 32 << 20);
      await Promise.all([over, gone]);
    }
  }
});

// How it is given up.

/** What the callback is told. */
const REASONS = {
  destroy: 'ERR_SOCKET_CLOSED',
  'destroy with an error': undefined,
  close: 'ERR_SOCKET_CLOSED',
  resetAndDestroy: 'ERR_SOCKET_CLOSED',
  abort: 'ABORT_ERR',
};

for (const action of Object.keys(ACTIONS)) {
  test(`${action} gives a pipe up at any moment, and is told once`, async (t) => {
    for (const moment of Object.keys(MOMENTS)) {
      for (const which of /** @type {const} */ (['source', 'target'])) {
        for (const splice of SPLICES) {
          const heard = await giveUp(t, moment, action, which, splice);
          const { error, result, late, within, callbacks, closes, errors } = heard;
          const context = `${moment}, of the ${which}, splice: ${splice}: ${error}`;
          assert.deepStrictEqual([callbacks, ...closes, errors], [1, 1, 1, 0], context);
          assert.deepStrictEqual(within, [], context);
          assert.strictEqual(typeof result.forward.bytes, 'number', context);
          if (late && error === null) {
            assert.ok(result.forward.ended && result.backward.ended, context);
          } else {
            assert.strictEqual(error.code, REASONS[action], context);
            assert.strictEqual(error.result, result, context);
          }
        }
      }
    }
  });
}

test(
  'pipes that were given up leave no descriptor, and the process ends',
  { skip: !onLinux },
  () => {
    const script = path.join(__dirname, '../support/giving-up.js');
    const { status, signal, stdout } = spawnSync(process.execPath, [script], {
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const expected = { status: 0, signal: null, stdout: 'nothing left\n' };
    assert.deepStrictEqual({ status, signal, stdout: String(stdout) }, expected);
  },
);

test('the reason of a destroy may be anything', async (t) => {
  for (const reason of [Object.freeze(new Error('frozen')), 'text', 5]) {
    const { source, target, left, right } = await ends(t);
    const { told, over } = begin({ source, target });
    const gone = Promise.all([once(left.resume(), 'end'), once(right.resume(), 'end')]);
    target.destroy(/** @type {any} */ (reason));
    const { error, result } = await told;
    assert.strictEqual(error, reason);
    assert.deepStrictEqual(result, { forward: cut(0), backward: cut(0) });
    await Promise.all([over, gone]);
  }
});

test('a close that waits for what was written gives it up when that has left', async (t) => {
  for (const which of ['source', 'target']) {
    const { connection, socket } = await pairWithNode(t);
    const server = await listenWithNode(t);
    const { lookup, answer } = lookupLater();
    const connecting = oxwire.connect(server.port, 'somewhere', { lookup });
    const [source, target] =
      which === 'source' ? [connecting, connection] : [connection, connecting];
    connecting.write('this leaves');
    const { log, told, over } = begin({ source, target });
    socket.resume().write('and this is not passed on');
    connecting.close();
    await turns();
    assert.deepStrictEqual(log, []);
    answer();
    const peer = await server.next();
    assert.strictEqual(await textOf(peer), 'this leaves');
    const { error, result } = await told;
    assert.strictEqual(error.code, 'ERR_SOCKET_CLOSED');
    assert.deepStrictEqual(result, { forward: cut(0), backward: cut(0) });
    await over;
  }
});

test('a signal that was aborted before gives it up at once', async (t) => {
  const { source, target, left, right } = await ends(t);
  const signal = AbortSignal.abort('no more');
  const gone = Promise.all([once(left.resume(), 'end'), once(right.resume(), 'end')]);
  const { told, over, log } = begin({ source, target }, { signal });
  assert.deepStrictEqual(log, [], 'never within the call');
  const { error, result } = await told;
  assert.deepStrictEqual([error.name, error.code], ['AbortError', 'ABORT_ERR']);
  assert.strictEqual(error.cause, 'no more');
  assert.deepStrictEqual(result, { forward: cut(0), backward: cut(0) });
  await Promise.all([over, gone]);
});

test('a signal is forgotten with its pipe', async (t) => {
  const { signal } = new AbortController();
  const [ending, stopping] = [await ends(t), await ends(t)];
  const pipes = [begin(ending, { signal }), begin(stopping, { signal })];
  assert.strictEqual(getEventListeners(signal, 'abort').length, 1);
  for (const socket of [ending.left, ending.right]) socket.resume().end();
  stopping.source.close();
  await Promise.all(pipes.map(({ over }) => over));
  assert.strictEqual(getEventListeners(signal, 'abort').length, 0);
});

test('one that is to be reset as soon as it is connected is not piped', async (t) => {
  for (const which of ['source', 'target']) {
    const { connection, socket } = await pairWithNode(t);
    const server = await listenWithNode(t);
    const { lookup, answer } = lookupLater();
    const connecting = oxwire.connect(server.port, 'somewhere', { lookup });
    const [source, target] =
      which === 'source' ? [connecting, connection] : [connection, connecting];
    const { told, over } = begin({ source, target });
    socket.write('not to be passed on');
    connecting.resetAndDestroy();
    answer();
    const peer = await server.next();
    const failed = new Promise((resolve) => {
      peer.resume().on('error', (error) => resolve(/** @type {any} */ (error).code));
      peer.on('end', () => resolve('end'));
    });
    assert.strictEqual((await told).error.code, 'ERR_SOCKET_CLOSED');
    assert.strictEqual(await failed, 'ECONNRESET');
    await over;
  }
});

test('resetAndDestroy of one connection resets the peers of both', async (t) => {
  for (const splice of SPLICES) {
    for (const which of ['source', 'target', 'echo']) {
      const piped = await ends(t);
      const { source, target, left, right } = piped;
      const echo = which === 'echo';
      const { told, over } = echo
        ? begin({ source, target: source }, { splice })
        : await beginRunning(piped, { splice });
      const fates = (echo ? [left] : [left, right]).map(
        (socket) =>
          new Promise((resolve) => {
            socket.on('error', (/** @type {any} */ error) => resolve(error.code));
            socket.on('end', () => resolve('end')).resume();
          }),
      );
      (which === 'target' ? target : source).resetAndDestroy();
      assert.strictEqual((await told).error.code, 'ERR_SOCKET_CLOSED');
      for (const fate of await Promise.all(fates)) assert.strictEqual(fate, 'ECONNRESET');
      await over;
    }
  }
});

// What a socket in a pipe refuses.

test('in a pipe reads, writes, the end and another pipe are refused', async (t) => {
  const piped = await ends(t);
  const other = await pairWithNode(t);
  const { told } = await beginRunning(piped);
  for (const connection of [piped.source, piped.target]) {
    assert.ok(!connection.readable && !connection.writable);
    const log = [];
    const buffer = Buffer.alloc(1);
    const buffers = [buffer, Buffer.alloc(9000)];
    connection.read(buffer, (...told) => log.push(['read', ...told]));
    connection.write(buffer, (...told) => log.push(['write', ...told]));
    connection.write('text', (...told) => log.push(['text', ...told]));
    connection.writev(buffers, (...told) => log.push(['writev', ...told]));
    connection.end((error) => log.push(['end', error]));
    connection.pipe(other.connection, (error, result) => log.push(['pipe', error, result]));
    other.connection.pipe(connection, (error, result) => log.push(['other', error, result]));
    assert.deepStrictEqual(log, [], 'never within the call');
    await turns();
    for (const [, error] of log) {
      assert.strictEqual(error.code, 'ERR_INVALID_STATE');
      assert.match(error.message, /the socket is in a pipe/);
    }
    for (const told of log) told.splice(1, 1);
    assert.deepStrictEqual(log, [
      ['read', buffer, 0],
      ['write', buffer, 1],
      ['text', 'text', 4],
      ['writev', buffers, [1, 9000]],
      ['end'],
      ['pipe', undefined],
      ['other', undefined],
    ]);
  }
  // Neither is harmed by it.
  const received = Promise.all([receive(piped.right), receive(piped.left)]);
  const sent = await Promise.all([send(piped.left, 1000), send(piped.right, 1000)]);
  assert.deepStrictEqual(await received, sent);
  assert.strictEqual((await told).error, null);
  await write(other.connection, 'free');
});

test('while a pipe waits the same is refused, behind what was accepted', async (t) => {
  const { connection: source, socket: left } = await pairWithNode(t);
  const server = await listenWithNode(t);
  const target = oxwire.connect(server.port);
  const log = [];
  const note = (name) => (error) => log.push(`${name} ${error?.code}`);
  target.write('a', note('a'));
  target.write('b', note('b'));
  const { told } = begin({ source, target });
  target.write('c', note('c'));
  target.read(Buffer.alloc(1), note('read'));
  source.write('d', note('d'));
  left.end();
  const right = await server.next();
  right.end();
  left.resume();
  assert.strictEqual((await receive(right)).size, 2);
  await told;
  assert.deepStrictEqual(
    log.filter((entry) => /^[abc]/.test(entry)),
    ['a undefined', 'b undefined', 'c ERR_INVALID_STATE'],
  );
  assert.ok(log.includes('read ERR_INVALID_STATE') && log.includes('d ERR_INVALID_STATE'));
});

test('what is refused while earlier writes wait is told after them', async (t) => {
  const { source, target, left, right } = await ends(t);
  const waiting = await fill(target);
  const log = [];
  target.write('last', () => log.push('written'));
  const { told } = begin({ source, target });
  target.write('x', (error) => log.push(`write ${error?.code}`));
  target.writev([Buffer.alloc(9000)], (error) => log.push(`writev ${error?.code}`));
  left.end();
  right.end();
  left.resume();
  assert.strictEqual((await receive(right)).size, waiting + 4);
  await told;
  assert.deepStrictEqual(log, ['written', 'write ERR_INVALID_STATE', 'writev ERR_INVALID_STATE']);
});

test('what is refused without a callback is heard where somebody listens', async (t) => {
  const piped = await ends(t);
  const { log } = await beginRunning(piped);
  piped.source.write('x');
  await turns();
  assert.deepStrictEqual(log, ['source error']);
  piped.source.end();
  piped.target.end();
  await turns();
  assert.deepStrictEqual(log, ['source error']);
  piped.source.removeAllListeners('error');
  piped.source.write('nobody hears, and nothing is thrown');
  await turns();
});

test('with a read pending there is no pipe, and the read goes on', async (t) => {
  const { source, target, left, right } = await ends(t);
  for (const reader of [source, target]) {
    const pending = read(reader);
    await assert.rejects(source.pipe(target), (/** @type {any} */ error) => {
      assert.strictEqual(error.code, 'ERR_INVALID_STATE');
      assert.match(error.message, /a read pending/);
      assert.strictEqual(error.result, undefined);
      return true;
    });
    (reader === source ? left : right).write('there it is');
    assert.strictEqual(String(await pending), 'there it is');
  }
  begin({ source, target });
  left.write('and through');
  const [chunk] = await once(right, 'data');
  assert.strictEqual(String(chunk), 'and through');
});

test('what is ended, closed or never was connected can not be piped', async (t) => {
  const { connection: good, socket } = await pairWithNode(t);
  const reason = Object.assign(new Error('enough'), { code: 'ENOUGH' });
  const bad = {
    async ERR_STREAM_WRITE_AFTER_END() {
      const { connection } = await pairWithNode(t);
      return connection.end();
    },
    async ENOUGH() {
      const { connection } = await pairWithNode(t);
      return connection.destroy(reason);
    },
    async ERR_SOCKET_CLOSED() {
      const { connection } = await pairWithNode(t);
      connection.close();
      await closed(connection);
      return connection;
    },
    async 'ERR_SOCKET_CLOSED '() {
      return new oxwire.Connection();
    },
    async ' ERR_SOCKET_CLOSED'() {
      const connection = oxwire.connect((await listen(t)).address().port);
      connection.write('first this');
      connection.close();
      return connection;
    },
  };
  for (const [code, make] of Object.entries(bad)) {
    for (const which of ['source', 'target']) {
      const connection = await make();
      const [source, target] = which === 'source' ? [connection, good] : [good, connection];
      let told = null;
      source.pipe(target, (error, result) => (told = [error?.code, result]));
      assert.strictEqual(told, null, 'never within the call');
      await turns();
      assert.deepStrictEqual(told, [code.trim(), undefined]);
    }
  }
  // The other one is as it was.
  await write(good, 'still here');
  const [chunk] = await once(socket, 'data');
  assert.strictEqual(String(chunk), 'still here');
});

test('wrong arguments are thrown, and change nothing', async (t) => {
  const { source, target, left, right } = await ends(t);
  const pipe = /** @type {any} */ (source.pipe.bind(source));
  for (const wrong of [undefined, null, {}, left, 'target', () => {}]) {
    assert.throws(() => pipe(wrong), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const wrong of [5, 'splice', true]) {
    assert.throws(() => pipe(target, wrong), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const wrong of [5, 'callback', {}]) {
    assert.throws(() => pipe(target, {}, wrong), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  for (const signal of [null, 5, {}, new EventTarget()]) {
    assert.throws(() => pipe(target, { signal }), { code: 'ERR_INVALID_ARG_TYPE' });
  }
  await Promise.all([write(source, 'x'), write(target, 'y')]);
  const piped = pipe(target, null, null);
  assert.ok(piped instanceof Promise);
  for (const socket of [left, right]) socket.resume().end();
  assert.deepStrictEqual(await piped, { forward: whole(0), backward: whole(0) });
});

test('with a callback there is no promise', async (t) => {
  const { source, target } = await ends(t);
  assert.strictEqual(/** @type {any} */ (source.pipe(target, () => {})), undefined);
});

// What is known of it.

test('bytes are counted while it runs and afterwards, on top of those before', async (t) => {
  for (const splice of SPLICES) {
    const { source, target, left, right } = await ends(t);
    left.write('123');
    await readAll(source, 3);
    await write(target, '45678');
    const { told, over } = begin({ source, target }, { splice });
    const counts = () => [
      [source.bytesRead, source.bytesWritten],
      [target.bytesRead, target.bytesWritten],
    ];
    left.write(Buffer.alloc(1000));
    right.write(Buffer.alloc(2000));
    const expected = [
      [3 + 1000, 2000],
      [2000, 5 + 1000],
    ];
    await until(() => target.bytesRead === 2000 && source.bytesRead === 1003);
    assert.deepStrictEqual(counts(), expected);
    for (const socket of [left, right]) socket.resume().end();
    await told;
    assert.deepStrictEqual(counts(), expected);
    await over;
    assert.deepStrictEqual(counts(), expected);
  }
});

test('what is counted when it is given up is what the callback is told', async (t) => {
  const { client, peer } = await pair(t);
  const { signal } = new AbortController();
  client.write('round');
  peer.pipe(peer, () => {});
  const { told } = begin({ source: client, target: client }, { signal });
  await until(() => client.bytesRead > 0);
  // What was written goes round and round, while the pipe is taken down too.
  signal.removeEventListener = () => {
    const before = client.bytesRead;
    while (client.bytesRead === before);
  };
  client.destroy();
  const { bytes } = (await told).result.forward;
  assert.deepStrictEqual([client.bytesRead, client.bytesWritten], [bytes, 5 + bytes]);
});

test('addresses are known in a pipe and after it', async (t) => {
  const { source, target, left, right } = await ends(t);
  const addresses = () =>
    [source, target].flatMap(({ localPort, remotePort }) => [localPort, remotePort]);
  const { over } = begin({ source, target });
  const expected = [left.remotePort, left.localPort, right.remotePort, right.localPort];
  assert.deepStrictEqual(addresses(), expected);
  for (const socket of [left, right]) socket.resume().end();
  await over;
  assert.deepStrictEqual(addresses(), expected);
});

test('a timeout of each end is heard where nothing has moved, once, and only there', async (t) => {
  const piped = await ends(t);
  const { source, target, left, right } = piped;
  const heard = { source: 0, target: 0 };
  source.setTimeout(800, () => heard.source++);
  target.setTimeout(900);
  target.on('timeout', () => heard.target++);
  const { over } = await beginRunning(piped);
  for (let i = 0; i < 12; i++) {
    (i % 2 === 0 ? left : right).write('.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.deepStrictEqual(heard, { source: 0, target: 0 });
  await once(target, 'timeout');
  assert.deepStrictEqual(heard, { source: 1, target: 1 });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.deepStrictEqual(heard, { source: 1, target: 1 });
  left.write('.');
  await once(target, 'timeout');
  assert.strictEqual(target.destroyed, false);
  for (const socket of [left, right]) socket.resume().end();
  await over;
});

test('its callback runs in the async context of the call', async (t) => {
  const storage = new AsyncLocalStorage();
  const seen = {};
  const over = [];
  const note = (name, source, target, options = {}) =>
    over.push(
      new Promise((resolve) => {
        storage.run(name, () => {
          source.pipe(target, options, () => resolve((seen[name] = storage.getStore())));
        });
      }),
    );
  const ending = await ends(t);
  note('ended', ending.source, ending.target);
  for (const socket of [ending.left, ending.right]) socket.resume().end();
  note('refused', ending.source, ending.target);
  const reset = await ends(t);
  note('reset', reset.source, reset.target);
  reset.left.resetAndDestroy();
  const closing = await ends(t);
  note('closed', closing.source, closing.target);
  storage.run('another', () => closing.target.close());
  const aborting = await ends(t);
  const abort = new AbortController();
  note('aborted', aborting.source, aborting.target, { signal: abort.signal });
  storage.run('another', () => abort.abort());
  const failing = await pairWithNode(t);
  const target = oxwire.connect(await freePort()).on('error', () => {});
  note('failed', failing.connection, target);
  await Promise.all(over);
  for (const [name, store] of Object.entries(seen)) assert.strictEqual(store, name);
  assert.strictEqual(Object.keys(seen).length, 6);
});

// How long it lives.

/** Two connections of a program, piped; it prints what it is told. @param {number} port */
const pipedProgram = (port, more = '') => `
  const connect = () => new Promise((resolve) => {
    const connection = oxwire.connect(${port}, () => resolve(connection));
  });
  process.channel.unref();
  (async () => {
    const [source, target] = [await connect(), await connect()];
    source.pipe(target, (error, { forward }) => console.log('told', error, forward.bytes));
    ${more}
  })();`;

test('a pipe that runs keeps the process alive until it has ended', async (t) => {
  for (const more of ['', 'target.unref();', 'source.unref(); source.ref();']) {
    const { port, next } = await listenWithNode(t);
    const { child, exit } = start(t, pipedProgram(port, more));
    const stdout = textOf(child.stdout);
    const left = await next();
    const right = await next();
    for (let i = 0; i < 20; i++) {
      left.write('.');
      await once(right, 'data');
      await turns();
    }
    for (const socket of [left, right]) socket.resume().end();
    assert.deepStrictEqual(await exit, { code: 0, signal: null });
    assert.strictEqual(await stdout, 'told null 20\n');
  }
});

test('a pipe of a source that is unrefed does not keep the process alive', async (t) => {
  const { port, next } = await listenWithNode(t);
  const { child, exit } = start(t, pipedProgram(port, 'source.unref();'));
  const stdout = textOf(child.stdout);
  await next();
  await next();
  assert.deepStrictEqual(await exit, { code: 0, signal: null });
  assert.strictEqual(await stdout, '');
});

/** A proxy in front of an echo server, both by pipes; `onmessage` is called for what comes back. */
const TRAFFIC = `
  const echo = oxwire.createServer((peer) => { peer.pipe(peer, () => {}); });
  const proxy = oxwire.createServer((peer) => {
    peer.pipe(oxwire.connect(echo.address().port), { splice }, () => {});
  });
  echo.listen(0, '127.0.0.1', () => proxy.listen(0, '127.0.0.1', () => {
    const { port } = proxy.address();
    for (let i = 0; i < 10; i++) {
      const client = oxwire.connect(port);
      client.write(Buffer.alloc(20_000, i));
      client.read(Buffer.alloc(20_000), function onread(error, buffer, count) {
        onmessage();
        client.write(buffer, count);
        client.read(buffer, onread);
      });
    }
    // Some that wait, and one that nobody reads from.
    for (let i = 0; i < 5; i++) oxwire.connect(port, 'localhost').pipe(oxwire.connect(port), () => {});
    oxwire.connect(port).write(Buffer.alloc(32 << 20), () => {});
  }));`;

test('a worker may be terminated with pipes in it, again and again', async () => {
  for (let i = 0; i < 50; i++) {
    const script = `const oxwire = require(${ROOT});
      const { parentPort } = require('worker_threads');
      const splice = ${i % 2 === 0};
      let messages = 0;
      const onmessage = () => { if (++messages === ${1 + i * 3}) parentPort.postMessage('up'); };
      ${TRAFFIC}`;
    const worker = new Worker(script, { eval: true });
    await once(worker, 'message');
    for (let turn = i % 3; turn > 0; turn--) await turns(1);
    assert.strictEqual(await worker.terminate(), 1);
  }
});

test('the process may exit in the midst of pipes, with the code that it was given', async (t) => {
  const runs = Array.from({ length: 50 }, (_, number) => number);
  const runNext = async () => {
    for (let number = runs.shift(); number !== undefined; number = runs.shift()) {
      const { exit } = start(
        t,
        `const splice = ${number % 2 === 0};
         let messages = 0;
         const onmessage = () => { if (++messages === ${1 + number * 2}) process.exit(${number}); };
         ${TRAFFIC}`,
      );
      assert.deepStrictEqual(await exit, { code: number, signal: null });
    }
  };
  await Promise.all([runNext(), runNext()]);
});

test('the addon stays loaded where only workers had it, that have ended', () => {
  const worker = `
    const oxwire = require(${ROOT});
    const server = oxwire.createServer((peer) => { peer.pipe(peer, () => server.close()); });
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.write('echo');
      client.read(Buffer.alloc(9), () => {
        require('worker_threads').parentPort.postMessage('echoed');
        client.close();
      });
    });`;
  const program = `
    const { once } = require('events');
    const { Worker } = require('worker_threads');
    const addon = () => /oxwire[^\\n]*\\.node/.test(require('fs').readFileSync('/proc/self/maps'));
    (async () => {
      for (let i = 0; i < 6; i++) {
        const worker = new Worker(${JSON.stringify(worker)}, { eval: true });
        const exit = once(worker, 'exit');
        await once(worker, 'message');
        if (i % 2 === 0) worker.terminate();
        await exit;
        if (process.platform === 'linux' && !addon()) throw new Error('it is gone');
        // Its threads have work to do meanwhile, if only to end what the worker has left.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      console.log('alive');
    })();`;
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['-e', program], {
    timeout: 30_000,
  });
  assert.deepStrictEqual(
    [status, signal, String(stdout), String(stderr)],
    [0, null, 'alive\n', ''],
  );
});

test('a peer that is gone raises no signal', { skip: process.platform === 'win32' }, async (t) => {
  const { port, next } = await listenWithNode(t);
  const rounds = 20;
  const program = `
    // Node ignores the signal, until a listener for it has gone.
    const listener = () => {};
    process.on('SIGPIPE', listener);
    process.off('SIGPIPE', listener);
    const connect = () => new Promise((resolve) => {
      const connection = oxwire.connect(${port}, () => resolve(connection));
    });
    (async () => {
      for (let i = 0; i < ${rounds}; i++) {
        const [source, target] = [await connect(), await connect()];
        const { forward } = await source.pipe(target, { splice: i % 2 === 0 });
        process.send(forward.error && forward.error.code);
      }
      process.disconnect();
    })();`;
  const { exit, message } = start(t, program);
  for (let i = 0; i < rounds; i++) {
    const left = await next();
    const right = await next();
    left.resume();
    right.end(); // Afterwards a reset is EPIPE, which comes with the signal.
    left.write(Buffer.alloc(64 << 20));
    await once(right, 'data');
    right.pause();
    await turns(); // The pipe is about to write when the peer goes.
    right.destroy();
    assert.match(await message(), /^(EPIPE|ECONNRESET)$/);
    left.destroy();
  }
  assert.deepStrictEqual(await exit, { code: 0, signal: null });
});

test('where descriptors have run out it copies', { skip: !onLinux }, async (t) => {
  const { port, next } = await listenWithNode(t);
  const program = `
    const fs = require('fs');
    const connect = () => new Promise((resolve) => {
      const connection = oxwire.connect(${port}, () => resolve(connection));
    });
    (async () => {
      const pairs = [];
      for (let i = 0; i < 4; i++) pairs.push(await connect());
      const [first, second, source, target] = pairs;
      await first.pipe(second, { splice: true }); // That makes what all pipes share.
      const held = [];
      try { for (;;) held.push(fs.openSync('/dev/null')); } catch {}
      const { forward, backward } = await source.pipe(target, { splice: true });
      for (const file of held) fs.closeSync(file);
      process.send([forward, backward]);
      process.disconnect();
    })();`;
  const few = ['sh', '-c', 'ulimit -n 100; exec "$0" "$@"'];
  const { exit, message } = start(t, program, few);
  const [first, second] = [await next(), await next()];
  const [left, right] = [await next(), await next()];
  for (const socket of [first, second]) socket.resume().end();
  const received = Promise.all([receive(right), receive(left)]);
  const sent = await Promise.all([send(left, 4 << 20), send(right, 3 << 20)]);
  assert.deepStrictEqual(await received, sent);
  assert.deepStrictEqual(await message(), [whole(4 << 20), whole(3 << 20)]);
  assert.deepStrictEqual(await exit, { code: 0, signal: null });
});

test(
  'a pipe for which there is no descriptor at all fails, and the next one works',
  {
    skip: !onLinux,
  },
  async (t) => {
    const { port, next } = await listenWithNode(t);
    const program = `
    const fs = require('fs');
    const connect = () => new Promise((resolve) => {
      const connection = oxwire.connect(${port}, () => resolve(connection));
    });
    (async () => {
      const [first, second] = [await connect(), await connect()];
      const held = [];
      try { for (;;) held.push(fs.openSync('/dev/null')); } catch {}
      const piped = first.pipe(second).catch((error) => error.code);
      const closed = new Promise((resolve) => second.on('close', resolve));
      setImmediate(() => held.forEach((file) => fs.closeSync(file)));
      process.send(await piped);
      await closed;
      const [third, fourth] = [await connect(), await connect()];
      const { forward } = await third.pipe(fourth);
      process.send(forward);
      process.disconnect();
    })();`;
    const few = ['sh', '-c', 'ulimit -n 100; exec "$0" "$@"'];
    const { exit, message } = start(t, program, few);
    const [first, second] = [await next(), await next()];
    for (const socket of [first, second]) socket.on('end', () => socket.end()).resume();
    assert.strictEqual(await message(), 'EMFILE');
    const [left, right] = [await next(), await next()];
    const received = receive(right);
    assert.deepStrictEqual(await send(left, 1 << 20), await received);
    right.end();
    assert.deepStrictEqual(await message(), whole(1 << 20));
    assert.deepStrictEqual(await exit, { code: 0, signal: null });
  },
);
