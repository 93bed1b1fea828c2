// Compiled by `npm run check`, never run: what the types allow, and what they must refuse.

import { Buffer } from 'node:buffer';
import * as dns from 'node:dns';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

import * as oxwire from '../..';
import { Connection, Server, connect, counters, createServer } from '../..';
import type {
  AddressInfo,
  ConnectionEvents,
  ConnectionOptions,
  Counters,
  DropReason,
  EndCallback,
  ListenOptions,
  Listener,
  LookupFunction,
  PipeCallback,
  PipeResult,
  PoolReadCallback,
  ReadCallback,
  ServerEvents,
  ServerOptions,
  SocketError,
  SocketOptions,
  WriteCallback,
  WritevCallback,
} from '../..';

/** Holds where both types are the same, and neither is `any`. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function holds<_Statement extends true>(): void {}

/** Takes a value of exactly this type, as `this`, of which `typeof` knows nothing before it is used. */
function same<T>(): <V>(value: V & (Same<T, V> extends true ? unknown : never)) => void {
  return () => {};
}

// @ts-expect-error `any` would hide everything
holds<Same<any, Connection>>();

const bytes = new Uint8Array(16);
const buffer = Buffer.alloc(16);

// Servers.

createServer();
createServer((connection) => holds<Same<typeof connection, Connection>>());
createServer({ allowHalfOpen: true, noDelay: false }, (connection) => connection.close());
createServer(null);
createServer(undefined, null);
createServer(function (connection) {
  same<Server>()(this);
  holds<Same<typeof connection, Connection>>();
});
createServer({}, function () {
  same<Server>()(this);
});

const serverOptions: ServerOptions = { keepAlive: true, keepAliveInitialDelay: 60_000 };
const socketOptions: SocketOptions = serverOptions;
holds<
  Same<keyof SocketOptions, 'allowHalfOpen' | 'noDelay' | 'keepAlive' | 'keepAliveInitialDelay'>
>();
holds<Same<keyof ServerOptions, keyof SocketOptions>>();
const server: Server = createServer(serverOptions);
const servers: Server[] = [new Server(), new Server(null), new Server({ noDelay: false })];

server.listen();
server.listen(() => {});
server.listen(8080);
server.listen('8080', () => {});
server.listen(0, '::1');
server.listen(null, null, null);
server.listen(0, 'localhost', () => {});
server.listen(0, 'localhost', 511);
server.listen(0, undefined, null, () => {});
server.listen(0, 511);
server.listen(0, 511, function () {
  same<Server>()(this);
});
server.listen({});
server.listen({ port: null, host: null }, () => {});
const { signal } = new AbortController();
const listenOptions: ListenOptions = {
  port: '8080',
  host: '::',
  backlog: 1,
  ipv6Only: true,
  reusePort: true,
  exclusive: true,
  signal,
};
server.listen(listenOptions, null).unref();
holds<Same<ReturnType<Server['listen']>, Server>>();

const address: AddressInfo = server.address();
const { family, port }: { family: string; port: number } = address;
holds<Same<Server['connections'], Connection[]>>();
server.allowHalfOpen = false;
server.maxConnections = 100;
server.maxConnections = Infinity;
holds<Same<Server['listening'], boolean>>();
holds<Same<ReturnType<Server[typeof Symbol.asyncDispose]>, Promise<void>>>();
server.ref().unref().close();
server.close((error) => holds<Same<typeof error, SocketError | null | undefined>>());
server.close(null);
server.close(function () {
  // @ts-expect-error its callbacks have no `this`
  void this.listening;
});

server
  .on('connection', (connection) => holds<Same<typeof connection, Connection>>())
  .once('listening', () => {})
  .on('error', (error) => holds<Same<typeof error, SocketError>>())
  .on('drop', (reason) => holds<Same<typeof reason, DropReason>>())
  .on('drop', ({ error }) => holds<Same<typeof error, SocketError | undefined>>())
  .on('drop', ({ remoteAddress }) => holds<Same<typeof remoteAddress, string | undefined>>())
  .on('drop', ({ localPort }) => holds<Same<typeof localPort, number | undefined>>())
  .on('close', () => {})
  .on('an event of a subclass', (_request: string, _answer: number) => {});

