'use strict';

// A process that has no descriptors left.

const assert = require('assert');
const net = require('net');
const { test } = require('node:test');
const { run } = require('../support/program');
const { leavesNothing } = require('../support/watch');

/** How many a program may have is set by a shell. */
const skip = process.platform !== 'linux';

/** Uses all descriptors up; `release` gives them back. */
const EXHAUST = `
  const fs = require('fs');
  let held = [];
  const exhaust = () => {
    try { for (;;) held.push(fs.openSync('/dev/null')); } catch {}
  };
  const release = () => {
    for (const file of held) fs.closeSync(file);
    held = [];
  };
  const log = [];
  process.on('exit', () => console.log(log.join('\\n')));
`;

/** @param {string} program @param {string[]} expected */
async function withoutDescriptors(program, expected) {
  const result = await run(EXHAUST + program, { descriptors: 100 });
  assert.deepStrictEqual(
    { ...result, stdout: result.stdout.trim().split('\n') },
    { status: 0, signal: null, stderr: '', stdout: expected },
  );
}

test('listening without descriptors is an error, and goes later', { skip }, () =>
  withoutDescriptors(
    `
    oxwire.counters(); // Opens the reactor.
    exhaust();
    const server = oxwire.createServer();
    server.on('listening', () => { log.push('listening'); server.close(); });
    server.on('close', () => log.push('close'));
    server.listen(0, '127.0.0.1');
    server.on('error', (error) => {
      log.push(error.syscall + ' ' + error.code);
      release();
      server.listen(0, '127.0.0.1');
    });`,
    ['listen EMFILE', 'listening', 'close'],
  ),
);

test(
  'where there is no descriptor for the reactor, connect and listen throw, and go later',
  { skip },
  () =>
    withoutDescriptors(
      `
    const server = oxwire.createServer();
    const attempt = (body) => {
      try { body(); log.push('not thrown'); } catch (error) { log.push('thrown ' + error.code); }
    };
    exhaust();
    attempt(() => oxwire.connect(1));
    attempt(() => server.listen(0, assertNot));
    function assertNot() { log.push('listening, though it threw'); }
    release();
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => { log.push('connect'); client.close(); server.close(); });
    });`,
      ['thrown EMFILE', 'thrown EMFILE', 'connect'],
    ),
);

test('connecting without descriptors tells each callback once', { skip }, () =>
  withoutDescriptors(
    `
    oxwire.counters();
    exhaust();
    const client = oxwire.connect(1);
    client.on('close', () => log.push('close'));
    client.on('error', (error) => log.push('error ' + error.message));
    client.read(Buffer.alloc(1), (error) => log.push('read ' + error.code));
    client.write('x', (error) => log.push('write ' + error.code));
    client.end((error) => log.push('end ' + error.code));`,
    ['read EMFILE', 'write EMFILE', 'end EMFILE', 'error connect EMFILE 127.0.0.1:1', 'close'],
  ),
);

/**
 * A server in a process without descriptors, to which connections come from this one. It closes when
 * it has accepted three.
 */
const ACCEPT = (/** @type {string} */ ondrop) => `${EXHAUST}
  const server = oxwire.createServer((peer) => {
    peer.write('served');
    peer.end();
    if (++accepted === 3) server.close();
  });
  let accepted = 0;
  let drops = 0;
  server.on('error', (error) => log.push('error ' + error.code));
  server.on('close', () => log.push('close'));
  server.on('drop', ({ error }) => {
    if (++drops === 1) log.push('drop ' + error.code + ' ' + error.syscall);
    ${ondrop}
  });
  process.on('uncaughtException', (error) => log.push('uncaught ' + error.message));
  const { AsyncLocalStorage } = require('async_hooks');
  const storage = new AsyncLocalStorage();
  storage.run('listen', () => server.listen(0, '127.0.0.1', () => {
    fs.writeSync(1, server.address().port + '\\n');
    exhaust();
  }));`;

/**
 * What happens to a server without descriptors, as three connections wait. (It may get one of them,
 * when a thread of Node's closes a file.)
 *
 * @param {string} ondrop what it does when it drops one
 */
