'use strict';

// Real traffic for runtimes that are not Node and don't have its test runner. It needs `assert`,
// says how each check went, and ends with 1 if one failed or hung.
//
//   bun __test__/runtimes/run.js
//   deno run --allow-all __test__/runtimes/run.js
//   node __test__/runtimes/run.js

const assert = require('assert');
const path = require('path');
const { AsyncLocalStorage } = require('async_hooks');
const { spawn } = require('child_process');
const { once } = require('events');
const { Worker } = require('worker_threads');
const oxwire = require('../..');
const {
  closed,
  freePort,
  listen,
  logEvents,
  pair,
  read,
  readAll,
  turns,
  write,
} = require('../support/sockets');

/** How long a check may take, in milliseconds. */
const LIMIT = 60_000;
const MB = 1 << 20;

const isDeno = 'deno' in process.versions;

/**
 * What a check needs of a test: functions that run when it is over.
 *
 * @typedef {{ after: (end: () => unknown) => void }} Test
 */

/** @type {Record<string, (t: any) => unknown>} */
const checks = {
  async 'a hundred connections echo, each its own bytes'(t) {
    const server = await listen(t);
    server.on('connection', echo);
    const clients = Array.from({ length: 100 }, async (_, number) => {
      const client = oxwire.connect(server.address().port);
      for (let round = 1; round <= 50; round++) {
        const message = Buffer.alloc(round * 37, number + round);
        client.write(message);
        assert.ok(message.equals(await readAll(client, message.length)));
      }
      client.close();
    });
    await Promise.all(clients);
  },

  async 'the echo of megabytes is the same'(t) {
    const { client, peer } = await pair(t);
    echo(peer);
    const bytes = Buffer.alloc(8 * MB);
    for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE(i, i);
    client.write(bytes);
    assert.ok(bytes.equals(await readAll(client, bytes.length)));
  },

  async 'many small writes and long vectors arrive in order'(t) {
    const { client, peer } = await pair(t);
    const parts = Array.from({ length: 3000 }, (_, i) => Buffer.from(`${i},`));
    for (const part of parts) client.write(part);
    client.writev(parts);
    client.end();
    const expected = Buffer.concat([...parts, ...parts]);
    assert.ok(expected.equals(await readAll(peer)));
  },

  async 'a half-open end goes through its steps in order'(t) {
    const { client, peer } = await pair(t, { allowHalfOpen: true });
    const log = logEvents(client);
    client.write('question', () => log.push('write'));
    client.end(() => log.push('ended'));
    assert.strictEqual(String(await readAll(peer)), 'question');
    peer.write('answer');
    peer.end();
    assert.strictEqual(String(await readAll(client)), 'answer');
    await closed(client);
    assert.deepStrictEqual(log, ['write', 'finish', 'ended', 'end', 'close']);
  },

  async 'a reset is an error of the read, and closes'(t) {
    const { client, peer } = await pair(t);
    const reading = read(client);
    const over = closed(client);
    peer.resetAndDestroy();
    await assert.rejects(reading, { code: 'ECONNRESET', syscall: 'read' });
    await over;
  },

  async 'a refused connection tells what was queued, then error, then close'() {
    const client = oxwire.connect(await freePort());
    const log = [];
    client.read(Buffer.alloc(1), (error) => log.push(`read ${codeOf(error)}`));
    client.write('x', (error) => log.push(`write ${codeOf(error)}`));
    client.on('error', (error) => log.push(`error ${codeOf(error)}`));
    await closed(client);
    const code = 'ECONNREFUSED';
    assert.deepStrictEqual(log, [`read ${code}`, `write ${code}`, `error ${code}`]);
  },

  async 'a used port is one error'(t) {
    const { port } = (await listen(t)).address();
    const second = oxwire.createServer();
    second.listen(port, '127.0.0.1');
    const [error] = await once(second, 'error');
    assert.strictEqual(error.code, 'EADDRINUSE');
  },

  async 'a name is looked up'(t) {
    const server = await listen(t);
    const client = oxwire.connect(server.address().port, 'localhost');
    await once(client, 'connect');
    client.close();
  },

  async 'timers run beside a write that writes again'(t) {
    const { client, peer } = await pair(t);
    const buffer = Buffer.alloc(MB);
    peer.read(buffer, function onread(error, _buffer, count) {
      if (!error && count > 0) peer.read(buffer, onread);
    });
    let goesOn = true;
    client.write('x', function again(error) {
      if (!error && goesOn) client.write('x', again);
    });
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 5));
    client.unref();
    await new Promise((resolve) => setTimeout(resolve, 5));
    goesOn = false;
  },

  async 'a connection that is idle says so'(t) {
    const { client } = await pair(t);
    client.setTimeout(20);
    await once(client, 'timeout');
  },

  async 'an abort and a dispose close'(t) {
    const server = await listen(t);
    const abortion = new AbortController();
    const { port } = server.address();
    const client = oxwire.connect({ port, signal: abortion.signal });
    const [[error]] = await Promise.all([once(client, 'error'), abortion.abort()]);
    assert.strictEqual(error.code, 'ABORT_ERR');
    await server[Symbol.asyncDispose]();
    assert.strictEqual(server.listening, false);
  },

  async 'two connections are piped, both ways, until both have ended'(t) {
    const [left, right] = [await pair(t), await pair(t, { allowHalfOpen: true })];
    const piping = left.peer.pipe(right.client);
    const bytes = Buffer.alloc(4 * MB, 'pipe');
    left.client.write(bytes);
    left.client.end();
    assert.ok(bytes.equals(await readAll(right.peer)));
    right.peer.write('back');
    right.peer.end();
    assert.strictEqual(String(await readAll(left.client)), 'back');
    const { forward, backward } = await piping;
    assert.deepStrictEqual(
      [forward.bytes, backward.bytes, forward.ended, backward.ended],
      [bytes.length, 4, true, true],
    );
  },

  async 'a pipe may be stopped, and closes both'(t) {
    const [left, right] = [await pair(t), await pair(t)];
    const abortion = new AbortController();
    const piping = left.peer.pipe(right.client, { signal: abortion.signal });
    await write(left.client, 'moves');
    assert.strictEqual(String(await readAll(right.peer, 5)), 'moves');
    abortion.abort();
    await assert.rejects(piping, { code: 'ABORT_ERR' });
    await Promise.all([closed(left.peer), closed(right.client)]);
  },

  async 'callbacks see the store of their call, or in Deno none'(t) {
    const { client, peer } = await pair(t);
    const storage = new AsyncLocalStorage();
    const reading = storage.run('read', () => storeOf(storage, client));
    await new Promise((resolve) => storage.run('write', () => peer.write('x', resolve)));
    assert.strictEqual(await reading, isDeno ? undefined : 'read');
  },

  async 'a worker has sockets of its own, and ends by itself'(t) {
    const server = await listen(t);
    server.on('connection', echo);
    const worker = startWorker('echo', server.address().port);
    const ended = once(worker, 'exit');
    const [text] = await once(worker, 'message');
    assert.strictEqual(text, 'from a worker');
    await ended;
  },

  async 'a worker that is terminated leaves no socket behind'(t) {
    const server = await listen(t);
    for (let i = 0; i < 5; i++) {
      const worker = startWorker('hold', server.address().port);
      const [[peer]] = await Promise.all([once(server, 'connection'), once(worker, 'message')]);
      const over = readAll(peer).catch((error) => assert.strictEqual(error.code, 'ECONNRESET'));
      await worker.terminate();
      await over;
    }
  },

  async 'a process with nothing pending ends by itself'() {
    const programs = ['nothing', 'idle', 'unrefed-server', 'unrefed-read', 'unrefed-writes'];
    for (const name of programs) {
      assert.deepStrictEqual(await run(name), { code: 0, output: 'up' }, name);
    }
  },

  async 'a pending read keeps a process alive, until it is told'(t) {
    const server = await listen(t);
    const ended = run('pending-read', server.address().port);
    const [peer] = await once(server, 'connection');
    await turns();
    peer.write('told');
    assert.deepStrictEqual(await ended, { code: 0, output: 'told' });
  },

  async 'what was written before process.exit arrives'(t) {
    const server = await listen(t);
    const ended = run('exit', server.address().port);
    const [peer] = await once(server, 'connection');
    assert.strictEqual(String(await readAll(peer)), 'goodbye');
    assert.strictEqual((await ended).code, 7);
  },

  async 'an exception of a callback is one uncaughtException, and others go on'() {
    const { code, output } = await run('caught');
    assert.deepStrictEqual([code, output], [0, 'caught, and went on']);
  },

  async 'an exception that nobody catches ends the process'() {
    const { code, output } = await run('uncaught');
    assert.notStrictEqual(code, 0);
    assert.match(output, /thrown on purpose/);
  },
};