class HttpServer extends Server {
  constructor() {
    super({ allowHalfOpen: true });
    this.on('connection', (connection) => this.emit('request', connection.remoteAddress));
  }
}
new HttpServer().listen(0);

// @ts-expect-error an option that there is not
createServer({ allowHalfopen: true });
// @ts-expect-error an option of another type
createServer({ noDelay: 1 });
// @ts-expect-error the listener gets a connection
createServer((_connection: string) => {});
// @ts-expect-error a port that is no number and no digits
server.listen(true);
// @ts-expect-error the backlog comes behind the address
server.listen(0, 511, '::1');
// @ts-expect-error the backlog is a number
server.listen(0, '::1', '511');
// @ts-expect-error there are TCP ports alone
server.listen({ path: '/tmp/socket' });
// @ts-expect-error
server.listen({ fd: 3 });
// @ts-expect-error a flag is a boolean
server.listen({ port: 0, ipv6Only: 1 });
// @ts-expect-error a signal is no controller
server.listen({ port: 0, signal: new AbortController() });
// @ts-expect-error connections come and go by themselves
server.connections = [];
// @ts-expect-error only the server knows whether it listens
server.listening = true;
// @ts-expect-error no limit is Infinity
server.maxConnections = '100';

// Connecting.

const options: ConnectionOptions = { allowHalfOpen: true };
const connection: Connection = connect(8080);
connect('8080', 'localhost');
connect(8080, null, options);
connect(8080, undefined, null);
connect(8080, { noDelay: false });
connect(8080, () => {});
connect(8080, 'localhost', () => {});
connect(8080, 'localhost', { keepAlive: true }, () => {});
connect(8080, { timeout: 1000 }, null);
const maybeOptions = options as ConnectionOptions | undefined;
connect(8080, maybeOptions);
connect(8080, maybeOptions, () => {});
connect(8080, 'localhost' as string | ConnectionOptions | null);
connect(8080, function () {
  same<Connection>()(this);
});
connect({ port: 8080 });
connect({ port: '8080', host: null }, () => {});
connect({ port: 8080, ...socketOptions })
  .setTimeout(1000)
  .setNoDelay();

const lookup: LookupFunction = (hostname, { family, hints, all }, callback) => {
  holds<Same<typeof hostname, string>>();
  holds<Same<typeof family, 0 | 4 | 6>>();
  holds<Same<typeof hints, number | undefined>>();
  holds<Same<typeof all, true>>();
  callback(null, [{ address: '127.0.0.1', family: 4 }]);
  callback(null, '127.0.0.1', 4);
  callback(null, '127.0.0.1');
  callback(new Error('no such name'), []);
};
const everything: ConnectionOptions = {
  port: '8080',
  host: 'localhost',
  family: 'IPv4',
  hints: dns.ADDRCONFIG,
  lookup,
  localAddress: '127.0.0.1',
  localPort: 8080,
  signal: AbortSignal.timeout(1000),
  timeout: 1000,
  allowHalfOpen: true,
  noDelay: false,
  keepAlive: true,
  keepAliveInitialDelay: 1000,
};
connect(8080, null, everything);
for (const family of [0, 4, 6, 'IPv6'] as const) connect({ port: 8080, family });
connect({ port: 8080, lookup: dns.lookup });

// @ts-expect-error a port is needed
connect();
// @ts-expect-error the port comes before the host
connect('localhost', 8080, {});
// @ts-expect-error the options come once
connect(8080, { noDelay: true }, { allowHalfOpen: true });
// @ts-expect-error an option that there is not
connect(8080, 'localhost', { nodelay: true });
// @ts-expect-error a port is needed
connect({ host: 'localhost' });
// @ts-expect-error there are TCP ports alone
connect({ path: '/tmp/socket' });
// @ts-expect-error
connect({ port: 8080, fd: 3 });
// @ts-expect-error a port is no flag
connect(8080, { port: true });
// @ts-expect-error a family that there is not
connect({ port: 8080, family: 5 });
// @ts-expect-error a listener is told nothing
connect(8080, (_connection: Connection) => {});
// @ts-expect-error a lookup has a callback
connect({ port: 8080, lookup: (_hostname: string, _callback: () => void) => {} });
// @ts-expect-error a timeout is a number
connect({ port: 8080, timeout: '1000' });
// @ts-expect-error a local port is a number
connect({ port: 8080, localPort: '80' });

