'use strict';

const { createServer } = require('../../../promises.js');
const { readTask, ready } = require('./command-line');

const BUFFER_SIZE = 64 * 1024;

/**
 * Reads, writes what was read, and reads again once that is written.
 *
 * @param {import('../../../promises.js').Connection} connection
 */
async function echo(connection) {
  const buffer = Buffer.allocUnsafeSlow(BUFFER_SIZE);
  for (;;) {
    const count = await connection.read(buffer);
    if (count === 0) break;
    await connection.write(buffer, count);
  }
  connection.destroy();
}

/** A client that goes away in the middle of a transfer is no failure of the server. */
function ignore() {}

async function serve() {
  const { port } = readTask(['echo']);
  const server = createServer();
  await server.listen(port, '127.0.0.1');
  ready();
  for await (const connection of server) echo(connection).catch(ignore);
}

serve();
