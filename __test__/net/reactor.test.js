'use strict';

// Turns: when callbacks run, and how often the machine is bothered. Counts, never times.

const assert = require('assert');
const path = require('path');
const { spawnSync } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { inLoop } = require('../support/driver');
const { run } = require('../support/program');
const { listen, pair, pairWithNode, read, readAll, turn, turns } = require('../support/sockets');

/** @param {() => unknown} body */
async function count(body) {
  const before = oxwire.counters();
  await body();
  const after = oxwire.counters();
  const difference = { ...after };
  for (const name of Object.keys(after)) difference[name] -= before[name];
  return difference;
}

/** Sends what it reads back, for ever. @param {import('../..').Connection} connection */
function echo(connection) {
  connection.read(Buffer.alloc(65536), function onread(error, buffer, length) {
    if (error || length === 0) return;
    connection.write(buffer, length, (failed) => {
      if (!failed) connection.read(buffer, onread);
    });
  });
}

test('no callback runs within the call that began it', async (t) => {
  const { client, peer } = await pair(t);
  peer.write('data');
  await turns();
  let within = true;
  const check = () => assert.strictEqual(within, false);
  client.read(Buffer.alloc(4), check);
  client.write('x', check);
  client.writev([Buffer.alloc(9000)], check);
  client.end(check);
  client.close(check);
  client.close(check);
  client.write('x', check);
  client.read(Buffer.alloc(4), check);
  // Nor from a microtask or nextTick.
  await Promise.resolve();
  process.nextTick(() => (within = false));
  await turns(3);
});

test('a write whose callback writes again leaves timers and others alive', async (t) => {
  const { client, peer } = await pair(t);
  const other = await pair(t);
  const sink = Buffer.alloc(65536);
  peer.read(sink, function more(error) {
    if (!error) peer.read(sink, more);
  });
  let rounds = 0;
  let stop = false;
  client.write('x', function again() {
    rounds++;
    if (!stop) client.write('x', again);
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  other.client.write('hello');
  assert.strictEqual((await read(other.peer)).toString(), 'hello');
  // One round a turn.
  const before = rounds;
  for (let i = 0; i < 50; i++) await turn();
  stop = true;
  assert.ok(rounds > before, 'it goes on');
  assert.ok(rounds - before <= 51, `${rounds - before} rounds in 50 turns`);
});

test('nextTicks and microtasks run after the dispatch, not between its callbacks', async (t) => {
  const { client, peer } = await pair(t);
  const log = [];
  const all = new Promise((resolve) => {
    for (const name of ['a', 'b', 'c']) {
      client.write(name, () => {
        log.push(name);
        process.nextTick(() => log.push('tick'));
        queueMicrotask(() => {
          log.push('microtask');
          if (log.length === 9) resolve(undefined);
        });
      });
    }
  });
  await all;
  assert.deepStrictEqual(log.slice(0, 3), ['a', 'b', 'c']);
  await readAll(peer, 3);
});

test('nor do they run between the callbacks of sockets that are ready together', async (t) => {
  const pairs = [await pair(t), await pair(t), await pair(t)];
  const log = [];
  const all = new Promise((resolve) => {
    for (const { client } of pairs) {
      client.read(Buffer.alloc(1), () => {
        log.push('read');
        process.nextTick(() => log.push('tick'));
        queueMicrotask(() => {
          log.push('microtask');
          if (log.length === 9) resolve(undefined);
        });
      });
    }
  });
  await turns();
  for (const { peer } of pairs) peer.write('x');
  // A thread that waits for sockets sees them one by one; meanwhile it tells nobody.
  for (const end = performance.now() + 50; performance.now() < end;);
  await all;
  assert.deepStrictEqual(log.slice(0, 3), ['read', 'read', 'read']);
});

test('a callback that throws is one uncaughtException, and the others of the turn run', () => {
  const script = `
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    let caught = [];
    let inspected = 0;
    process.on('uncaughtException', (error) => caught.push(error.message));
    const server = oxwire.createServer((peer) => {
      if (server.connections.length === 2) throw new Error('connection');
    });
    server.listen(0, '127.0.0.1', () => {
      const clients = Array.from({ length: 5 }, () => oxwire.connect(server.address().port));
      let connected = 0;
      for (const client of clients) client.on('connect', () => ++connected === 5 && setTimeout(go, 20));
      function go() {
        let reads = 0;
        clients.forEach((client, i) => {
          client.read(Buffer.alloc(4), (error, buffer, count) => {
            reads++;
            if (i === 1) throw new Error('read');
            if (i === 3) client.read(buffer, () => {});
          });
          client.write('x', () => { if (i === 2) throw new Error('write'); });
        });
        server.connections.forEach((peer) => peer.write('y'));
        clients[4].on('close', () => { throw new Error('close'); });
        setTimeout(() => {
          clients[1].read(Buffer.alloc(4), (error, buffer, count) => {
            inspected = count;
            for (const client of clients) client.close();
            server.close();
            setTimeout(() => console.log(JSON.stringify({ reads, caught, inspected })), 20);
          });
          server.connections.forEach((peer) => peer.write('yy'));
        }, 20);
      }
    });`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', script], {
    timeout: 10_000,
  });
  assert.strictEqual(String(stderr), '');
  assert.strictEqual(status, 0);
  const { reads, caught, inspected } = JSON.parse(String(stdout));
  assert.strictEqual(reads, 5);
  assert.deepStrictEqual(caught.sort(), ['close', 'connection', 'read', 'write']);
  assert.strictEqual(inspected, 2, 'the socket whose callback threw goes on');
});