/** @param {import('../..').Connection} connection */
function echo(connection) {
  const buffer = Buffer.alloc(65536);
  connection.read(buffer, function onread(error, _buffer, count) {
    if (error || count === 0) connection.close();
    else connection.write(buffer, count, () => connection.read(buffer, onread));
  });
}

/** @param {any} error */
function codeOf(error) {
  return error?.code;
}

/**
 * The store that the callback of a read sees.
 *
 * @param {AsyncLocalStorage<string>} storage
 * @param {import('../..').Connection} connection
 */
function storeOf(storage, connection) {
  return new Promise((resolve) => {
    connection.read(Buffer.alloc(1), () => resolve(storage.getStore()));
  });
}

/**
 * @param {string} name
 * @param {number} port
 */
function startWorker(name, port) {
  return new Worker(path.join(__dirname, 'worker.js'), { workerData: { name, port } });
}

/**
 * Runs a program of programs.js in this runtime.
 *
 * @param {string} name
 * @param {number} [port]
 * @returns {Promise<{ code: number | string, output: string }>}
 */
async function run(name, port = 0) {
  const flags = isDeno ? ['run', '--allow-all'] : [];
  const program = path.join(__dirname, 'programs.js');
  const child = spawn(process.execPath, [...flags, program, name, String(port)]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output += chunk));
  }
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, output: output.trim() };
}

/**
 * @param {string} name
 * @param {(t: Test) => unknown} check
 * @returns {Promise<boolean>} whether it holds
 */
async function holds(name, check) {
  const ends = /** @type {Array<() => unknown>} */ ([]);
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${LIMIT} ms`)), LIMIT);
  });
  try {
    await Promise.race([check({ after: (end) => ends.push(end) }), late]);
    console.log(`ok      ${name}`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${name}\n`, error);
    return false;
  } finally {
    clearTimeout(timer);
    for (const end of ends.toReversed()) await end();
  }
}

async function main() {
  const { bun, deno, node } = process.versions;
  console.log(bun ? `Bun ${bun}` : deno ? `Deno ${deno}` : `Node ${node}`, process.platform);
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) if (!(await holds(name, check))) failed++;
  console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
  // What was left open by one that failed must not hold the process.
  if (failed > 0) process.exit(1);
}

main();
