'use strict';

const assert = require('assert');
const path = require('path');
const { AsyncLocalStorage } = require('async_hooks');
const { spawnSync } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const oxwire = require('../..');
const { LIVES } = require('../support/lives');
const { run } = require('../support/program');
const { closed, freePort, pair, turns } = require('../support/sockets');
const { Calls, leavesNothing } = require('../support/watch');

test('callbacks run in the async context of the call that passed them', async (t) => {
  const { client, peer } = await pair(t, { allowHalfOpen: true });
  const storage = new AsyncLocalStorage();
  const seen = {};
  const note = (name) => () => (seen[name] = storage.getStore());
  storage.run('read', () => client.read(Buffer.alloc(1), note('read')));
  storage.run('write', () => client.write('x', note('write')));
  storage.run('writev', () => client.writev([Buffer.alloc(9000)], note('writev')));
  storage.run('staged', () => client.write('y', note('staged')));
  storage.run('end', () => client.end(note('end')));
  peer.write('z');
  await turns();
  storage.run('failed read', () => client.read(Buffer.alloc(1), note('failed read')));
  storage.run('close', () => client.close(note('close')));
  await turns();
  for (const [name, store] of Object.entries(seen)) assert.strictEqual(store, name);
  assert.strictEqual(Object.keys(seen).length, 7);
});

test('events run in the context of connect and listen', async () => {
  const storage = new AsyncLocalStorage();
  const seen = [];
  const note = () => seen.push(storage.getStore());
  const server = oxwire.createServer();
  storage.run('server', () => server.listen(0, '127.0.0.1'));
  server.on('listening', note);
  server.on('connection', note);
  await once(server, 'listening');
  const client = storage.run('client', () => oxwire.connect(server.address().port));
  const over = closed(client);
  for (const event of ['connect', 'end', 'finish', 'close']) client.on(event, note);
  const [peer] = await once(server, 'connection');
  client.read(Buffer.alloc(1), () => {});
  peer.end();
  await over;
  const refused = storage.run('refused', () => oxwire.connect(port));
  refused.on('error', note);
  await closed(refused);
  assert.deepStrictEqual(seen, [
    'server',
    'server',
    'client',
    'client',
    'client',
    'client',
    'refused',
  ]);
  server.close();
  peer.destroy();
});

let port = 0;
test.before(async () => {
  port = await freePort();
});

test('a store that one callback enters is not seen by those of others', async (t) => {
  const storage = new AsyncLocalStorage();
  const a = await pair(t);
  const b = await pair(t);
  const seen = [];
  const waiting = (connection, name) =>
    new Promise((resolve) => {
      connection.read(Buffer.alloc(1), () => {
        seen.push([name, storage.getStore()]);
        storage.enterWith(name);
        connection.read(Buffer.alloc(1), () => {
          seen.push([`${name} again`, storage.getStore()]);
          resolve(undefined);
        });
      });
    });
  // Begun where no store is: within callbacks of sockets.
  const both = new Promise((resolve) => {
    a.client.write('x', () => {
      b.client.write('x', () => {
        resolve(Promise.all([waiting(a.client, 'a'), waiting(b.client, 'b')]));
      });
    });
  });
  await turns();
  for (let i = 0; i < 2; i++) {
    a.peer.write('1');
    b.peer.write('2');
    await turns();
  }
  await both;
  assert.deepStrictEqual(
    new Map(/** @type {any} */ (seen)),
    new Map([
      ['a', undefined],
      ['b', undefined],
      ['a again', 'a'],
      ['b again', 'b'],
    ]),
  );
});

test('the first store of a process is kept, wherever it is entered', () => {
  for (const where of ['outside', 'in a callback', 'in a timer', 'after await']) {
    const script = `
      const { AsyncLocalStorage } = require('async_hooks');
      const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
      const storage = new AsyncLocalStorage();
      const server = oxwire.createServer((peer) => {
        const buffer = Buffer.alloc(10);
        peer.read(buffer, function onread(error, _buffer, count) {
          if (count > 0) peer.write(buffer, count, () => peer.read(buffer, onread));
        });
      });
      server.listen(0, '127.0.0.1', async () => {
        const client = oxwire.connect(server.address().port);
        const go = () => storage.run('store', () => {
          client.write('x');
          client.read(Buffer.alloc(10), () => {
            const first = storage.getStore();
            client.write('y', () => {
              console.log(first, storage.getStore());
              client.close();
              server.close();
            });
          });
        });
        const where = ${JSON.stringify(where)};
        if (where === 'outside') go();
        else if (where === 'in a callback') client.write('a', go);
        else if (where === 'in a timer') setTimeout(go, 5);
        else { await null; await new Promise((resolve) => client.on('connect', resolve)); go(); }
      });`;
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { timeout: 10_000 });
    assert.strictEqual(String(stderr), '');
    assert.strictEqual(String(stdout).trim(), 'store store', where);
  }
});

