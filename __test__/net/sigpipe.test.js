'use strict';

// Node ignores SIGPIPE, until a program has listened for it and does so no more: from then on it ends
// the process. Writing to a peer that is gone is an error all the same.

const assert = require('assert');
const { test } = require('node:test');
const { run } = require('../support/program');

const skip = process.platform !== 'linux';

/**
 * In the programs: SIGPIPE at its default, and connections whose peers are gone. A peer ends its side
 * first, since then the reset that comes after it is met as a broken pipe.
 */
const PRELUDE = `
  const fs = require('fs');
  const net = require('net');
  const { once } = require('events');
  const turns = async () => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };

  function setToDefault() {
    const nothing = () => {};
    process.on('SIGPIPE', nothing);
    process.off('SIGPIPE', nothing);
    const status = fs.readFileSync('/proc/self/status', 'latin1');
    for (const mask of ['SigIgn', 'SigCgt', 'SigBlk']) {
      const bits = BigInt('0x' + new RegExp(mask + ':\\\\s*(\\\\w+)').exec(status)[1]);
      if (bits & (1n << 12n)) throw new Error('SIGPIPE is in ' + mask);
    }
  }

  const server = oxwire.createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');

  /** A connection that is prepared before its peer goes. */
  async function connectionOfGone(prepare = () => {}) {
    const socket = net.connect(server.address().port).on('error', () => {});
    const [connection] = await once(server, 'connection');
    await prepare(connection);
    await turns();
    await new Promise((resolve) => socket.end(resolve));
    socket.destroy();
    await once(socket, 'close');
    // The answer to this is a reset. It is too large to be counted among the small ones.
    connection.write(Buffer.alloc(5000), () => {});
    await turns();
    return connection;
  }

  /** After a turn with several small writes the next ones are staged from the first on. */
  const stageNext = (connection) => {
    for (let i = 0; i < 3; i++) connection.write('x');
  };

  /** Makes two writes, and says so where they are not staged. */
  function writeStaged(connection, callbacks = []) {
    const before = oxwire.counters();
    for (const i of [0, 1]) connection.write('x', callbacks[i]);
    const { send, bytesCopied } = oxwire.counters();
    if (send !== before.send || bytesCopied !== before.bytesCopied + 2) {
      fs.writeSync(1, 'not staged\\n');
    }
  }
`;

test('writing to a gone peer is an error, with SIGPIPE at its default', { skip }, async () => {
  const program = `${PRELUDE}
    const told = (name) => (error) => fs.writeSync(1, name + ' ' + error?.code + '\\n');
    const ways = {
      write: (connection, callback) => connection.write('x', callback),
      'write much': (connection, callback) => connection.write(Buffer.alloc(9000), callback),
      writev: (connection, callback) =>
        connection.writev([Buffer.alloc(9000), Buffer.alloc(9000)], callback),
    };
    (async () => {
      await once(server, 'listening');
      setToDefault();
      for (const [name, way] of Object.entries(ways)) {
        way(await connectionOfGone(), told(name));
        await turns();
      }
      writeStaged(await connectionOfGone(stageNext), [told('staged'), told('staged too')]);
      await turns();
      await connectionOfGone((connection) => {
        connection.write(Buffer.alloc(32 << 20), told('waiting'));
        connection.write('x', told('waiting too'));
        connection.end(told('end'));
      });
      // Last, the signal does end the process.
      process.kill(process.pid, 'SIGPIPE');
    })();`;
  const { stdout, stderr, signal } = await run(program);
  assert.deepStrictEqual([stderr, signal], ['', 'SIGPIPE']);
  const expected = ['write', 'write much', 'writev', 'staged', 'staged too', 'waiting'];
  assert.deepStrictEqual(
    stdout.trim().split('\n'),
    [...expected, 'waiting too', 'end'].map((name) => `${name} EPIPE`),
  );
});

test('what is staged for a gone peer leaves the exit as it is', { skip }, async () => {
  for (const exit of ['process.exit(7)', 'process.exitCode = 7; server.close()']) {
    const program = `${PRELUDE}
      (async () => {
        await once(server, 'listening');
        setToDefault();
        writeStaged(await connectionOfGone(stageNext));
        ${exit};
      })();`;
    assert.deepStrictEqual(await run(program), { status: 7, signal: null, stdout: '', stderr: '' });
  }
});

test('what a terminated worker has staged for a gone peer ends nothing', { skip }, async () => {
  const program = `${PRELUDE}
    const { Worker, isMainThread, parentPort } = require('worker_threads');
    if (isMainThread) {
      server.close();
      setToDefault();
      const code = process.execArgv[process.execArgv.indexOf('-e') + 1];
      const worker = new Worker(code, { eval: true });
      worker.once('message', async () => {
        await worker.terminate();
        process.exit(7);
      });
    } else {
      server.on('listening', async () => {
        writeStaged(await connectionOfGone(stageNext));
        parentPort.postMessage('staged');
        for (;;);
      });
    }`;
  assert.deepStrictEqual(await run(program), { status: 7, signal: null, stdout: '', stderr: '' });
});