async function dropped(ondrop) {
  const sockets = [];
  const result = await run(ACCEPT(ondrop), {
    descriptors: 100,
    onstart(child) {
      child.stdout.once('data', (port) => {
        for (let i = 0; i < 3; i++) {
          const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {});
          socket.resume();
          sockets.push(new Promise((resolve) => socket.on('close', resolve)));
        }
      });
    },
  });
  await Promise.all(sockets);
  assert.deepStrictEqual([result.status, result.signal, result.stderr], [0, null, '']);
  return result.stdout.trim().split('\n').slice(1);
}

test('a server may be closed while it waits for descriptors', { skip }, () =>
  leavesNothing(async () => {
    const log = await dropped('server.close(() => log.push("closed"));');
    assert.deepStrictEqual(log, ['drop EMFILE accept', 'close', 'closed']);
  }),
);

test('a drop listener that throws loses no connection', { skip }, () =>
  leavesNothing(async () => {
    const log = await dropped(`setImmediate(release); throw new Error('in drop');`);
    // It closes when all were accepted.
    assert.deepStrictEqual(log, ['drop EMFILE accept', 'uncaught in drop', 'close']);
  }),
);

test('drop runs in the async context of listen', { skip }, () =>
  leavesNothing(async () => {
    const log = await dropped(`log.push(storage.getStore()); server.close();`);
    assert.deepStrictEqual(log, ['drop EMFILE accept', 'listen', 'close']);
  }),
);

/**
 * A process that may have so many threads more, or none, until it is let. The limit is one of a user, and not of the
 * one that may do all: then it is that of nobody.
 */
const noThreads = (free = -1000) => `
  const fs = require('fs');
  const { execFileSync, spawn } = require('child_process');
  if (process.getuid() === 0) process.setuid(65534);
  const { pid } = process;
  const more = spawn('sh', ['-c', 'read line; exec prlimit --pid ' + pid + ' --nproc=1000:']);
  const release = (next) => { more.stdin.end('go\\n'); more.on('exit', next); };
  const used = fs.readdirSync('/proc/self/task').length + 1; // The shell is one.
  execFileSync('prlimit', ['--pid', String(pid), '--nproc=' + Math.max(used + ${free}, 1) + ':']);
  const log = [];
  process.on('exit', () => console.log(log.join('\\n')));
`;

test(
  'where there is no thread for a pipe or the driver, that is an error, and goes later',
  { skip },
  async () => {
    const { stdout, stderr, status } = await run(`${noThreads()}
    const attempt = (next) => {
      const server = oxwire.createServer((peer) => {
        peer.on('error', () => {});
        peer.pipe(peer, (error) => {
          log.push(error ? error.syscall + ' ' + error.code : 'piped');
          server.close(next);
        });
      });
      try {
        server.listen(0, '127.0.0.1', () => oxwire.connect(server.address().port).end());
      } catch (error) {
        log.push(error.syscall + ' ' + error.code);
        setImmediate(next);
      }
    };
    attempt(() => attempt(() => release(() => attempt(() => {}))));`);
    assert.strictEqual(stderr, '');
    const failed = process.env.OXWIRE_DRIVER === 'tokio' ? 'open EAGAIN' : 'pipe EAGAIN';
    assert.deepStrictEqual([status, ...stdout.trim().split('\n')], [0, failed, failed, 'piped']);
  },
);

test(
  'where there are too few threads, what there is is used, or it is an error',
  { skip },
  async () => {
    for (const free of [1, 2, 3]) {
      const { stdout, stderr, status } = await run(`${noThreads(free)}
    const server = oxwire.createServer((peer) => peer.pipe(peer, (error) => {
      log.push(error ? error.code : 'piped');
      server.close();
      more.stdin.end();
    }));
    try {
      server.listen(0, '127.0.0.1', () => oxwire.connect(server.address().port).end());
    } catch (error) {
      log.push(error.code);
      more.stdin.end();
    }`);
      assert.strictEqual(stderr, '');
      assert.strictEqual(status, 0);
      assert.match(stdout, /^(piped|EAGAIN)\n$/);
    }
  },
);
