'use strict';

const errors = require('../errors.js');
const net = require('../net/index.js');
const Connection = require('./connection.js');
const Server = require('./server.js');

/**
 * Connects.
 *
 * @param {...any} given as for connect with callbacks
 * @returns {Promise<Connection>} fulfilled when it is connected
 */
function connect(...given) {
  return new Promise((resolve, reject) => {
    const connection = net.connect(...given);
    const settle = () => {
      connection.removeListener('connect', onconnect);
      connection.removeListener('error', onerror);
      connection.removeListener('close', onclose);
    };
    const onconnect = () => {
      settle();
      resolve(new Connection(connection));
    };
    const onerror = (/** @type {Error} */ error) => {
      settle();
      reject(error);
    };
    const onclose = () => onerror(errors.closedBeforeConnection());
    connection.on('connect', onconnect);
    connection.on('error', onerror);
    connection.on('close', onclose);
  });
}

/** @param {any} [given] as for createServer with callbacks */
function createServer(given) {
  return new Server(given);
}

module.exports = { Connection, Server, connect, createServer, pool: net.pool };
