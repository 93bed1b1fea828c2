// Compiled by `npm run check`, never run: what the types of oxwire/promises allow, and what they must refuse.

import { Connection, Server, connect, createServer, pool } from 'oxwire/promises';
import type { OperationOptions, Pool, PoolRead, WriteOptions } from 'oxwire/promises';
import * as oxwire from 'oxwire';

async function connections(controller: AbortController) {
  const options: OperationOptions = { signal: controller.signal };
  const release: WriteOptions = { ...options, release: true };
  const connection: Connection = await connect(7000);
  await connect('7000', 'localhost', { noDelay: false });
  await connect(7000, { allowHalfOpen: true });
  await connect({ port: 7000, signal: controller.signal });
  // @ts-expect-error: there is no port.
  await connect({ host: 'localhost' });

  const count: number = await connection.read(Buffer.alloc(10));
  await connection.read(new Uint8Array(10), options);
  const read: PoolRead = await connection.read(pool, null);
  if (read.buffer !== null) await connection.write(read.buffer, read.bytesRead, release);
  else {
    const none: 0 = read.bytesRead;
    void none;
  }
  // @ts-expect-error: callbacks are for the other entry.
  await connection.read(Buffer.alloc(10), () => {});
  // @ts-expect-error: nothing can be read into it.
  await connection.read('text');

  await connection.write('text');
  await connection.write('text', 'latin1', options);
  await connection.write(Buffer.alloc(count), 3, options);
  // @ts-expect-error: options come third.
  await connection.write('text', options);
  await connection.write(Math.random() > 0.5 ? 'text' : Buffer.alloc(1));
  await connection.writev([Buffer.alloc(1), new Uint8Array(1)] as const, [1, 1] as const, options);
  await connection.end();
  await connection.end('bye', 'utf8');
  await connection.end(Buffer.alloc(4), 2);
  await connection.end(Math.random() > 0.5 ? 'bye' : Buffer.alloc(1));
  const either: Pool | Uint8Array = Math.random() > 0.5 ? pool : Buffer.alloc(1);
  const result: number | PoolRead = await connection.read(either);
  void result;
  for await (const chunk of connection) chunk.toString('latin1');
  connection.destroy(new Error('over')).destroy();
  const underneath: oxwire.Connection = connection.connection;
  await new Connection(underneath).close();
  await connection[Symbol.asyncDispose]();
}

async function servers(signal: AbortSignal) {
  const server: Server = await createServer({ noDelay: true }).listen({ port: 0, signal });
  await new Server().listen();
  await server.listen(0, '::1', 10);
  const port: number = server.address().port;
  for await (const connection of server) await connection.close();
  const underneath: oxwire.Server = server.server;
  underneath.maxConnections = port;
  const listening: boolean = server.listening;
  await server.close();
  await server[Symbol.asyncDispose]();
  return listening;
}

void [connections, servers];
