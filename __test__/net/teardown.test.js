'use strict';

// Processes and workers that end in the midst of everything, many times over.

const assert = require('assert');
const fs = require('fs');
const { test } = require('node:test');
const { Worker } = require('worker_threads');
const { ROOT, repeat, run } = require('../support/program');
const { pair, readAll, turn } = require('../support/sockets');
const { isUnansweringKnown, unansweringPort } = require('../support/unanswering');
const { leavesNothing, until } = require('../support/watch');

const onLinux = process.platform === 'linux';
/** Windows ends a process instead. */
const hasSignals = process.platform !== 'win32';

/**
 * Sockets in every state, and traffic between them, for ever: `ontraffic` is called with the number
 * of each message that came back. Something is under way with `port`, where nobody answers.
 *
 * @param {number} port
 */
const TRAFFIC = (port) => `
  const echo = (peer) => {
    peer.read(Buffer.alloc(1000), function onread(error, buffer, count) {
      if (error || count === 0) return peer.close();
      peer.write(buffer, count, (error) => { if (!error) peer.read(buffer, onread); });
    });
  };
  let messages = 0;
  const server = oxwire.createServer(echo);
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    // Reading and writing.
    for (let i = 0; i < 5; i++) {
      const client = oxwire.connect(port);
      for (let j = 0; j < 3; j++) client.write(Buffer.alloc(100, i));
      client.read(Buffer.alloc(1000), function onread(error, buffer, count) {
        if (error || count === 0) return;
        client.write(buffer, count);
        client.writev([Buffer.from('a'), Buffer.from('b')], () => {});
        client.read(buffer, onread);
        ontraffic(++messages);
      });
    }
    // A read that gets nothing, writes that wait, an end behind them.
    const sink = oxwire.createServer(() => {});
    sink.listen(0, '127.0.0.1', () => {
      const { port } = sink.address();
      oxwire.connect(port).read(Buffer.alloc(10), () => {});
      const client = oxwire.connect(port);
      client.write(Buffer.alloc(16 << 20), () => {});
      client.writev(new Array(3000).fill(Buffer.alloc(10)), () => {});
      client.end(() => {});
      client.read(Buffer.alloc(10), () => {});
      // Half-closed, closed, and a name that is looked up.
      oxwire.connect(port).end();
      oxwire.connect(port).on('connect', function () { this.close(); });
      oxwire.connect(port, 'localhost').on('error', () => {}).write('x', () => {});
    });
    oxwire.createServer().listen(0, 'localhost');
  });
  if (${port} > 0) {
    for (let i = 0; i < 3; i++) {
      const client = oxwire.connect(${port});
      client.on('error', () => {});
      client.write('x', () => {});
      client.read(Buffer.alloc(1), () => {});
      if (i === 1) client.end(() => {});
      if (i === 2) client.close(() => {});
    }
  }`;

/** How many descriptors of any kind this process has; 0 where that is not known. */
function openDescriptors() {
  return onLinux ? fs.readdirSync('/proc/self/fd').length : 0;
}

/** @param {import('../support/sockets').Scope} t */
async function portOfNobody(t) {
  return isUnansweringKnown ? unansweringPort(t) : 0;
}

/**
 * Starts a worker, and ends it when it has something under way of every kind.
 *
 * @param {string} traffic
 * @param {string} ontraffic what it does at each message
 * @param {(worker: Worker) => Promise<unknown>} end
 */
async function liveOfWorker(traffic, ontraffic, end) {
  const worker = new Worker(
    `const oxwire = require(${ROOT});
     const { parentPort } = require('worker_threads');
     const ontraffic = (count) => { ${ontraffic} };
     ${traffic}`,
    { eval: true },
  );
  const errors = [];
  worker.on('error', (error) => errors.push(error.message));
  const over = new Promise((resolve) => worker.on('exit', resolve));
  await new Promise((resolve) => worker.on('message', resolve));
  await end(worker);
  return { code: await over, errors };
}

test('a worker is terminated in the midst of everything, 50 times over', () =>
  leavesNothing(async (t) => {
    // A connection of this thread, which is to live on.
    const { client, peer } = await pair(t);
    const traffic = TRAFFIC(await portOfNobody(t));
    const ontraffic = 'if (count === 20) parentPort.postMessage("up");';
    const before = openDescriptors();
    await repeat(50, 2, async (i) => {
      const ended = await liveOfWorker(traffic, ontraffic, async (worker) => {
        for (let turns = 0; turns < i % 10; turns++) await turn();
        await worker.terminate();
      });
      assert.deepStrictEqual(ended, { code: 1, errors: [] });
      client.write('x');
    });
    await until(() => openDescriptors() === before);
    assert.strictEqual(openDescriptors(), before);
    assert.strictEqual((await readAll(peer, 50)).toString(), 'x'.repeat(50));
  }));

