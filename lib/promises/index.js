'use strict';

const errors = require('../errors.js');
const net = require('../net/index.js');
const Connection = require('./connection.js');
const Server = require('./server.js');
const { opened } = require('./opened.js');

/**
 * Connects.
 *
 * @param {...any} given as for connect with callbacks
 * @returns {Promise<Connection>} fulfilled when it is connected
 */
async function connect(...given) {
  const connection = net.connect(...given);
  await opened(connection, 'connect', errors.closedBeforeConnection);
  return new Connection(connection);
}

/** @param {any} [given] as for createServer with callbacks */
function createServer(given) {
  return new Server(given);
}

module.exports = { Connection, Server, connect, createServer, pool: net.pool };
