import oxwire = require('oxwire');
import turbo = require('@oxwire/turbo-net');
import engineParser = require('@oxwire/engine.io-parser');
import socketParser = require('@oxwire/socket.io-parser');

const server: oxwire.Server = turbo.createServer((socket) => {
  socket.write('text', 'latin1', (error: oxwire.SocketError | null) => error?.code);
});
server.listen(0);

// @ts-expect-error -- A port is a number or digits.
turbo.connect({});
// @ts-expect-error -- turbo-net has no counters.
turbo.counters();

export const counted: number = oxwire.counters().recv;
export const nothing: [never, never] = [
  null! as keyof typeof engineParser,
  null! as keyof typeof socketParser,
];