test('without a listener for uncaughtException a throw ends the process', () => {
  const script = `
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    const server = oxwire.createServer(() => { throw new Error('stop here'); });
    server.listen(0, '127.0.0.1', () => oxwire.connect(server.address().port));`;
  const { stderr, status } = spawnSync(process.execPath, ['-e', script], { timeout: 10_000 });
  assert.match(String(stderr), /Error: stop here\r?\n {4}at Server/);
  assert.strictEqual(status, 1);
});

test('a ping-pong is one recv and one send at each end, and no epoll_ctl', async (t) => {
  const server = await listen(t);
  server.on('connection', echo);
  const client = oxwire.connect(server.address().port);
  await once(client, 'connect');
  const message = Buffer.alloc(64, 'm');
  const buffer = Buffer.alloc(65536);
  const pingPongs = (/** @type {number} */ left) =>
    new Promise((resolve) => {
      client.write(message);
      client.read(buffer, function onread(error, _buffer, length) {
        assert.strictEqual(error, null);
        assert.strictEqual(length, 64);
        if (--left === 0) return resolve(undefined);
        client.write(message);
        client.read(buffer, onread);
      });
    });
  await pingPongs(1);
  const { recv, send, epollCtl, bytesCopied, accept } = await count(() => pingPongs(1000));
  assert.deepStrictEqual(
    { recv, send, epollCtl, bytesCopied, accept },
    { recv: 2000, send: 2000, epollCtl: 0, bytesCopied: 0, accept: 0 },
  );
  client.close();
});

test('no epoll_ctl between accept and close, whatever happens', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const { epollCtl } = await count(async () => {
    peer.write(Buffer.alloc(8 << 20)); // Waits for room, more than once.
    await readAll(client, 8 << 20);
    client.write('x');
    await turns();
    await read(peer);
    client.end();
    peer.end();
    await Promise.all([readAll(peer), readAll(client)]);
  });
  assert.strictEqual(epollCtl, 0);
});

test('64 pipelined replies leave in at most two sends', async (t) => {
  const { connection, socket } = await pairWithNode(t);
  let pending = 0;
  const reply = Buffer.alloc(64, 'r');
  connection.read(Buffer.alloc(65536), function onread(error, buffer, length) {
    if (error || length === 0) return;
    for (pending += length; pending >= 64; pending -= 64) connection.write(reply);
    connection.read(buffer, onread);
  });
  let received = 0;
  socket.on('data', (chunk) => (received += chunk.length));
  for (const most of [2, 1, 1]) {
    received = 0;
    const { send, recv } = await count(async () => {
      socket.write(Buffer.alloc(64 * 64));
      while (received < 64 * 64) await turn();
    });
    assert.strictEqual(recv, 1);
    assert.ok(send <= most, `${send} sends`);
  }
});

