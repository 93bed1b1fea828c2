'use strict';

// The life of a process or worker with sockets in it.

const assert = require('assert');
const net = require('net');
const path = require('path');
const { spawn, spawnSync } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const { Worker } = require('worker_threads');

const ROOT = JSON.stringify(path.join(__dirname, '../..'));

/** Starts, in a thread of its own, a server that swallows everything, and tells its port. */
const START_SINK = `
  const { Worker } = require('worker_threads');
  const peer = new Worker(\`
    const server = require('net').createServer((socket) => socket.resume());
    server.listen(0, '127.0.0.1', () => {
      require('worker_threads').parentPort.postMessage(server.address().port);
    });\`, { eval: true });`;

/**
 * Runs a program that is to end by itself.
 *
 * @param {string} program in which `oxwire` is there
 */
function run(program) {
  const script = `const oxwire = require(${ROOT});\n${program}`;
  const result = spawnSync(process.execPath, ['-e', script], { timeout: 20_000 });
  return {
    status: result.status,
    signal: result.signal,
    stdout: String(result.stdout),
    stderr: String(result.stderr),
  };
}

/** A server of node:net that gathers all that its first connection sends. */
async function startReceiver() {
  const server = net.createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const received = once(server, 'connection').then(async ([socket]) => {
    server.close();
    let text = '';
    for await (const chunk of socket) text += chunk;
    return text;
  });
  return { port: /** @type {net.AddressInfo} */ (server.address()).port, received };
}

/** @param {string} program in which `oxwire` and `parentPort` are there */
function startWorker(program) {
  const script = `const oxwire = require(${ROOT});
    const { parentPort } = require('worker_threads');\n${program}`;
  return new Worker(script, { eval: true });
}

test('idle, it does not keep the process alive', () => {
  const programs = {
    'nothing used': '',
    'a server that was closed': `
      const server = oxwire.createServer();
      server.listen(0, () => server.close());`,
    'connections without a pending operation': `
      const server = oxwire.createServer((peer) => server.close());
      server.listen(0, () => {
        const client = oxwire.connect(server.address().port);
        client.on('connect', () => client.write('x'));
      });`,
    'a server that was unrefed': `
      const server = oxwire.createServer().unref();
      server.listen(0, () => console.log('up'));`,
    'an unrefed connection that writes for ever': `
      ${START_SINK}
      peer.on('message', (port) => {
        peer.unref();
        const client = oxwire.connect(port);
        client.on('connect', () => {
          client.unref();
          client.write('x', function again(error) { if (!error) client.write('x', again); });
        });
      });`,
    'unrefed reads': `
      const server = oxwire.createServer((peer) => {
        peer.read(Buffer.alloc(1), () => {});
        peer.unref();
      });
      server.listen(0, () => {
        const client = oxwire.connect(server.address().port).unref();
        client.read(Buffer.alloc(1), () => {});
        setTimeout(() => server.unref(), 50);
      });`,
  };
  for (const [name, program] of Object.entries(programs)) {
    const { status, signal, stderr } = run(program);
    assert.deepStrictEqual(
      { status, signal, stderr },
      { status: 0, signal: null, stderr: '' },
      name,
    );
  }
});

test('a callback that is due keeps the process alive until it has run', () => {
  const { status, stdout, stderr } = run(`
    ${START_SINK}
    peer.on('message', (port) => {
      peer.unref();
      const client = oxwire.connect(port);
      client.on('connect', () => setTimeout(() => {
        client.unref();
        client.write('at once', () => console.log('refed again'));
        client.write('and staged', () => console.log('and again'));
        client.ref();
        client.write('staged', () => {
          console.log('staged');
          client.close(() => console.log('closed'));
          client.on('close', () => console.log('close'));
        });
      }, 20));
    });`);
  const expected = 'refed again\nand again\nstaged\nclosed\nclose\n';
  assert.deepStrictEqual([status, stderr, stdout], [0, '', expected]);
});

test('a listening server, a pending read and a blocked write keep the process alive', async () => {
  const programs = {
    'a listening server': `
      oxwire.createServer().listen(0, () => console.log('up'));`,
    'a pending read': `
      const server = oxwire.createServer((peer) => {
        peer.unref();
        server.close(() => console.log('up'));
      });
      server.listen(0, () => {
        const client = oxwire.connect(server.address().port);
        client.read(Buffer.alloc(1), () => {});
      });`,
    'a blocked write': `
      const server = oxwire.createServer((peer) => server.close(() => console.log('up')));
      server.listen(0, () => {
        oxwire.connect(server.address().port).write(Buffer.alloc(32 << 20), () => {});
      });`,
    'a server that was refed again': `
      const server = oxwire.createServer().unref();
      server.listen(0, () => { server.ref(); console.log('up'); });`,
  };
  await Promise.all(
    Object.entries(programs).map(async ([name, program]) => {
      const script = `const oxwire = require(${ROOT});\n${program}`;
      const child = spawn(process.execPath, ['-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      const ended = await Promise.race([
        once(child, 'exit').then(() => true),
        new Promise((resolve) => setTimeout(resolve, 300, false)),
      ]);
      assert.strictEqual(ended, false, name);
      child.kill();
    }),
  );
});

