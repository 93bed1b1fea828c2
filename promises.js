'use strict';

module.exports = require('./lib/promises/index.js');