// What both have in common with node:net is of the same types there.

holds<Same<Connection['bytesRead'], Socket['bytesRead']>>();
holds<Same<ReturnType<Connection['address']>, ReturnType<Socket['address']>>>();

// What a connection tells of itself.

holds<Same<Connection['closed'], boolean>>();
const flags: boolean[] = [
  connection.closed,
  connection.finished,
  connection.ended,
  connection.readable,
  connection.writable,
];
connection.allowHalfOpen = true;
holds<Same<Connection['localAddress' | 'localFamily'], string | undefined>>();
holds<Same<Connection['remoteAddress' | 'remoteFamily'], string | undefined>>();
holds<Same<Connection['localPort' | 'remotePort'], number | undefined>>();
holds<Same<Connection['connecting' | 'destroyed' | 'writableNeedDrain'], boolean>>();
holds<Same<Connection['bytesRead' | 'bytesWritten' | 'timeout'], number>>();
holds<Same<Connection['writableLength' | 'writableHighWaterMark'], number>>();
holds<Same<ReturnType<Connection['address']>, AddressInfo | {}>>();
const end = connection.address();
if ('port' in end) holds<Same<typeof end.port, number>>();
const emitter: EventEmitter = connection;

// @ts-expect-error there is no address before the connection
const text: string = connection.remoteAddress;
// @ts-expect-error only the connection knows when it is closed
connection.closed = true;
// @ts-expect-error
connection.finished = true;
// @ts-expect-error
connection.ended = true;
// @ts-expect-error
connection.readable = false;
// @ts-expect-error
connection.writable = false;
// @ts-expect-error
connection.remoteAddress = '127.0.0.1';
// @ts-expect-error
connection.localPort = 80;
// @ts-expect-error
connection.connecting = false;
// @ts-expect-error
connection.destroyed = true;
// @ts-expect-error
connection.bytesRead = 0;
// @ts-expect-error
connection.bytesWritten = 0;
// @ts-expect-error
connection.writableLength = 0;
// @ts-expect-error
connection.writableNeedDrain = false;
// @ts-expect-error setTimeout sets it
connection.timeout = 1000;

// What it is told of how it is to be.

holds<
  Same<
    ReturnType<Connection['setTimeout' | 'setNoDelay' | 'setKeepAlive' | 'pause' | 'resume']>,
    Connection
  >
>();
connection
  .setTimeout(1000)
  .setTimeout(0, () => {})
  .setTimeout(1000, null);
connection.setTimeout(1000, function () {
  same<Connection>()(this);
  this.destroy();
});
connection.setNoDelay().setNoDelay(false);
connection.setKeepAlive().setKeepAlive(true).setKeepAlive(true, 1000);
holds<Same<ReturnType<Connection['isPaused']>, boolean>>();

// @ts-expect-error a time is needed
connection.setTimeout();
// @ts-expect-error and a number
connection.setTimeout('1000');
// @ts-expect-error a flag is a boolean
connection.setNoDelay(1);
// @ts-expect-error a delay is a number
connection.setKeepAlive(true, '1000');

// Reading.