test('the process ends with what was written last, and the code it was given', async () => {
  for (const program of [
    `client.write('bye'); process.exit(7);`,
    `client.write('b'); client.write('y'); client.write('e'); process.exit(7);`,
    `process.on('exit', () => { client.write('b'); client.write('ye'); }); process.exit(7);`,
    `client.write('b'); client.write('ye'); process.exitCode = 7;`,
    `client.write('b', () => { client.write('y'); client.write('e'); process.exit(7); });`,
  ]) {
    const { port, received } = await startReceiver();
    const script = `const oxwire = require(${ROOT});
      const client = oxwire.connect(${port});
      client.on('connect', () => { ${program} });`;
    const child = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    assert.strictEqual(code, 7, program);
    assert.strictEqual(await received, 'bye', program);
  }
});

test('the process may exit in the midst of traffic', () => {
  const traffic = `
    const echo = (c) => c.read(Buffer.alloc(1000), function onread(e, b, n) {
      if (!e && n) c.write(b, n, (e) => { if (!e) c.read(b, onread); });
    });
    const server = oxwire.createServer(echo);
    let messages = 0;
    server.listen(0, '127.0.0.1', () => {
      for (let i = 0; i < 10; i++) {
        const client = oxwire.connect(server.address().port);
        client.write(Buffer.alloc(1000, i));
        client.read(Buffer.alloc(1000), function onread(e, b, n) {
          if (++messages === 500) process.exit(42);
          client.write(b, n);
          client.read(b, onread);
        });
      }
    });`;
  for (let i = 0; i < 5; i++) {
    const { status, signal, stderr } = run(traffic);
    assert.deepStrictEqual({ status, signal, stderr }, { status: 42, signal: null, stderr: '' });
  }
});

test('every worker has sockets of its own', async () => {
  const workers = Array.from({ length: 4 }, () =>
    startWorker(`
      const server = oxwire.createServer((peer) => {
        peer.read(Buffer.alloc(100), (error, buffer, count) => peer.write(buffer, count));
      });
      server.listen(0, '127.0.0.1', () => {
        const client = oxwire.connect(server.address().port);
        client.write('hello from ' + server.address().port);
        client.read(Buffer.alloc(100), (error, buffer, count) => {
          parentPort.postMessage([server.address().port, buffer.toString('latin1', 0, count)]);
          client.close();
          server.close();
        });
      });`),
  );
  await Promise.all(
    workers.map(async (worker) => {
      const [[[port, text]]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      assert.strictEqual(text, `hello from ${port}`);
    }),
  );
});

test('a worker may be terminated with any socket in it, again and again', async () => {
  const program = `
    const server = oxwire.createServer((peer) => {
      peer.read(Buffer.alloc(100), function onread(error, buffer, count) {
        if (!error && count) peer.write(buffer, count, () => peer.read(buffer, onread));
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      const busy = oxwire.connect(port);
      busy.write('x');
      busy.read(Buffer.alloc(100), function onread(error, buffer, count) {
        busy.write(buffer, count);
        busy.read(buffer, onread);
      });
      oxwire.connect(port).write(Buffer.alloc(32 << 20), () => {});
      oxwire.connect(port).read(Buffer.alloc(10), () => {});
      oxwire.connect(port, 'localhost').end();
      busy.on('connect', () => {
        for (let i = 0; i < 10; i++) oxwire.connect(port);
        parentPort.postMessage('up');
      });
    });`;
  for (let i = 0; i < 20; i++) {
    const worker = startWorker(program);
    await once(worker, 'message');
    if (i % 2 === 1) await new Promise((resolve) => setImmediate(resolve));
    assert.strictEqual(await worker.terminate(), 1);
  }
});

test('a worker that is terminated as it writes sends nothing twice', async () => {
  // Numbered records, several a turn; what arrives is a prefix of what was written.
  for (let run = 0; run < 40; run++) {
    const { port, received } = await startReceiver();
    const worker = startWorker(`
      const client = oxwire.connect(${port});
      let number = 0;
      const one = (callback) => client.write(String(number++).padStart(16, '0'), callback);
      client.on('connect', () => {
        parentPort.postMessage('up');
        (function step(error) {
          if (error) return;
          for (let i = 0; i < 5; i++) one();
          one(step);
        })(null);
      });`);
    await once(worker, 'message');
    for (let i = 0; i < run; i++) await new Promise((resolve) => setImmediate(resolve));
    await worker.terminate();
    const records = (await received).match(/.{16}/g) ?? [];
    records.forEach((record, number) => assert.strictEqual(Number(record), number));
  }
});

test('what a terminated worker had staged is sent', async () => {
  const { port, received } = await startReceiver();
  const worker = startWorker(`
    const client = oxwire.connect(${port});
    client.on('connect', () => {
      client.write('direct, ');
      client.write('staged');
      parentPort.postMessage('written');
      for (;;);
    });`);
  await once(worker, 'message');
  await worker.terminate();
  assert.strictEqual(await received, 'direct, staged');
});

test('two copies of the library in one process do not disturb each other', async () => {
  const { status, stdout, stderr } = run(`
    const files = Object.keys(require.cache);
    for (const file of files) if (!file.endsWith('.node')) delete require.cache[file];
    const second = require(${ROOT});
    if (second === oxwire) throw new Error('the same');
    const server = oxwire.createServer((peer) => peer.read(Buffer.alloc(9), (e, b, n) => peer.write(b, n)));
    server.listen(0, '127.0.0.1', () => {
      const client = second.connect(server.address().port);
      client.write('across');
      client.read(Buffer.alloc(9), (e, b, n) => {
        console.log(b.toString('latin1', 0, n));
        client.close();
        server.close();
      });
    });`);
  assert.deepStrictEqual([status, stdout, stderr], [0, 'across\n', '']);
});