test('a store that a callback enters is not seen by one that was begun before any', () => {
  const script = `
    const { AsyncLocalStorage } = require('async_hooks');
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    const storage = new AsyncLocalStorage();
    const seen = [];
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => {
        client.write('1', () => storage.enterWith('entered'));
        client.write('2', () => seen.push(storage.getStore()));
        client.end(() => seen.push(storage.getStore()));
        client.on('finish', () => seen.push(storage.getStore()));
        client.read(Buffer.alloc(1), () => {
          seen.push(storage.getStore());
          server.close();
        });
        server.connections[0].end();
      });
      server.on('close', () => console.log(seen.length, seen.every((store) => !store)));
    });`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { timeout: 10_000 });
  assert.strictEqual(String(stderr), '');
  assert.strictEqual(String(stdout).trim(), '4 true');
});

/**
 * The events of each life, which run in the context of connect or listen, and the store that was
 * there; a callback has its own name for a store. Before Node 24 what a listener enters is seen by
 * later listeners of its socket, as it is with those of Node: null is for any store.
 */
const EVENTS = {
  'a whole life': {
    connection: 'listening',
    'server close': 'listening',
    connect: 'listening',
    // These come after listeners that enter stores.
    finish: null,
    end: null,
    close: null,
  },
  'a close with all pending': { finish: undefined, close: undefined },
  'a reset with all pending': { finish: undefined, close: undefined },
  'a refused connection': { error: undefined, close: undefined },
  'an error that is an event': { error: undefined, close: undefined },
  'a server that fails': { error: 'error' },
  'a server that is cancelled': { close: 'close callback, not running' },
};

for (const life of Object.keys(LIVES)) {
  test(`in ${life}, every callback and event finds its own store, whatever others enter`, () =>
    leavesNothing(async (t) => {
      const storage = new AsyncLocalStorage();
      const seen = {};
      class StoredCalls extends Calls {
        /** Enters the store in which the callback is then passed on. */
        of(name, body) {
          storage.enterWith(name);
          return super.of(name, (...args) => {
            seen[name] = storage.getStore();
            body?.(...args);
          });
        }
      }
      const calls = new StoredCalls();
      const act = (/** @type {string} */ moment) => {
        if (!(moment in EVENTS[life])) storage.enterWith('a store of somebody else');
      };
      await LIVES[life](t, act, calls);
      await calls.once();
      for (const [name, store] of Object.entries(seen)) {
        const expected = name in EVENTS[life] ? EVENTS[life][name] : name;
        if (expected !== null) assert.strictEqual(store, expected, name);
      }
    }));
}

test('a throw in one context leaves the others as they are', () => {
  const script = `
    const { AsyncLocalStorage } = require('async_hooks');
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    const storage = new AsyncLocalStorage();
    const seen = [];
    process.on('uncaughtException', (error) => seen.push(error.message));
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', async () => {
      const client = oxwire.connect(server.address().port);
      await new Promise((resolve) => client.on('connect', resolve));
      client.write('1', () => seen.push(storage.getStore() ?? 'none'));
      storage.run('a', () => client.write('2', () => {
        seen.push(storage.getStore());
        storage.enterWith('entered');
        throw new Error('thrown');
      }));
      storage.run('b', () => client.write('3', () => {
        seen.push(storage.getStore());
        throw new Error('thrown too');
      }));
      client.write('4', () => {
        seen.push(storage.getStore() ?? 'none');
        console.log(seen.join());
        client.close();
        server.close();
      });
    });`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { timeout: 10_000 });
  assert.strictEqual(String(stderr), '');
  assert.strictEqual(String(stdout).trim(), 'none,a,thrown,b,thrown too,none');
});

test('a store is found where oxwire is loaded while one is current', () => {
  const script = `
    const { AsyncLocalStorage } = require('async_hooks');
    const storage = new AsyncLocalStorage();
    const first = new AsyncLocalStorage();
    first.run('first', () => storage.run('store', () => {
      const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
      const server = oxwire.createServer();
      server.listen(0, '127.0.0.1', () => {
        const client = oxwire.connect(server.address().port);
        client.on('connect', () => {
          client.write('x', () => {
            console.log(first.getStore(), storage.getStore());
            client.close(() => console.log(first.getStore(), storage.getStore()));
            server.close();
          });
        });
      });
    }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { timeout: 10_000 });
  assert.strictEqual(String(stderr), '');
  assert.strictEqual(String(stdout).trim(), 'first store\nfirst store');
});

test('what watches async resources hears of the end of each', async () => {
  const program = `
    const { createHook } = require('async_hooks');
    const alive = new Set();
    let made = 0;
    createHook({
      init(id, type) { if (type === 'OXWIRE') { made++; alive.add(id); } },
      destroy(id) { alive.delete(id); },
    }).enable();
    const server = oxwire.createServer((peer) => peer.pipe(peer, () => {}));
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      const buffer = Buffer.alloc(1);
      let count = 0;
      const step = () => {
        if (++count > 1000) { client.close(); server.close(); return; }
        setImmediate(() => client.write('x', () => client.read(buffer, step)));
      };
      client.on('connect', step);
      client.on('close', async () => {
        for (let i = 0; i < 50 && alive.size > 100; i++) {
          gc();
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        console.log(made > 1000, alive.size <= 100);
      });
    });`;
  const { stdout, stderr } = await run(program, { flags: ['--expose-gc'] });
  assert.strictEqual(stderr, '');
  assert.strictEqual(stdout.trim(), 'true true');
});

test('a hook that marks every resource hides no store', () => {
  const script = `
    const { AsyncLocalStorage, createHook } = require('async_hooks');
    createHook({ init(id, type, trigger, resource) { resource[Symbol('trace' + id)] = id; } }).enable();
    const storage = new AsyncLocalStorage();
    const oxwire = require(${JSON.stringify(path.join(__dirname, '../..'))});
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', () => storage.run('store', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => {
        client.write('x', () => console.log(storage.getStore()));
        client.close();
        server.close();
      });
    }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { timeout: 10_000 });
  assert.strictEqual(String(stderr), '');
  assert.strictEqual(String(stdout).trim(), 'store');
});