connection.read(buffer, (error, data, bytesRead) => {
  holds<Same<typeof error, SocketError | null>>();
  holds<Same<typeof data, typeof buffer>>();
  holds<Same<typeof bytesRead, number>>();
  if (error) void [error.code, error.errno, error.syscall, error.address, error.port];
});
holds<Same<SocketError['code'], string | undefined>>();
holds<Same<SocketError['errors'], Error[] | undefined>>();
// What a program gives to destroy() is what its callbacks get.
const own: SocketError = new Error('enough');
const several: SocketError = new AggregateError([own], 'none was reached');
// @ts-expect-error an error of the program's own has none
const code: string = own.code;
connection.read(bytes, (_error, data) => holds<Same<typeof data, typeof bytes>>());
connection.read(bytes, () => {});
const onread: ReadCallback = (error, data, bytesRead) => {
  if (error === null && bytesRead > 0) connection.read(data, onread);
};
connection.read(buffer, onread);
const buffered = buffer as Buffer | oxwire.Pool;
connection.read(buffered, (_error, given) => holds<Same<typeof given, Buffer | null>>());

// @ts-expect-error a read needs a callback
connection.read(buffer);
// @ts-expect-error and a buffer
connection.read((error: Error | null) => void error);
// @ts-expect-error a length is no buffer
connection.read(1024, onread);
// @ts-expect-error no other view
connection.read(new DataView(new ArrayBuffer(8)), onread);
// @ts-expect-error
connection.read(new Uint16Array(8), onread);
// @ts-expect-error strings can't be filled
connection.read('text', onread);
// @ts-expect-error an error may come instead of bytes
connection.read(buffer, (error: SocketError) => void error);
// @ts-expect-error the count is a number
connection.read(buffer, (_error, _data, bytesRead: string) => void bytesRead);

// Writing.

connection.write(buffer);
connection.write(bytes, 8);
connection.write(bytes, null, null);
connection.write(buffer, (error, data, length) => {
  holds<Same<typeof error, SocketError | null>>();
  holds<Same<typeof data, typeof buffer>>();
  holds<Same<typeof length, number>>();
});
connection.write(buffer, 8, (_error, data) => holds<Same<typeof data, typeof buffer>>());
connection.write('text');
connection.write('text', 'latin1');
const either = 'text' as string | Uint8Array;
connection.write(either, (error) => holds<Same<typeof error, SocketError | null>>());
connection.write(either, 'utf8');
connection.write(either, 'utf8', (_error, data) => holds<Same<typeof data, typeof either>>());
connection.write(buffer, 'latin1', (_error, data) => holds<Same<typeof data, typeof buffer>>());
connection.write('text', undefined, () => {});
connection.write('text', (_error, data) => holds<Same<typeof data, string>>());
holds<Same<ReturnType<Connection['write' | 'writev']>, boolean>>();
const onwrite: WriteCallback = (error, data, length) => void [error, data, length];
connection.write(buffer, onwrite);

// @ts-expect-error a number is nothing to write
connection.write(42);
// @ts-expect-error nor is an array of them
connection.write([1, 2, 3]);
// @ts-expect-error an encoding that there is not
connection.write('text', 'utf-9');
// @ts-expect-error nor for bytes, where it changes nothing
connection.write(buffer, 'utf-9');
// @ts-expect-error what may be a string has no length
connection.write(either, 4);
// @ts-expect-error a string has an encoding and no length
connection.write('text', 4);
// @ts-expect-error the callback of a string gets the string
connection.write('text', (_error: Error | null, data: Uint8Array) => void data);

connection.writev([]);
connection.writev([buffer, buffer], [8, 16]);
connection.writev([buffer], null, null);
connection.writev([bytes], (error, buffers, lengths) => {
  holds<Same<typeof error, SocketError | null>>();
  holds<Same<typeof buffers, (typeof bytes)[]>>();
  holds<Same<typeof lengths, number[]>>();
});
const onwritev: WritevCallback = (error, buffers, lengths) => void [error, buffers, lengths];
connection.writev([buffer], [16], onwritev);
const frozen: readonly Buffer[] = [buffer];
const frozenLengths: readonly number[] = [16];
connection.writev(frozen);
connection.writev(frozen, frozenLengths);
connection.writev(frozen, (_error, buffers) => holds<Same<typeof buffers, readonly Buffer[]>>());
connection.writev(frozen, frozenLengths, (_error, _buffers, lengths) =>
  holds<Same<typeof lengths, readonly number[]>>(),
);
// @ts-expect-error whoever could not change them before can't in the callback
connection.writev(frozen, (_error, buffers: Buffer[]) => void buffers);

