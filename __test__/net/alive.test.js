'use strict';

// What a process waits for, and what not.

const assert = require('assert');
const { test } = require('node:test');
const { run } = require('../support/program');
const { isUnansweringKnown, unansweringPort } = require('../support/unanswering');
const { leavesNothing } = require('../support/watch');

/**
 * What is under way, and whether a process waits for it. `connected` runs with a connection whose
 * peer says nothing and reads nothing, and whose server does not keep the process alive.
 */
const ENDS = {
  waits: {
    'a server that listens': `oxwire.createServer().listen(0, '127.0.0.1');`,
    'a server that is asked to listen again in its close': `
      const server = oxwire.createServer();
      server.listen(0, '127.0.0.1', () => server.close(() => server.listen(0, '127.0.0.1')));`,
    'an attempt to connect': `oxwire.connect(nobody);`,
    'an attempt to connect, refed again': `oxwire.connect(nobody).unref().ref();`,
    'an attempt that is closed and waits for its write': `
      const client = oxwire.connect(nobody);
      client.write('x');
      client.close();`,
    'a read': `connected((client) => client.read(Buffer.alloc(1), () => {}));`,
    'a second read': `connected((client, peer) => {
      client.read(Buffer.alloc(1), () => {});
      client.read(Buffer.alloc(1), () => {});
      peer.write('x');
    });`,
    'a read, after our end': `connected((client) => {
      client.end();
      client.on('finish', () => client.read(Buffer.alloc(1), () => {}));
    });`,
    'a write without room': `connected((client) => client.write(Buffer.alloc(32 << 20)));`,
    'a writev without room': `connected((client) => {
      client.writev(new Array(2000).fill(Buffer.alloc(16384)));
    });`,
    'an end behind a write without room': `connected((client) => {
      client.write(Buffer.alloc(32 << 20));
      client.end();
    });`,
    'a read that is refed': `connected((client) => {
      client.read(Buffer.alloc(1), () => {});
      client.unref();
      client.ref();
    });`,
  },
  'does not wait': {
    'the addon, loaded': ``,
    'counters, asked for': `oxwire.counters();`,
    'a server that never listens': `oxwire.createServer(() => {});`,
    'a Connection that nobody connects': `new oxwire.Connection();`,
    'a server that is closed': `
      const server = oxwire.createServer();
      server.listen(0, '127.0.0.1', () => server.close());`,
    'a server that is unrefed': `oxwire.createServer().unref().listen(0, '127.0.0.1');`,
    'an attempt that is unrefed': `oxwire.connect(nobody).unref();`,
    'an attempt that is destroyed': `oxwire.connect(nobody).destroy();`,
    'an attempt that is closed': `oxwire.connect(nobody).close();`,
    'a lookup that is destroyed': `oxwire.connect(1, 'localhost').destroy();`,
    'a connection without an operation': `connected(() => {});`,
    'a connection whose operations are done': `connected((client, peer) => {
      client.write('x', () => {});
      client.read(Buffer.alloc(1), () => {});
      peer.write('y');
    });`,
    'a connection after our end': `connected((client) => client.end(() => {}));`,
    'a read that is closed': `connected((client) => {
      client.read(Buffer.alloc(1), () => {});
      client.close();
    });`,
    'a write without room that is destroyed': `connected((client) => {
      client.write(Buffer.alloc(32 << 20));
      client.end();
      client.read(Buffer.alloc(1), () => {});
      client.destroy();
    });`,
    'a read that is unrefed': `connected((client) => {
      client.unref();
      client.read(Buffer.alloc(1), () => {});
    });`,
    'operations that were refused': `connected((client) => {
      client.read(Buffer.alloc(0), () => {});
      client.end();
      client.write('late', () => {});
    });`,
    'a connection whose peer is gone': `connected((client, peer) => {
      client.read(Buffer.alloc(1), () => {});
      client.write(Buffer.alloc(32 << 20), () => {});
      peer.destroy();
    });`,
  },
};

