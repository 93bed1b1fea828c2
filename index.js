'use strict';

const net = require('./lib/net/index.js');

const { Connection, Server, connect, counters, createServer, pool, setBusyPoll } = net;

module.exports = { Connection, Server, connect, counters, createServer, pool, setBusyPoll };
