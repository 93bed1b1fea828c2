// What a bundler takes for browsers; Node does with --conditions=browser. None of it may need Node.

import Module, { createRequire, isBuiltin, register } from 'node:module';

refuseBuiltins();

const { connect, createServer, Connection, Server } = await import('@oxwire/turbo-net');
const engineParser = await import('@oxwire/engine.io-parser');
const socketParser = await import('@oxwire/socket.io-parser');

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

/** From now on modules of Node can't be imported. */
function refuseBuiltins() {
  const load = Module._load;
  Module._load = (request, ...others) => {
    if (isBuiltin(request)) throw new Error(`${request} is not there in browsers`);
    return load(request, ...others);
  };
  const hook = `export async function resolve(specifier, context, next) {
    const found = await next(specifier, context);
    if (found.url.startsWith('node:')) throw new Error(specifier + ' is not there in browsers');
    return found;
  }`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
