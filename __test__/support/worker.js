'use strict';

// A worker of a cluster. It listens when the primary says so, says where or why not, and tells
// whoever connects which process it is.

const oxwire = require('../..');

process.on('message', (/** @type {any} */ options) => {
  const server = oxwire.createServer((connection) => {
    connection.write(String(process.pid));
    connection.end();
    connection.read(Buffer.alloc(1), () => connection.close());
  });
  server.on('error', (error) => process.send?.({ code: /** @type {any} */ (error).code }));
  server.listen(options, () => process.send?.(server.address()));
});

process.send?.('ready');
