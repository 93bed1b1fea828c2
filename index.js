'use strict';

const { Connection, Server, connect, counters, createServer } = require('./lib/net/index.js');

module.exports = { Connection, Server, connect, counters, createServer };
