'use strict';

// In place of index.js in a bundle for browsers: it has the same names, so that a program which
// never opens a socket there can be bundled, and says why when one is opened.

class Connection {
  constructor() {
    throw unavailable();
  }
}

class Server {
  constructor() {
    throw unavailable();
  }
}

function connect() {
  throw unavailable();
}

function createServer() {
  throw unavailable();
}

function unavailable() {
  const error = new Error('@oxwire/turbo-net needs TCP sockets, which browsers do not have.');
  return Object.assign(error, { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' });
}

module.exports = { Connection, Server, connect, createServer };
