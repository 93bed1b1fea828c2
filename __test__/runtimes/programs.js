'use strict';

// What a process that run.js starts does.

const oxwire = require('../..');

const [name, port] = process.argv.slice(2);
const up = () => console.log('up');

/** @type {Record<string, () => void>} */
const programs = {
  nothing() {
    up();
  },

  idle() {
    const server = oxwire.createServer(() => server.close());
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => client.write('x', up));
    });
  },

  'unrefed-server'() {
    const server = oxwire.createServer().unref();
    server.listen(0, '127.0.0.1', up);
  },

  'unrefed-read'() {
    const server = oxwire.createServer();
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => {
        client.read(Buffer.alloc(1), () => {});
        client.unref();
        server.close();
        up();
      });
    });
  },

  // Each callback writes again, and a timer runs all the same.
  'unrefed-writes'() {
    const server = oxwire.createServer((peer) => {
      const buffer = Buffer.alloc(100);
      peer.read(buffer, function onread() {
        peer.read(buffer, onread);
      });
      peer.unref();
      server.close();
    });
    server.listen(0, '127.0.0.1', () => {
      const client = oxwire.connect(server.address().port);
      client.on('connect', () => {
        client.unref();
        client.write('x', function again(error) {
          if (!error) client.write('x', again);
        });
        setTimeout(up, 20);
      });
    });
  },

  'pending-read'() {
    const client = oxwire.connect(Number(port));
    client.read(Buffer.alloc(10), (_error, buffer, count) => {
      console.log(String(buffer.subarray(0, count)));
      client.close();
    });
  },

  exit() {
    const client = oxwire.connect(Number(port));
    client.on('connect', () => {
      client.write('good'); // At once,
      client.write('bye'); // and staged.
      process.exit(7);
    });
  },

  caught() {
    /** @type {string[]} */
    const said = [];
    process.on('uncaughtException', (error) => said.push(error.message));
    const server = oxwire.createServer((peer) => peer.write('x'));
    server.listen(0, '127.0.0.1', () => {
      const clients = [1, 2, 3].map(() => oxwire.connect(server.address().port));
      let left = clients.length;
      for (const client of clients) {
        client.read(Buffer.alloc(1), () => {
          if (--left === 1) throw new Error('caught');
          if (left > 0) return;
          for (const each of clients) each.close();
          server.close(() => console.log([...said, 'and went on'].join(', ')));
        });
      }
    });
  },

  uncaught() {
    const server = oxwire.createServer(() => {
      throw new Error('thrown on purpose');
    });
    server.listen(0, '127.0.0.1', () => oxwire.connect(server.address().port));
  },
};

programs[name]();