test('sockets that become ready together enter JavaScript once', async (t) => {
  const N = 500;
  const server = await listen(t);
  const clients = Array.from({ length: N }, () => oxwire.connect(server.address().port));
  await Promise.all(clients.map((client) => once(client, 'connect')));
  while (server.connections.length < N) await turn();
  await turns();
  let reads = 0;
  for (const peer of server.connections) peer.read(Buffer.alloc(64), () => reads++);
  await turns();
  for (const client of clients) client.write('x');
  const { wakeups, entries, epollWait, recv } = await count(async () => {
    while (reads < N) await turn();
  });
  assert.strictEqual(recv, N);
  // The thread that watches may see the first of them before the last.
  const most = inLoop ? 1 : N / 20;
  assert.ok(wakeups <= most, `${wakeups} wake-ups`);
  if (inLoop) assert.strictEqual(epollWait, 1);
  // The wake-up, and a round for the writes of the clients.
  assert.ok(entries <= most + 1, `${entries} entries`);
  for (const client of clients) client.destroy();
});

test('one connection with much to read does not starve the others', async (t) => {
  const busy = await pair(t);
  const quiet = await pair(t);
  busy.peer.write(Buffer.alloc(4 << 20));
  await turns();
  quiet.peer.write('x');
  await turns(2);
  let busyReads = 0;
  let quietRead = false;
  const one = Buffer.alloc(1);
  busy.client.read(one, function more() {
    if (++busyReads < 1000) busy.client.read(one, more);
  });
  quiet.client.read(Buffer.alloc(1), () => (quietRead = true));
  while (!quietRead) await turn();
  assert.ok(busyReads <= (inLoop ? 2 : 500), `${busyReads} reads of the busy one came first`);
  while (busyReads < 20) await turn();
});

test('a million echoes leave nothing on the heap but what their callbacks do', () => {
  // From Node 24 on AsyncLocalStorage can't be seen to be unused: each operation keeps its context.
  const [major] = process.versions.node.split('.').map(Number);
  const kept = major < 24 ? 4 : 500;
  // Where immediates have the rounds, each is one more object.
  const most = kept + (inLoop ? 0 : 20);
  const script = path.join(__dirname, '../support/allocation.js');
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--expose-gc', script, '1000000'],
    { timeout: 120_000 },
  );
  assert.strictEqual(status, 0, String(stderr));
  const { bytesPerEcho } = JSON.parse(String(stdout));
  console.log(`# ${bytesPerEcho.toFixed(2)} bytes of heap per echo, both ends in one process`);
  assert.ok(bytesPerEcho < most, `${bytesPerEcho} bytes`);
});

test(
  'to ask again instead of sleeping is for so many microseconds',
  { skip: !inLoop },
  async (t) => {
    for (const wrong of ['20', null, undefined, {}]) {
      assert.throws(() => oxwire.setBusyPoll(/** @type {any} */ (wrong)), {
        code: 'ERR_INVALID_ARG_TYPE',
      });
    }
    for (const wrong of [-1, 1001, NaN, Infinity]) {
      assert.throws(() => oxwire.setBusyPoll(wrong), { code: 'ERR_OUT_OF_RANGE' });
    }
    const { client, peer } = await pair(t);
    /** How often the kernel was asked, for a number of messages with a pause before each. */
    const asked = async (/** @type {number} */ messages) => {
      const before = oxwire.counters().epollWait;
      for (let i = 0; i < messages; i++) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        client.write('x');
        await read(peer, 1);
      }
      return oxwire.counters().epollWait - before;
    };
    try {
      oxwire.setBusyPoll(0);
      assert.ok((await asked(100)) <= 400, 'never');
      oxwire.setBusyPoll(30);
      assert.ok((await asked(100)) <= 1000, 'seldom, where it finds nothing');
    } finally {
      oxwire.setBusyPoll(30);
    }
  },
);

test('while it asks again timers and immediates run, and the process can end', async () => {
  const { status, stdout } = await run(`
    oxwire.setBusyPoll(1000);
    const server = oxwire.createServer((peer) => {
      const buffer = Buffer.alloc(10);
      peer.read(buffer, function onread(error, _buffer, count) {
        if (error || count === 0) return;
        peer.write(buffer, count, () => peer.read(buffer, onread));
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      const buffer = Buffer.alloc(10);
      let count = 0;
      let immediates = 0;
      const ping = () => client.write('x', () => client.read(buffer, (error) => {
        count++;
        if (!error) ping();
      }));
      ping();
      setImmediate(function again() { immediates++; setImmediate(again).unref(); }).unref();
      setTimeout(() => {
        console.log(count > 100, immediates > 10);
        client.destroy();
        server.close();
      }, 200);
    });`);
  assert.deepStrictEqual([status, stdout], [0, 'true true\n']);
});
