// Compiled by `npm run check`, never run: what the types allow, and what they must refuse.

import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';

import * as oxwire from '../..';
import { Connection, Server, connect, counters, createServer } from '../..';
import type {
  AddressInfo,
  ConnectionEvents,
  ConnectionOptions,
  Counters,
  ReadCallback,
  ServerEvents,
  ServerOptions,
  SocketError,
  WriteCallback,
  WritevCallback,
} from '../..';

/** Holds where both types are the same, and neither is `any`. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function holds<_Statement extends true>(): void {}

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

const serverOptions: ServerOptions = {};
const server: Server = createServer(serverOptions);
const servers: Server[] = [new Server(), new Server(null), new Server({ noDelay: false })];

server.listen();
server.listen(() => {});
server.listen(8080);
server.listen('8080', () => {});
server.listen(0, '::1');
server.listen(null, null, null);
server.listen(0, 'localhost', () => {});

const address: AddressInfo = server.address();
const { family, port }: { family: string; port: number } = address;
holds<Same<Server['connections'], Connection[]>>();
server.allowHalfOpen = false;
server.ref().unref().close();
server.close((error) => holds<Same<typeof error, SocketError | null | undefined>>());
server.close(null);

server
  .on('connection', (connection) => holds<Same<typeof connection, Connection>>())
  .once('listening', () => {})
  .on('error', (error) => holds<Same<typeof error, SocketError>>())
  .on('drop', ({ error }) => holds<Same<typeof error, SocketError | undefined>>())
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
// @ts-expect-error the address comes behind the port
server.listen('::1', 8080);
// @ts-expect-error connections come and go by themselves
server.connections = [];

// Connecting.

const options: ConnectionOptions = { allowHalfOpen: true };
const connection: Connection = connect(8080);
connect('8080', 'localhost');
connect(8080, null, options);
connect(8080, undefined, null);
connect(8080, { noDelay: false });

// @ts-expect-error a port is needed
connect();
// @ts-expect-error the port comes before the host
connect('localhost', 8080, {});
// @ts-expect-error the options come once
connect(8080, { noDelay: true }, { allowHalfOpen: true });
// @ts-expect-error an option that there is not
connect(8080, 'localhost', { nodelay: true });

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

// Reading.

connection.read(buffer, (error, data, bytesRead) => {
  holds<Same<typeof error, SocketError | null>>();
  holds<Same<typeof data, typeof buffer>>();
  holds<Same<typeof bytesRead, number>>();
  if (error) void [error.code, error.errno, error.syscall, error.address, error.port];
});
connection.read(bytes, (_error, data) => holds<Same<typeof data, typeof bytes>>());
connection.read(bytes, () => {});
const onread: ReadCallback = (error, data, bytesRead) => {
  if (error === null && bytesRead > 0) connection.read(data, onread);
};
connection.read(buffer, onread);

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
connection.write('text', undefined, () => {});
connection.write('text', (_error, data) => holds<Same<typeof data, string>>());
const onwrite: WriteCallback = (error, data, length) => void [error, data, length];
connection.write(buffer, onwrite);

// @ts-expect-error a number is nothing to write
connection.write(42);
// @ts-expect-error nor is an array of them
connection.write([1, 2, 3]);
// @ts-expect-error an encoding that there is not
connection.write('text', 'utf-9');
// @ts-expect-error bytes have a length and no encoding
connection.write(buffer, 'latin1');
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

connection
  .end('bye')
  .end('bye', 'latin1', () => {})
  .end(bytes);
// @ts-expect-error there is no data event: connections are no streams
connection.on('data', (data: Buffer) => void data);
// @ts-expect-error close has no error to tell
connection.close((error: Error) => void error);
// @ts-expect-error a reason is an Error
connection.destroy('enough');

// Events.

connection
  .once('connect', () => {})
  .on('error', (error) => holds<Same<typeof error, SocketError>>())
  .on('end', () => {})
  .on('finish', () => {})
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
  holds<Same<typeof given, Buffer | null>>();
  if (given) oxwire.pool.release(given);
  void [error, bytesRead];
});
connection.write(buffer, 5, { release: true }, () => {});
connection.write(buffer, null, { release: true });
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
    'Connection' | 'Server' | 'connect' | 'counters' | 'createServer' | 'pool'
  >
>();
oxwire.createServer((connection: oxwire.Connection) => connection.unref());
void [servers, family, port, flags, emitter, text, all];

// @ts-expect-error parsers and codecs are not there yet
void oxwire.codec;

// Listeners of known events.

// @ts-expect-error the error is an object
connection.on('error', (error: string) => void error);
// @ts-expect-error the end brings nothing
connection.once('end', (data: Buffer) => void data);
// @ts-expect-error the event brings a connection
server.on('connection', (connection: EventEmitter & { read: number }) => void connection);
// @ts-expect-error what was dropped was never a connection
server.once('drop', (connection: Connection) => void connection);
