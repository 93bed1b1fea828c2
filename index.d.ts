/// <reference types="node" />

import { EventEmitter } from 'events';

/** One end of a connection, or where a server listens. */
export interface AddressInfo {
  /** In dotted or colon notation. */
  address: string;
  /** `'IPv4'` or `'IPv6'`. */
  family: string;
  port: number;
}

/** An error in the shape of Node's own: `ECONNREFUSED`, `ERR_OUT_OF_RANGE`, … */
export interface SocketError extends Error {
  code: string;
  /** A system error's number, negative. */
  errno?: number;
  /** Which system call failed. */
  syscall?: string;
  /** What `connect` and `listen` failed on. */
  address?: string;
  port?: number;
  /** What a lookup failed on. */
  hostname?: string;
}

/** Options of one connection. */
export interface ConnectionOptions {
  /**
   * Whether our side stays open when the peer has ended its own. If not, it is ended as soon as
   * what was written has left.
   *
   * @default false
   */
  allowHalfOpen?: boolean;
  /**
   * Whether small segments are sent at once (`TCP_NODELAY`). Small writes of one turn leave
   * together all the same.
   *
   * @default true
   */
  noDelay?: boolean;
}

/** Options of every connection that a server accepts. */
export interface ServerOptions extends ConnectionOptions {}

/** Called when a read is done: `bytesRead` is 0 at the end, and on an error. */
export type ReadCallback<B extends Uint8Array = Uint8Array> = (
  error: SocketError | null,
  buffer: B,
  bytesRead: number,
) => void;

/** Called when the kernel has all of a write, with what was given and how many bytes that were. */
export type WriteCallback<D extends Uint8Array | string = Uint8Array> = (
  error: SocketError | null,
  data: D,
  length: number,
) => void;

/** Called when the kernel has all of a `writev`, with what was given. */
export type WritevCallback<B extends Uint8Array = Uint8Array> = (
  error: SocketError | null,
  buffers: B[],
  lengths: number[],
) => void;

/** What {@link Connection} emits. */
export interface ConnectionEvents {
  /** It is connected. */
  connect: [];
  /** Connecting or the lookup failed, or something else whose error no callback took. */
  error: [error: SocketError];
  /** The peer has ended its side, and every read was told. */
  end: [];
  /** Our side is ended; whether well, the callback of `end` knows. */
  finish: [];
  /** Everything is over; nothing comes after it. */
  close: [];
}

/** What {@link Server} emits. */
export interface ServerEvents {
  connection: [connection: Connection];
  listening: [];
  /** Listening, or the lookup before it, failed. */
  error: [error: SocketError];
  /** A connection could not be accepted, mostly for want of descriptors; it is tried again. */
  drop: [reason: { error: SocketError }];
  close: [];
}

/**
 * A TCP connection that reads into buffers, and writes from buffers, of the caller. Buffers are
 * lent from the call to its callback; callbacks never run within the call.
 */
export class Connection extends EventEmitter {
  constructor(server?: Server | null);

  /** Whether all is over; `close` is emitted then. */
  readonly closed: boolean;
  /** Whether our side is ended. */
  readonly finished: boolean;
  /** Whether the peer's side is ended. */
  readonly ended: boolean;
  /** Whether a read may bring something; `false` until it is connected, though reads may wait. */
  readonly readable: boolean;
  /** Whether a write is accepted; `false` until it is connected, though writes may wait. */
  readonly writable: boolean;
  allowHalfOpen: boolean;

  /** Addresses are there while it is connected; one that was read then stays afterwards. */
  readonly localAddress: string | undefined;
  readonly localFamily: string | undefined;
  readonly localPort: number | undefined;
  readonly remoteAddress: string | undefined;
  readonly remoteFamily: string | undefined;
  readonly remotePort: number | undefined;

  /**
   * Reads what has arrived into `buffer`: at least one byte, or 0 at the end. Any number of reads
   * may be queued; they complete in order. The buffer does not change before its callback.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  read<B extends Uint8Array>(buffer: B, callback: ReadCallback<B>): void;

  /**
   * Writes all of `data`, or its first `length` bytes.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   * @throws RangeError `ERR_OUT_OF_RANGE` for a length past the end of the buffer
   */
  write<B extends Uint8Array>(data: B, callback?: WriteCallback<B> | null): void;
  write<B extends Uint8Array>(
    data: B,
    length: number | null | undefined,
    callback?: WriteCallback<B> | null,
  ): void;
  /**
   * Writes a string, in UTF-8 or `encoding`.
   *
   * @throws TypeError `ERR_UNKNOWN_ENCODING`
   */
  write(data: string, callback?: WriteCallback<string> | null): void;
  write(
    data: string,
    encoding: BufferEncoding | null | undefined,
    callback?: WriteCallback<string> | null,
  ): void;

  /**
   * Writes any number of buffers, one behind the other, or the first `lengths[i]` bytes of each.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE` where there is not one length
   *   for each buffer
   * @throws RangeError `ERR_OUT_OF_RANGE`
   */
  writev<B extends Uint8Array>(buffers: B[], callback?: WritevCallback<B> | null): void;
  writev<B extends Uint8Array>(
    buffers: B[],
    lengths: number[] | null | undefined,
    callback?: WritevCallback<B> | null,
  ): void;