test('a worker is terminated in the midst of a callback', () =>
  leavesNothing(async (t) => {
    const traffic = TRAFFIC(await portOfNobody(t));
    const before = openDescriptors();
    await repeat(10, 2, async () => {
      const ontraffic = 'if (count === 20) { parentPort.postMessage("up"); for (;;); }';
      const end = (/** @type {Worker} */ worker) => worker.terminate();
      const ended = await liveOfWorker(traffic, ontraffic, end);
      assert.deepStrictEqual(ended, { code: 1, errors: [] });
    });
    await until(() => openDescriptors() === before);
    assert.strictEqual(openDescriptors(), before);
  }));

test('a worker ends by itself in the midst of everything, with the code it gives', () =>
  leavesNothing(async (t) => {
    const traffic = TRAFFIC(await portOfNobody(t));
    const before = openDescriptors();
    await repeat(10, 2, async (i) => {
      const ontraffic = `if (count === ${i + 1}) { parentPort.postMessage("up"); process.exit(7); }`;
      const ended = await liveOfWorker(traffic, ontraffic, async () => {});
      assert.deepStrictEqual(ended, { code: 7, errors: [] });
    });
    await until(() => openDescriptors() === before);
    assert.strictEqual(openDescriptors(), before);
  }));

test('a worker that throws in the midst of everything ends with its error', () =>
  leavesNothing(async (t) => {
    const traffic = TRAFFIC(await portOfNobody(t));
    const before = openDescriptors();
    await repeat(10, 2, async (i) => {
      const ontraffic = `if (count === ${i + 1}) {
        parentPort.postMessage("up");
        throw new Error('enough');
      }`;
      const ended = await liveOfWorker(traffic, ontraffic, async () => {});
      assert.deepStrictEqual(ended, { code: 1, errors: ['enough'] });
    });
    await until(() => openDescriptors() === before);
    assert.strictEqual(openDescriptors(), before);
  }));

/** Where a process exits. @type {Record<string, string>} */
const EXITS = {
  'in a callback': `const ontraffic = (count) => { if (count === last) process.exit(code); };`,
  'in a microtask': `const ontraffic = (count) => {
    if (count === last) Promise.resolve().then(() => process.exit(code));
  };`,
  'in the next tick': `const ontraffic = (count) => {
    if (count === last) process.nextTick(() => process.exit(code));
  };`,
  'in a timer': `const ontraffic = (count) => {
    if (count === last) setTimeout(() => process.exit(code), 1);
  };`,
  'with the last writes in the event': `
    const ontraffic = (count) => { if (count === last) process.exit(code); };
    process.on('exit', () => {
      for (const peer of server.connections) {
        peer.write('x', () => {});
        peer.write('y', () => {});
        peer.read(Buffer.alloc(1), () => {});
        peer.end(() => {});
        peer.close(() => {});
      }
      server.close(() => {});
      const { port } = net.createServer().listen(0).address();
      oxwire.connect(port).on('error', () => {});
    });
    const net = require('net');`,
  'by an uncaught exception that sets the code': `
    const ontraffic = (count) => { if (count === last) throw new Error('the end'); };
    process.on('uncaughtException', () => process.exit(code));`,
  'with a worker at work': `
    const { Worker, isMainThread, parentPort } = require('worker_threads');
    const ontraffic = (count) => {
      if (count !== last) return;
      if (isMainThread) process.exit(code);
      parentPort.postMessage('up');
    };
    if (isMainThread) {
      const script = process.execArgv[process.execArgv.indexOf('-e') + 1];
      new Worker(script, { eval: true });
    }`,
  'by a signal that is heard': `
    process.on('SIGTERM', () => process.exit(code));
    const ontraffic = (count) => { if (count === last) process.kill(process.pid, 'SIGTERM'); };`,
};

test('a process exits in the midst of everything, 200 times over, with the code it gives', () =>
  leavesNothing(async (t) => {
    const traffic = TRAFFIC(await portOfNobody(t));
    const exits = Object.entries(EXITS).filter(([where]) => hasSignals || !/signal/.test(where));
    await repeat(200, 2, async (i) => {
      const [where, exit] = exits[i % exits.length];
      const code = 2 + (i % 120);
      const { status, signal, stdout, stderr } = await run(
        `const code = ${code};
         const last = ${1 + (i % 40)};
         ${exit}
         ${traffic}`,
      );
      assert.deepStrictEqual(
        { where, status, signal, stdout, stderr },
        { where, status: code, signal: null, stdout: '', stderr: '' },
      );
    });
  }));

test('no other program inherits a socket', { skip: !onLinux }, () =>
  leavesNothing(async () => {
    const { stdout, status } = await run(`
      const { spawnSync } = require('child_process');
      /** How many sockets and reactors a child has. Its stdout may be a socket. */
      function inherited() {
        const script = 'for n in /proc/self/fd/*; do readlink $n; done';
        const { stdout } = spawnSync('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
        return String(stdout).match(/^(socket:|.*eventpoll)/gm)?.length ?? 0;
      }
      const before = inherited();
      const server = oxwire.createServer();
      server.listen(0, '127.0.0.1', () => oxwire.connect(server.address().port));
      server.on('connection', () => setImmediate(() => {
        console.log(inherited() - before);
        process.exit();
      }));`);
    assert.deepStrictEqual([status, stdout], [0, '0\n']);
  }),
);
