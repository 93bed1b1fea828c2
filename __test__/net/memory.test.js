'use strict';

// What is over is let go of: buffers, callbacks and connections.

const assert = require('assert');
const { test } = require('node:test');
const { run } = require('../support/program');

test('buffers, callbacks and connections are let go of when all is over', async () => {
  const { stdout, stderr, status } = await run(
    `
    const net = require('net');
    const { once } = require('events');
    const turns = async (count) => {
      for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    const kept = {};
    /** Notes that something is to be gone. */
    function watch(name, object) {
      (kept[name] ??= []).push(new WeakRef(object));
      return object;
    }

    function callAll(name, connection) {
      watch(name + ': connection', connection);
      const callback = () => watch(name + ': callback', () => connection.closed);
      const buffer = (size) => watch(name + ': buffer', new Uint8Array(size));
      connection.on('error', callback());
      connection.on('close', callback());
      connection.read(buffer(10), callback());
      connection.read(buffer(0), callback());
      connection.write(buffer(10), callback());
      connection.write(buffer(10), callback()); // Staged.
      connection.writev([buffer(10), buffer(9000)], callback());
      connection.write(buffer(8 << 20), callback()); // Waits.
      connection.write(buffer(10), callback());
      connection.end(callback());
      connection.write(buffer(10), callback());
      connection.read(buffer(10), callback());
    }

    async function closing(name, end) {
      const server = watch(name + ': server', oxwire.createServer());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const client = oxwire.connect(server.address().port);
      await once(client, 'connect');
      const [peer] = server.connections;
      callAll(name, client);
      await turns(3);
      const over = new Promise((resolve) => client.on('close', resolve));
      end(client, peer);
      peer.close();
      server.close();
      await over;
    }

    async function failing(name, connect) {
      const client = connect();
      callAll(name, client);
      const over = new Promise((resolve) => client.on('close', resolve));
      await over;
    }

    (async () => {
      await closing('close', (client) => client.close());
      await closing('destroy', (client) => client.destroy(new Error('reason')));
      await closing('end', (client, peer) => {
        peer.read(new Uint8Array(9 << 20), () => {});
        peer.end();
      });
      await closing('reset', (client, peer) => peer.close()); // With bytes that it has not read.
      await failing('refused', () => oxwire.connect(1));
      await failing('not found', () => oxwire.connect(1, 'x'.repeat(300)));
      await failing('given up', () => oxwire.connect(1, 'localhost').destroy());
      for (let i = 0; i < 20; i++) {
        await turns(5);
        gc();
      }
      const left = Object.entries(kept)
        .map(([name, all]) => [name, all.filter((reference) => reference.deref()).length, all.length])
        .filter(([, count]) => count > 0);
      console.log('left: %s of %d kinds', JSON.stringify(left), Object.keys(kept).length);
    })();`,
    { flags: ['--expose-gc'] },
  );
  assert.deepStrictEqual([stderr, status], ['', 0]);
  // Of seven ends, each with three kinds of things, and four servers.
  assert.strictEqual(stdout.trim(), 'left: [] of 25 kinds');
});
