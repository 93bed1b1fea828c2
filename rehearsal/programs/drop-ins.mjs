import * as turbo from '@oxwire/turbo-net';
import * as engineParser from '@oxwire/engine.io-parser';
import * as socketParser from '@oxwire/socket.io-parser';
import { connect } from 'oxwire';

if (turbo.connect !== connect || turbo.default.connect !== connect) throw new Error('two modules');

show('@oxwire/turbo-net', turbo);
show('@oxwire/engine.io-parser', engineParser);
show('@oxwire/socket.io-parser', socketParser);

/** @param {string} name @param {object} module */
function show(name, module) {
  // What Node adds to the names of a CommonJS module.
  const names = Object.keys(module).filter((key) => key !== 'default' && key !== 'module.exports');
  console.log(`${name}: ${names.sort().join(' ') || 'nothing yet'}`);
}