  /**
   * Ends our side, as soon as all that was written has left. Reading goes on.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  end(callback?: ((error: SocketError | null) => void) | null): void;

  /**
   * Closes the connection. What the kernel has taken still arrives; what is pending fails. Before
   * `connect` it waits until the writes that were queued were handed to the kernel.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  close(callback?: (() => void) | null): void;

  /** Closes the connection at once; pending operations are told `error`. */
  destroy(error?: Error | null): this;

  /** Pending operations keep the process alive; the default. */
  ref(): this;
  /** Pending operations do not keep the process alive. */
  unref(): this;

  on<E extends keyof ConnectionEvents>(
    event: E,
    listener: (...args: ConnectionEvents[E]) => void,
  ): this;
  on<E extends string | symbol>(
    event: E extends keyof ConnectionEvents ? never : E,
    listener: (...args: any[]) => void,
  ): this;
  once<E extends keyof ConnectionEvents>(
    event: E,
    listener: (...args: ConnectionEvents[E]) => void,
  ): this;
  once<E extends string | symbol>(
    event: E extends keyof ConnectionEvents ? never : E,
    listener: (...args: any[]) => void,
  ): this;
}

/** A TCP server. */
export class Server extends EventEmitter {
  constructor(options?: ServerOptions | null);

  /** What is connected now, in no order. */
  readonly connections: Connection[];
  allowHalfOpen: boolean;

  /**
   * Where it listens: the address that was asked for, or that of the name, and the port.
   *
   * @throws Error `ERR_SERVER_NOT_RUNNING`
   */
  address(): AddressInfo;

  /**
   * Listens on `port` (a number or digits; 0 or none takes any free one) of `address` (an IPv4 or
   * IPv6 address or a name, by default `0.0.0.0`).
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   * @throws RangeError `ERR_SOCKET_BAD_PORT`
   * @throws Error `ERR_SERVER_ALREADY_LISTEN`, `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM`
   */
  listen(onlistening?: () => void): void;
  listen(port: number | string | null | undefined, onlistening?: () => void): void;
  listen(
    port: number | string | null | undefined,
    address: string | null | undefined,
    onlistening?: (() => void) | null,
  ): void;

  /**
   * Listens no more. Connections stay as they are, and are not waited for. The callback gets
   * `ERR_SERVER_NOT_RUNNING` where the server did not listen.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  close(callback?: ((error?: SocketError | null) => void) | null): void;

  /** Listening keeps the process alive; the default. */
  ref(): this;
  /** Listening does not keep the process alive. */
  unref(): this;

  on<E extends keyof ServerEvents>(event: E, listener: (...args: ServerEvents[E]) => void): this;
  on<E extends string | symbol>(
    event: E extends keyof ServerEvents ? never : E,
    listener: (...args: any[]) => void,
  ): this;
  once<E extends keyof ServerEvents>(event: E, listener: (...args: ServerEvents[E]) => void): this;
  once<E extends string | symbol>(
    event: E extends keyof ServerEvents ? never : E,
    listener: (...args: any[]) => void,
  ): this;
}

/**
 * Makes a server; `onconnection` hears its `connection` event.
 *
 * @throws TypeError `ERR_INVALID_ARG_TYPE`
 */
export function createServer(onconnection?: (connection: Connection) => void): Server;
export function createServer(
  options: ServerOptions | null | undefined,
  onconnection?: ((connection: Connection) => void) | null,
): Server;

/**
 * Connects to `port` of `host` (an address or a name, by default `127.0.0.1`). Reads and writes may
 * be called at once; they wait for the connection.
 *
 * @throws TypeError `ERR_INVALID_ARG_TYPE`
 * @throws RangeError `ERR_SOCKET_BAD_PORT`
 * @throws Error `ERR_FEATURE_UNAVAILABLE_ON_PLATFORM`; a system error where there are no sockets at
 *   all, as for want of descriptors
 */
export function connect(
  port: number | string,
  host?: string | null,
  options?: ConnectionOptions | null,
): Connection;
export function connect(port: number | string, options: ConnectionOptions): Connection;

/** How often the sockets of this thread did each thing that costs time, since they began. */
export interface Counters {
  /** Calls of `accept`, those that found nothing among them. */
  accept: number;
  /** Calls of `recv`, those that found nothing among them. */
  recv: number;
  /** Calls of `send` and `sendmsg`, those that the kernel refused among them. */
  send: number;
  /** Changes to the set of watched sockets: one per socket, when it is made. */
  epollCtl: number;
  /** Times the set of watched sockets was asked what is ready. */
  epollWait: number;
  /** Times the event loop found something ready. */
  wakeups: number;
  /** Times JavaScript was entered: once per wake-up, and once in a turn that had something left. */
  entries: number;
  /** Bytes copied within the process, to be sent together. */
  bytesCopied: number;
}

/** The counters of this thread. */
export function counters(): Counters;