// @ts-expect-error buffers come in an array
connection.writev(buffer);
// @ts-expect-error strings are for write
connection.writev(['text']);
// @ts-expect-error one length for each
connection.writev([buffer], 16);

// Ending.

connection.end();
connection.end((error) => holds<Same<typeof error, SocketError | null>>());
connection.end(null);
connection.close();
connection.close(() => {});
connection.destroy().ref().unref().destroy(new Error('enough'));
connection.pause().resume().resetAndDestroy().end();
holds<Same<ReturnType<Connection[typeof Symbol.asyncDispose]>, Promise<void>>>();

connection
  .end('bye')
  .end('bye', 'latin1', () => {})
  .end(bytes);
const onend: EndCallback = (error) => void error?.code;
connection.end(either, 'utf8').end(either, 'utf8', onend).end(bytes, 'utf8');
connection.end(undefined, onend).end(null, onend).end(undefined, null, onend);
connection.end(bytes, 8).end(bytes, 8, onend).end(bytes, null, onend);
// @ts-expect-error a string has an encoding and no length
connection.end('bye', 3);
// @ts-expect-error what may be a string too
connection.end(either, 3);

// Pipes.

const piped = [
  connection.pipe(connection),
  connection.pipe(connection, {}),
  connection.pipe(connection, null),
];
holds<Same<typeof piped, Promise<PipeResult>[]>>();
const onpiped: PipeCallback = (error, result) => {
  if (error) holds<Same<typeof result, PipeResult | undefined>>();
  else holds<Same<typeof result, PipeResult>>();
};
connection.pipe(connection, onpiped);
connection.pipe(connection, {}, onpiped);
const maybePiped = onpiped as PipeCallback | null | undefined;
const maybePromises = [
  connection.pipe(connection, maybePiped),
  connection.pipe(connection, {}, maybePiped),
  connection.pipe(connection, undefined, maybePiped),
];
holds<Same<typeof maybePromises, (Promise<PipeResult> | undefined)[]>>();
// @ts-expect-error with a callback that may be there, there may be no promise
void connection.pipe(connection, maybePiped).finally(() => {});
// @ts-expect-error connections of node:net can't be piped
connection.pipe({} as Socket);
// @ts-expect-error there is no data event: connections are no streams
connection.on('data', (data: Buffer) => void data);
// @ts-expect-error close has no error to tell
connection.close((error: Error) => void error);
// @ts-expect-error a reason is an Error
connection.destroy('enough');
// @ts-expect-error a reset has no reason
connection.resetAndDestroy(new Error('enough'));

// Events.

connection
  .once('connect', () => {})
  .on('error', (error) => holds<Same<typeof error, SocketError>>())
  .on('end', () => {})
  .on('finish', () => {})
  .on('drain', () => {})
  .once('timeout', () => {})
  .once('close', () => {})
  .on(Symbol('mine'), () => {});
holds<
  Same<
    keyof ConnectionEvents,
    'connect' | 'error' | 'end' | 'finish' | 'drain' | 'timeout' | 'close'
  >
>();
holds<Same<ServerEvents['connection'], [connection: Connection]>>();

// The pool.

connection.read(oxwire.pool, (error, given, bytesRead) => {
  holds<Same<typeof error, SocketError | null>>();
  holds<Same<typeof given, Buffer | null>>();
  holds<Same<typeof bytesRead, number>>();
  if (error) {
    holds<Same<typeof given, null>>();
    holds<Same<typeof bytesRead, 0>>();
  } else if (given === null) {
    holds<Same<typeof bytesRead, 0>>();
  } else {
    holds<Same<typeof given, Buffer>>();
    oxwire.pool.release(given);
  }
});
const onpooled: PoolReadCallback = (_error, given, bytesRead) => {
  if (given === null) connection.close();
  else connection.write(given, bytesRead, { release: true });
};
connection.read(oxwire.pool, onpooled);
// @ts-expect-error at the end there is no buffer, and no error either
connection.read(oxwire.pool, (error, given) => error || given.length);
connection.write(buffer, 5, { release: true }, () => {});
connection.write(buffer, 5, { release: true as boolean });
connection.write(buffer, null, {}, () => {});
connection.write(buffer, undefined, undefined, () => {});
// @ts-expect-error how much of it: never all 64 KB
connection.write(buffer, null, { release: true });
// @ts-expect-error options come third
connection.write(buffer, { release: true });
// @ts-expect-error a string has no buffer to release
connection.write('text', 'utf8', { release: true });
const sizes: number[] = [oxwire.pool.bufferSize, oxwire.pool.lent];
void sizes;

