// oxwire/promises: the sockets of oxwire with promises and for await.

import type {
  AddressInfo,
  Connection as CallbackConnection,
  ConnectionOptions,
  ListenOptions,
  Pool,
  Server as CallbackServer,
  ServerOptions,
} from './index.js';

export { pool } from './index.js';
export type {
  AddressInfo,
  ConnectionOptions,
  ListenOptions,
  Pool,
  ServerOptions,
  SocketError,
} from './index.js';

/** What one operation may be given. */
export interface OperationOptions {
  /**
   * Gives the operation up: its promise is rejected with an `AbortError`. A read that is given up
   * takes no bytes. A write that waits is not sent; if some of it was, the connection is reset, since
   * half a message must not look like one. What is done, or staged to leave in this turn, is fulfilled.
   */
  signal?: AbortSignal | undefined;
}

/** What a write may be given. */
export interface WriteOptions extends OperationOptions {
  /** Whether its buffer, one of the pool, is released: when its bytes have left, or it was given up. */
  release?: boolean | undefined;
}

/** What a read of the pool brought: at the end there is no buffer, and `bytesRead` is 0. */
export type PoolRead =
  | { readonly buffer: Buffer; readonly bytesRead: number }
  | { readonly buffer: null; readonly bytesRead: 0 };

/**
 * A TCP connection. Its promises are rejected with the errors that callbacks are told. A failed
 * operation that nobody awaits is no unhandled rejection; wrong arguments are one.
 *
 * `for await (const chunk of connection)` has what arrives, in buffers of its own, until the peer's
 * end. Who leaves the loop before closes the connection.
 */
export class Connection implements AsyncIterable<Buffer> {
  /** A connection of `oxwire` with promises. */
  constructor(connection: CallbackConnection);

  /** The same with callbacks, events, addresses, counts and settings. */
  readonly connection: CallbackConnection;

  /**
   * Reads what has arrived into `buffer`, which is lent until then. Reads are served in order.
   *
   * @returns how many bytes, at least one; 0 at the end
   */
  read(buffer: Uint8Array, options?: OperationOptions | null): Promise<number>;
  /** Reads into a buffer of the pool, which is to be released. */
  read(pool: Pool, options?: OperationOptions | null): Promise<PoolRead>;
  /** Reads into what may be either. */
  read(buffer: Uint8Array | Pool, options?: OperationOptions | null): Promise<number | PoolRead>;

  /**
   * Writes all of `data`, or its first `length` bytes; or a string, in UTF-8 or the encoding given.
   *
   * @returns when the kernel has taken all of it; until then the buffer is lent
   */
  write(
    data: Uint8Array,
    length?: number | BufferEncoding | null,
    options?: WriteOptions | null,
  ): Promise<void>;
  write(
    data: string,
    encoding?: BufferEncoding | null,
    options?: OperationOptions | null,
  ): Promise<void>;
  write(
    data: Uint8Array | string,
    encoding?: BufferEncoding | null,
    options?: OperationOptions | null,
  ): Promise<void>;

  /** Writes several buffers, or the first `lengths[i]` bytes of each, one behind the other. */
  writev(
    buffers: readonly Uint8Array[],
    lengths?: readonly number[] | null,
    options?: OperationOptions | null,
  ): Promise<void>;

  /**
   * Ends our side, as soon as all that was written has left, `data` as the last.
   *
   * @returns when the kernel was told; the peer may go on
   */
  end(): Promise<void>;
  end(data: Uint8Array, length?: number | BufferEncoding | null): Promise<void>;
  end(data: Uint8Array | string, encoding?: BufferEncoding | null): Promise<void>;

  /**
   * Closes the connection. What the kernel has taken still arrives, and what is pending fails.
   *
   * @returns when it is closed
   */
  close(): Promise<void>;
  /** Closes the connection at once, and tells what is pending of `error`. */
  destroy(error?: Error | null): this;

  [Symbol.asyncIterator](): AsyncIterableIterator<Buffer>;
  /** Closes the connection, if it is not closed yet, and waits until it is. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A TCP server. `for await (const connection of server)` has its connections until it is closed, each
 * in one loop. Who leaves the loop closes the server. Connections that nobody has taken wait: 64 of
 * them accepted, others in the system.
 */
export class Server implements AsyncIterable<Connection> {
  constructor(options?: ServerOptions | null);

  /** The same with callbacks, events and settings. */
  readonly server: CallbackServer;
  /** Whether it listens. */
  readonly listening: boolean;

  /**
   * Listens, by default on a free port of all addresses. The signal of the options closes the server
   * whenever it is aborted.
   *
   * @returns the server, when it listens
   */
  listen(options: ListenOptions): Promise<this>;
  listen(
    port?: number | string | null,
    host?: string | null,
    backlog?: number | null,
  ): Promise<this>;

  /** @throws Error `ERR_SERVER_NOT_RUNNING` */
  address(): AddressInfo;

  /**
   * Listens no more, and closes connections that nobody has taken. Others stay as they are.
   *
   * @returns when it does not listen any more; at once where it did not
   */
  close(): Promise<void>;

  [Symbol.asyncIterator](): AsyncIterableIterator<Connection>;
  /** Closes the server, if it is not closed yet, and waits until it is. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Connects, by default to this machine.
 *
 * @returns the connection, when it is connected
 */
export function connect(
  options: ConnectionOptions & { port: number | string },
): Promise<Connection>;
export function connect(
  port: number | string,
  host?: string | null,
  options?: ConnectionOptions | null,
): Promise<Connection>;
export function connect(port: number | string, options: ConnectionOptions): Promise<Connection>;

/** Makes a server. */
export function createServer(options?: ServerOptions | null): Server;
