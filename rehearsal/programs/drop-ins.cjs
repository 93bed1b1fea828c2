'use strict';

const oxwire = require('oxwire');
const turbo = require('@oxwire/turbo-net');

// The same module as oxwire, with the names that turbo-net has.
for (const [name, value] of Object.entries(turbo)) {
  if (value !== oxwire[name]) throw new Error(`${name} is not oxwire's`);
}
const names = ['@oxwire/turbo-net', '@oxwire/engine.io-parser', '@oxwire/socket.io-parser'];
for (const name of names) {
  console.log(`${name}: ${Object.keys(require(name)).sort().join(' ') || 'nothing yet'}`);
}