for (const [verb, programs] of Object.entries(ENDS)) {
  for (const [name, program] of Object.entries(programs)) {
    const needsNobody = program.includes('nobody)');
    test(`a process ${verb} for ${name}`, { skip: needsNobody && !isUnansweringKnown }, () =>
      leavesNothing(async (t) => {
        // The timer keeps nothing alive: it runs only where something else does. Without it, a
        // process that waits is killed.
        const script = `
          const nobody = ${needsNobody ? await unansweringPort(t) : 0};
          const check = () => ${verb === 'waits'} && setTimeout(() => process.exit(5), 100).unref();
          function connected(body) {
            const server = oxwire.createServer({ allowHalfOpen: true }, (peer) => {
              server.unref();
              peer.unref();
              const go = () => { body(client, peer); check(); };
              if (client.readable) go();
              else client.on('connect', go);
            });
            let client;
            server.listen(0, '127.0.0.1', () => {
              client = oxwire.connect(server.address().port, { allowHalfOpen: true });
            });
          }
          ${program}
          ${program.startsWith('connected') ? '' : 'check();'}`;
        const { status, signal, stderr } = await run(script);
        assert.deepStrictEqual(
          { status, signal, stderr },
          { status: verb === 'waits' ? 5 : 0, signal: null, stderr: '' },
        );
      }),
    );
  }
}

test('ref and unref near the limit of the stack either do it or change nothing', async () => {
  const result = await run(`
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', () => {
      for (const method of ['unref', 'ref', 'unref']) {
        // From deep within every frame tries; those next to the limit throw.
        const down = (depth) => { try { down(depth + 1); } catch {} try { server[method](); } catch {} };
        down(0);
      }
      server.unref();
      console.log('over');
    });`);
  assert.deepStrictEqual(result, { status: 0, signal: null, stderr: '', stdout: 'over\n' });
});

test('what is due keeps the process alive as soon as its handle does', async () => {
  const result = await run(`
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port, () => {
        const other = oxwire.connect(server.address().port);
        other.unref();
        other.destroy();
        other.read(oxwire.pool, () => console.log('read'));
        other.ref();
        client.unref();
        client.write('x', () => console.log('written'));
        client.close(() => console.log('closed'));
        client.ref();
        server.unref();
        server.close(() => console.log('server closed'));
        server.ref();
      });
    });`);
  assert.strictEqual(result.stderr, '');
  assert.deepStrictEqual(result.stdout.trim().split('\n').sort(), [
    'closed',
    'read',
    'server closed',
    'written',
  ]);
});

test('what is tried at every depth of the stack, and the first time, is done once and ends', async () => {
  const METHODS = {
    close: 'client.close(once)',
    destroy: 'client.destroy(); once()',
    resetAndDestroy: 'client.resetAndDestroy(); once()',
    end: 'client.end(once)',
    connect: "made = oxwire.connect(server.address().port, '127.0.0.1', once)",
    listen: 'other.listen(0, once)',
    serverClose: 'server.close(once)',
  };
  for (const [name, call] of Object.entries(METHODS)) {
    const result = await run(`
      const peers = [];
      let made;
      const other = oxwire.createServer();
      other.on('listening', () => other.close());
      const server = oxwire.createServer((peer) => peers.push(peer));
      server.listen(0, '127.0.0.1', () => {
        const client = oxwire.connect(server.address().port, '127.0.0.1', () => setImmediate(() => {
          let calls = 0;
          const once = () => { calls++; };
          let done = false;
          (function dive() {
            try { dive(); } catch {}
            if (done) return;
            try { ${call}; done = true; } catch (error) {
              if (!(error instanceof RangeError)) throw error;
            }
          })();
          setTimeout(() => {
            console.log(done, calls);
            client.destroy();
            made?.destroy();
            for (const peer of server.connections.slice()) peer.destroy();
            server.close();
          }, 50);
        }));
        client.on('error', () => {});
      });`);
    assert.deepStrictEqual(
      result,
      { status: 0, signal: null, stderr: '', stdout: 'true 1\n' },
      name,
    );
  }
});
