import oxwire, { connect, type Connection, type ReadCallback } from 'oxwire';
import * as promises from 'oxwire/promises';
import turboNet, * as turbo from '@oxwire/turbo-net';
import * as engineParser from '@oxwire/engine.io-parser';
import * as socketParser from '@oxwire/socket.io-parser';

const onread: ReadCallback = (error, buffer, bytesRead) => {
  if (!error) console.log(buffer.subarray(0, bytesRead));
};

export const socket: Connection = turbo.connect(80, 'localhost', { allowHalfOpen: true });
socket.read(new Uint8Array(64), onread);
turboNet.createServer((connection: Connection) => connection.end()).listen(0);

// @ts-expect-error -- A buffer is bytes.
connect(80).read('text', onread);
// @ts-expect-error -- turbo-net has no counters.
turbo.counters();

export const awaited: Promise<number> = new promises.Connection(socket).read(new Uint8Array(64));
for await (const connection of promises.createServer()) await connection.end();

export const counted: number = oxwire.counters().recv;
export const nothing: [never, never] = [
  null! as keyof typeof engineParser,
  null! as keyof typeof socketParser,
];
