'use strict';

const { Connection, Server, connect, counters, createServer, pool } = require('./lib/net/index.js');

module.exports = { Connection, Server, connect, counters, createServer, pool };