// Counters.

const counts: Counters = counters();
const { accept, recv, send, epollCtl, epollWait, wakeups, entries, bytesCopied } = counts;
const all: number[] = [accept, recv, send, epollCtl, epollWait, wakeups, entries, bytesCopied];

// @ts-expect-error a count that there is not
void counts.reads;

// All of it by one name.

holds<
  Same<
    keyof typeof oxwire,
    'Connection' | 'Server' | 'connect' | 'counters' | 'createServer' | 'pool' | 'setBusyPoll'
  >
>();
oxwire.createServer((connection: oxwire.Connection) => connection.unref());
void [servers, family, port, flags, emitter, text, all];

// @ts-expect-error parsers and codecs are not there yet
void oxwire.codec;

// Listeners of known events.

// @ts-expect-error the error is an object
connection.on('error', (error: string) => void error);
// @ts-expect-error a timeout brings nothing
connection.on('timeout', (time: number) => void time);
// @ts-expect-error the end brings nothing
connection.once('end', (data: Buffer) => void data);
// @ts-expect-error the event brings a connection
server.on('connection', (connection: EventEmitter & { read: number }) => void connection);
// @ts-expect-error what was dropped was never a connection
server.once('drop', (connection: Connection) => void connection);

// What holds of `on` holds of all that add or remove listeners.

for (const method of ['on', 'once', 'off'] as const) connection[method]('connect', () => {});
const onerror: Listener<Connection, [error: SocketError]> = function (error) {
  this.destroy(error);
};
connection.on('error', onerror).off('error', onerror);
connection
  .addListener('error', (error) => holds<Same<typeof error, SocketError>>())
  .prependListener('error', (error) => holds<Same<typeof error, SocketError>>())
  .prependOnceListener('error', (error) => holds<Same<typeof error, SocketError>>())
  .removeListener('error', onerror)
  .addListener('an event of a subclass', (_request: string) => {})
  .on('close', function () {
    same<Connection>()(this);
  })
  .once('timeout', function () {
    this.destroy();
  })
  .addListener(Symbol('mine'), function () {
    this.destroy();
  });
server
  .addListener('connection', (connection) => holds<Same<typeof connection, Connection>>())
  .prependListener('drop', (reason) => holds<Same<typeof reason, DropReason>>())
  .prependOnceListener('listening', () => {})
  .off('close', () => {})
  .removeListener('close', () => {})
  .on('connection', function () {
    same<Server>()(this);
  })
  .once('listening', function () {
    this.address();
  });
class Client extends Connection {
  greeting = 'hello';
}
new Client().on('connect', function () {
  this.write(this.greeting);
});

// @ts-expect-error there is no data event
connection.once('data', () => {});
// @ts-expect-error
connection.addListener('data', () => {});
// @ts-expect-error
connection.prependListener('readable', () => {});
// @ts-expect-error
connection.prependOnceListener('ready', () => {});
// @ts-expect-error
connection.off('data', () => {});
// @ts-expect-error
connection.removeListener('lookup', () => {});
// @ts-expect-error the error is an object
connection.addListener('error', (error: string) => void error);
// @ts-expect-error a timeout brings nothing
connection.prependListener('timeout', (time: number) => void time);
// @ts-expect-error the event brings a connection
server.addListener('connection', (connection: string) => void connection);
// @ts-expect-error `this` is who emits the event
connection.on('close', function (this: Server) {});

void [code, several];
