// What a bundler takes for browsers; Node does with --conditions=browser. None of it may need Node.

import { createRequire } from 'node:module';
import * as engineParser from '@oxwire/engine.io-parser';
import * as socketParser from '@oxwire/socket.io-parser';
import { connect, createServer, Connection, Server } from '@oxwire/turbo-net';

for (const use of [connect, createServer, () => new Connection(), () => new Server()]) {
  try {
    use();
    throw new Error('a browser has no sockets');
  } catch (error) {
    if (error.code !== 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM') throw error;
  }
}

const require = createRequire(import.meta.url);
if (require('@oxwire/turbo-net').connect !== connect) throw new Error('two modules');
for (const name of ['engine.io-parser', 'socket.io-parser']) require(`@oxwire/${name}`);

const loaded = Object.keys(require.cache).map((file) => file.replace(/^.*[/\\]@oxwire[/\\]/, ''));
console.log(loaded.map((file) => file.replaceAll('\\', '/')).join(' '));
console.log(Object.keys({ ...engineParser, ...socketParser }).length);
