'use strict';

// What turbo-net exports, and no more. An object literal, so that ES modules import by name.

const { Connection, Server, connect, createServer } = require('oxwire');

module.exports = { Connection, Server, connect, createServer };
