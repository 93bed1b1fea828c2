'use strict';

// What turbo-net exports, and no more.

const { Connection, Server, connect, createServer } = require('oxwire');

module.exports = { Connection, Server, connect, createServer };