/** Programs with a connection `c` and what they find, as with node:net. */
const FINDS = {
  'nothing in exit': [
    `storage.run('s', () => storage.exit(() => c.write('1', () => found(storage.getStore()))));`,
    [undefined],
  ],
  'nothing in exit within a callback': [
    `storage.run('s', () => c.write('0', () => storage.exit(() => c.write('1', () => {
      found(storage.getStore());
      c.write('2', () => found(storage.getStore()));
    }))));`,
    [undefined, undefined],
  ],
  'nothing of what was disabled': [
    `storage.run('s', () => { storage.disable(); c.write('1', () => found(storage.getStore())); });
    storage.run('t', () => {});`,
    [undefined],
  ],
  'the first store, entered where an exception is heard of': [
    `process.once('uncaughtException', () => storage.run('s', () => {
      c.write('1', () => found(storage.getStore()));
    }));
    c.write('0', () => { throw new Error('heard of'); });`,
    ['s'],
  ],
  'its own store where an exception of another is heard of': [
    `process.once('uncaughtException', () => storage.run('s', () => {
      c.write('1', () => found(storage.getStore()));
    }));
    storage.run('t', () => c.write('0', () => { throw new Error('heard of'); }));`,
    ['s'],
  ],
  'stores of as many storages as there were, and keeps none': [
    `const chain = (operate, done) => {
      let left = 2000;
      (function step() {
        if (left-- === 0) { gc(); done(process.memoryUsage().heapUsed); return; }
        const other = new AsyncLocalStorage();
        other.run(new Array(5000).fill(left), operate, step);
        other.disable();
      })();
    };
    // From Node 24 on it keeps them itself, along a chain.
    let usual = 0;
    chain(setImmediate, (used) => (usual = used));
    const second = setInterval(() => {
      if (usual === 0) return;
      clearInterval(second);
      chain((step) => c.write('x', step), (used) => found(used < usual + 20e6));
    });`,
    [true],
  ],
};

for (const [what, [program, expected]] of Object.entries(FINDS)) {
  test(`an operation finds ${what}`, async () => {
    const script = `
      const { AsyncLocalStorage } = require('async_hooks');
      const storage = new AsyncLocalStorage();
      const seen = [];
      const found = (value) => seen.push(value);
      const server = oxwire.createServer((peer) => {
        const buffer = Buffer.alloc(100);
        peer.read(buffer, function onread(error, _buffer, count) {
          if (!error && count > 0) peer.read(buffer, onread);
        });
      });
      server.listen(0, '127.0.0.1', () => {
        const c = oxwire.connect(server.address().port);
        const timer = setInterval(() => {
          if (seen.length < ${/** @type {unknown[]} */ (expected).length}) return;
          clearInterval(timer);
          c.destroy();
          server.close();
          console.log(seen.map(String).join());
        }, 5);
        c.on('connect', () => setTimeout(() => { ${program} }, 5));
      });`;
    const { stdout, stderr } = await run(script, { flags: ['--expose-gc'] });
    assert.strictEqual(stderr, '');
    assert.strictEqual(stdout.trim(), /** @type {unknown[]} */ (expected).map(String).join());
  });
}

// From Node 24 on a resource keeps its stores under another name than a storage shows, where it does.
const RESOURCES = '--no-async-context-frame';
const skip = !process.allowedNodeEnvironmentFlags.has(RESOURCES);

test(
  'an event finds its store where Node is told to keep stores in resources',
  { skip },
  async () => {
    const program = `
    const { AsyncLocalStorage } = require('async_hooks');
    const storage = new AsyncLocalStorage();
    const server = oxwire.createServer((peer) => peer.end());
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      const client = storage.run('store', () => oxwire.connect(port, '127.0.0.1'));
      client.on('connect', () => {
        console.log(storage.getStore());
        client.end();
        server.close();
      });
    });`;
    const { stdout } = await run(program, { flags: [RESOURCES] });
    assert.strictEqual(stdout.trim(), 'store');
  },
);
