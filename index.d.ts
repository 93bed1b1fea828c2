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

/**
 * An error in the shape of Node's own: `ECONNREFUSED`, `ERR_OUT_OF_RANGE`, … One of the program's
 * own, that `destroy` or a `lookup` was given, comes as it is.
 */
export interface SocketError extends Error {
  /** There but for errors of the program's own. */
  code?: string;
  /** A system error's number, negative. */
  errno?: number;
  /** Which system call failed. */
  syscall?: string;
  /** What `connect` and `listen` failed on. */
  address?: string;
  port?: number;
  /** Where `connect` came from, if that was said. */
  localAddress?: string;
  localPort?: number;
  /** What a lookup failed on. */
  hostname?: string;
  /**
   * Why each address of a name was not reached: then it is an `AggregateError`, and the other
   * properties are those of the first.
   */
  errors?: Error[];
}

/** What a connection is given at its birth. */
export interface SocketOptions {
  /**
   * Whether our side stays open when the peer has ended its own. If not, it is ended as soon as
   * what was written has left.
   *
   * @default false
   */
  allowHalfOpen?: boolean | undefined;
  /**
   * Whether small segments are sent at once (`TCP_NODELAY`). Small writes of one turn leave
   * together all the same.
   *
   * @default true
   */
  noDelay?: boolean | undefined;
  /**
   * Whether an idle connection is probed (`SO_KEEPALIVE`), so that a peer that is gone is noticed.
   *
   * @default false
   */
  keepAlive?: boolean | undefined;
  /**
   * After how many milliseconds without traffic the first probe is sent, in whole seconds; 0 leaves
   * it to the system. Further ones follow each second, and the tenth without an answer ends the
   * connection.
   *
   * @default 0
   */
  keepAliveInitialDelay?: number | undefined;
}

/** Options of every connection that a server accepts. */
export interface ServerOptions extends SocketOptions {}

/** Looks up a name, as `dns.lookup` does with `{ all: true }`; one address will do. */
export type LookupFunction = (
  hostname: string,
  options: { family: 0 | 4 | 6; hints?: number; all: true },
  callback: (
    error: Error | null,
    address: string | { address: string; family: number | string }[],
    family?: number | string,
  ) => void,
) => void;

/** Options of one connection. */
export interface ConnectionOptions extends SocketOptions {
  /** A number or digits; where `connect` has it as an argument too, that one counts. */
  port?: number | string | undefined;
  /** An address, or a name whose addresses are tried in turn. @default '127.0.0.1' */
  host?: string | null | undefined;
  /** Which addresses of a name to take: 4, 6, or 0 for both. @default 0 */
  family?: 0 | 4 | 6 | 'IPv4' | 'IPv6' | undefined;
  /** Flags for the lookup, of `dns`. */
  hints?: number | undefined;
  /** Looks the name up. @default dns.lookup */
  lookup?: LookupFunction | undefined;
  /** The address to connect from. */
  localAddress?: string | undefined;
  /** The port to connect from. */
  localPort?: number | undefined;
  /** Destroys the connection whenever it is aborted, with an `AbortError`; also a pipe with it. */
  signal?: AbortSignal | undefined;
  /**
   * As `setTimeout`, from the beginning of the attempt to connect. In milliseconds. It only emits an
   * event: whoever wants an attempt given up destroys the connection.
   */
  timeout?: number | undefined;
}

/** Where and how a server listens. */
export interface ListenOptions {
  /** A number or digits; 0 or none takes any free one. */
  port?: number | string | null | undefined;
  /** An address or a name. @default '0.0.0.0' */
  host?: string | null | undefined;
  /** How many connections may wait to be accepted; the system may hold it lower. @default 511 */
  backlog?: number | undefined;
  /** For `::`: take no IPv4 connections. @default false */
  ipv6Only?: boolean | undefined;
  /**
   * Let other servers, of other processes too, listen on the same port in the same way; the system
   * spreads connections over them (Linux and FreeBSD; elsewhere an error, `ENOTSUP`). A port that
   * another program has in this way is not an error then. The workers of `node:cluster` have it by
   * themselves; with port 0 each gets a port of its own.
   *
   * @default false
   */
  reusePort?: boolean | undefined;
  /** In a worker of `node:cluster`: do not share the port. @default false */
  exclusive?: boolean | undefined;
  /** Closes the server when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** How a pipe is to work. */
export interface PipeOptions {
  /**
   * Whether bytes stay within the kernel (`splice`; Linux alone, elsewhere it changes nothing).
   * That is for few large streams: it takes four descriptors a pipe, and is slow with many.
   *
   * @default false
   */
  splice?: boolean | undefined;
  /** Gives the pipe up, and closes both connections, when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** One way through a pipe. */
export interface PipeFlow {
  /** How many bytes have moved. */
  bytes: number;
  /** Whether the sender has ended its side, and the receiver was told so. */
  ended: boolean;
  /** Why the pipe ended before: the sender or the receiver failed, as by a reset. */
  error: SocketError | null;
}

/** What a pipe has moved, and how each side ended. */
export interface PipeResult {
  /** From the connection that was piped to the target. */
  forward: PipeFlow;
  /** Back; nothing for a connection that was piped to itself. */
  backward: PipeFlow;
}

/** What kept a pipe from its end. */
export interface PipeError extends SocketError {
  /** How far the pipe came; nothing where it was refused, and both connections are as before. */
  result?: PipeResult;
}

/**
 * Called when a pipe is over. An error is one that kept it from its end: it was refused or aborted,
 * a connection failed before it could begin, or was closed here.
 */
export type PipeCallback = (
  ...result: [error: null, result: PipeResult] | [error: PipeError, result: PipeResult | undefined]
) => void;

/** Called when a read is done: `bytesRead` is 0 at the end, and on an error. */
export type ReadCallback<B extends Uint8Array = Uint8Array> = (
  error: SocketError | null,
  buffer: B,
  bytesRead: number,
) => void;

/** Called when a read of the pool is done: without a buffer at the end, and on an error. */
export type PoolReadCallback = (
  ...result:
    | [error: null, buffer: Buffer, bytesRead: number]
    | [error: null, buffer: null, bytesRead: 0]
    | [error: SocketError, buffer: null, bytesRead: 0]
) => void;

/** Options of one write. */
export interface WriteOptions {
  /** Whether the buffer, one of the pool, is released when its bytes have left it. */
  release?: boolean | undefined;
}

/**
 * Called when the kernel has all of a write, with what was given and how many bytes that were. With
 * an error these are what was to be written, and say nothing of how much has left.
 */
export type WriteCallback<D = Uint8Array> = (
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

/** Called when our side is ended, or why it could not be, or `data` not be written. */
export type EndCallback = (error: SocketError | null) => void;

/** A listener of an event; `this` is who emits it. */
export type Listener<Emitter, Values extends unknown[]> = (this: Emitter, ...args: Values) => void;

/** Events of streams, which a {@link Connection} is not: it is read with `read`. */
export type NoEvent = 'data' | 'readable' | 'ready' | 'lookup';

/** What listens to `Events`, to those of a subclass, and to none that is `Refused`. Types alone. */
declare abstract class Emitter<
  Events extends { [E in keyof Events]: unknown[] },
  Refused extends string = never,
> extends EventEmitter {
  on<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  on<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
  once<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  once<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
  addListener<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  addListener<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
  prependListener<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  prependListener<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
  prependOnceListener<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  prependOnceListener<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
  off<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  off<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
  removeListener<E extends keyof Events>(event: E, listener: Listener<this, Events[E]>): this;
  removeListener<E extends string | symbol>(
    event: E extends keyof Events | Refused ? never : E,
    listener: Listener<this, any[]>,
  ): this;
}

// What is not exported above or below is not there at run time.
export {};

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
  /** Writes had waited, so that `writableNeedDrain` was set, and none does any more. */
  drain: [];
  /** Nothing was sent or received for as long as `setTimeout` said. Nothing is closed by it. */
  timeout: [];
  /** Everything is over; nothing comes after it. */
  close: [];
}

/** Which connection was dropped, or why none is accepted. */
export interface DropReason {
  error?: SocketError;
  localAddress?: string;
  localFamily?: string;
  localPort?: number;
  remoteAddress?: string;
  remoteFamily?: string;
  remotePort?: number;
}

/** What {@link Server} emits. */
export interface ServerEvents {
  connection: [connection: Connection];
  listening: [];
  /** Listening, or the lookup before it, failed. */
  error: [error: SocketError];
  /**
   * A connection could not be accepted, mostly for want of descriptors, and is tried again: then
   * there is an `error`. Or there were `maxConnections` already, and it was closed.
   */
  drop: [reason: DropReason];
  close: [];
}

/**
 * A TCP connection that reads into buffers, and writes from buffers, of the caller. Buffers are
 * lent from the call to its callback; callbacks never run within the call.
 */
export class Connection extends Emitter<ConnectionEvents, NoEvent> {
  /**
   * `connect` and servers make connections. One that is made by hand is never connected, and refuses
   * all operations with `ERR_SOCKET_CLOSED`.
   */
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
  /** Whether it is about to be connected. */
  readonly connecting: boolean;
  /** Whether it was closed, here or by a failure; its last callbacks may still be due. */
  readonly destroyed: boolean;
  /** What `setTimeout` was given, in milliseconds; 0 is none. */
  readonly timeout: number;

  /** How many bytes were received. */
  readonly bytesRead: number;
  /** How many bytes were written, those that wait among them. */
  readonly bytesWritten: number;
  /** How many written bytes the kernel has not taken yet. */
  readonly writableLength: number;
  /** How many bytes may wait before `writableNeedDrain` is set. */
  readonly writableHighWaterMark: number;
  /** Whether one should not write more before the event `drain`. */
  readonly writableNeedDrain: boolean;

  /** Addresses are there while it is connected; one that was read then stays afterwards. */
  readonly localAddress: string | undefined;
  readonly localFamily: string | undefined;
  readonly localPort: number | undefined;
  readonly remoteAddress: string | undefined;
  readonly remoteFamily: string | undefined;
  readonly remotePort: number | undefined;
  /** The local end; an empty object where it is not known. */
  address(): AddressInfo | {};

  /**
   * Reads what has arrived into `buffer`: at least one byte, or 0 at the end. Any number of reads
   * may be queued; they complete in order. The buffer does not change before its callback.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  read<B extends Uint8Array>(buffer: B, callback: ReadCallback<B>): void;
  /**
   * Reads into a buffer of the pool, which is taken only when there are bytes. Whoever gets it gives
   * it back, by `pool.release` or by writing it with `{ release: true }`. At the end, and with an
   * error, there is none.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  read(buffer: Pool, callback: PoolReadCallback): void;
  /** Reads into what may be either. */
  read<B extends Uint8Array>(
    buffer: B | Pool,
    callback: (error: SocketError | null, buffer: B | Buffer | null, bytesRead: number) => void,
  ): void;

  /**
   * Writes all of `data`, or its first `length` bytes. Says whether one may write on: `false` where
   * much waits, until the event `drain`, and the write is accepted all the same; and where nothing
   * is accepted any more, as after `end` or in a pipe, which the callback is told. An encoding is
   * taken as well, as in node:net, and changes nothing in bytes.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`, also for a string that is no encoding
   * @throws RangeError `ERR_OUT_OF_RANGE` for a length past the end of the buffer
   */
  write<B extends Uint8Array>(data: B, callback?: WriteCallback<B> | null): boolean;
  write<B extends Uint8Array>(
    data: B,
    length: number | BufferEncoding | null | undefined,
    callback?: WriteCallback<B> | null,
  ): boolean;
  /**
   * Writes bytes of a buffer of the pool, which is released as soon as they have left it, also
   * where the write fails; the program must not use it any more. How many bytes must be said: a
   * buffer of the pool is larger than what was read.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE` for a buffer that is not lent
   * @throws RangeError `ERR_OUT_OF_RANGE`
   */
  write<B extends Uint8Array>(
    data: B,
    length: number,
    options: WriteOptions | null | undefined,
    callback?: WriteCallback<B> | null,
  ): boolean;
  write<B extends Uint8Array>(
    data: B,
    length: number | BufferEncoding | null | undefined,
    options: { release?: false | undefined } | null | undefined,
    callback?: WriteCallback<B> | null,
  ): boolean;
  /**
   * Writes a string, in UTF-8 or `encoding`.
   *
   * @throws TypeError `ERR_UNKNOWN_ENCODING`
   */
  write(data: string, callback?: WriteCallback<string> | null): boolean;
  write(
    data: string,
    encoding: BufferEncoding | null | undefined,
    callback?: WriteCallback<string> | null,
  ): boolean;
  /** Writes what may be either. */
  write<D extends Uint8Array | string>(data: D, callback?: WriteCallback<D> | null): boolean;
  write<D extends Uint8Array | string>(
    data: D,
    encoding: BufferEncoding | null | undefined,
    callback?: WriteCallback<D> | null,
  ): boolean;

  /**
   * Writes any number of buffers, one behind the other, or the first `lengths[i]` bytes of each. Says
   * what `write` says.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE` where there is not one length
   *   for each buffer
   * @throws RangeError `ERR_OUT_OF_RANGE`
   */
  writev<B extends Uint8Array>(buffers: B[], callback?: WritevCallback<B> | null): boolean;
  writev<B extends Uint8Array>(
    buffers: B[],
    lengths: number[] | null | undefined,
    callback?: WritevCallback<B> | null,
  ): boolean;
  /** The callback gets the arrays that were given. */
  writev<B extends Uint8Array>(
    buffers: readonly B[],
    callback?:
      | ((error: SocketError | null, buffers: readonly B[], lengths: readonly number[]) => void)
      | null,
  ): boolean;
  writev<B extends Uint8Array>(
    buffers: readonly B[],
    lengths: readonly number[] | null | undefined,
    callback?:
      | ((error: SocketError | null, buffers: readonly B[], lengths: readonly number[]) => void)
      | null,
  ): boolean;

  /**
   * Ends our side, as soon as all that was written has left. Reading goes on.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  end(callback?: EndCallback | null): this;
  /**
   * Writes `data` before. Where that is refused, the callback is told why.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`, `ERR_UNKNOWN_ENCODING`
   */
  end(data: Uint8Array | string | null | undefined, callback?: EndCallback | null): this;
  end(
    data: Uint8Array | string | null | undefined,
    encoding: BufferEncoding | null | undefined,
    callback?: EndCallback | null,
  ): this;
  /**
   * Writes the first `length` bytes of `data` before.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   * @throws RangeError `ERR_OUT_OF_RANGE`
   */
  end(data: Uint8Array, length: number | null | undefined, callback?: EndCallback | null): this;

  /**
   * Closes the connection. What the kernel has taken still arrives; what is pending fails. Before
   * `connect` it waits until the writes that were queued were handed to the kernel. The callback
   * runs before those of pending reads, whose buffers are lent until then.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  close(callback?: (() => void) | null): void;

  /** Closes the connection at once; pending operations are told `error`, as it is. */
  destroy(error?: Error | null): this;

  /**
   * Closes the connection by a reset: what has not arrived is lost, and the peer is told so. One
   * that is not connected yet is reset when it is.
   */
  resetAndDestroy(): this;

  /** Closes the connection, and waits until it is closed. */
  [Symbol.asyncDispose](): Promise<void>;

  /**
   * Emits `timeout` when nothing was sent or received for so many milliseconds; 0 switches it off.
   * The callback is a listener for the next `timeout`; with 0 it is removed. The connection stays
   * open: whoever wants it closed destroys it.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   * @throws RangeError `ERR_OUT_OF_RANGE`
   */
  setTimeout(time: number, callback?: ((this: this) => void) | null): this;

  /** Whether small segments are sent at once (`TCP_NODELAY`). @default true */
  setNoDelay(noDelay?: boolean): this;

  /**
   * Whether an idle connection is probed, and after how many milliseconds; see
   * {@link SocketOptions.keepAliveInitialDelay}.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  setKeepAlive(enable?: boolean, initialDelay?: number): this;

  /** Reads wait, those that are queued too, until `resume`. */
  pause(): this;
  /** Reads go on. */
  resume(): this;
  /** Whether reads wait. */
  isPaused(): boolean;

  /**
   * Moves all that comes from this connection to `target`, and back, until both ways have ended, and
   * then closes both. No JavaScript runs for it. The end of one way is passed on, and the other goes
   * on. A reset is passed on as one. Piped to itself a connection echoes.
   *
   * It begins when both are connected and what was written to them has left. From the call on they
   * refuse reads, writes and `end`: their callbacks get `ERR_INVALID_STATE`, and `write` says
   * `false`. A connection with a read pending is refused here.
   * `close` or `destroy` of either gives the pipe up.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  pipe(target: Connection, options?: PipeOptions | null, callback?: null): Promise<PipeResult>;
  pipe(target: Connection, callback: PipeCallback): void;
  pipe(target: Connection, options: PipeOptions | null | undefined, callback: PipeCallback): void;
  /** Where there may be a callback, there may be a promise. */
  pipe(
    target: Connection,
    callback: PipeCallback | null | undefined,
  ): Promise<PipeResult> | undefined;
  pipe(
    target: Connection,
    options: PipeOptions | null | undefined,
    callback: PipeCallback | null | undefined,
  ): Promise<PipeResult> | undefined;

  /** Pending operations keep the process alive; the default. */
  ref(): this;
  /** Pending operations do not keep the process alive. */
  unref(): this;
}

/** A TCP server. */
export class Server extends Emitter<ServerEvents> {
  constructor(options?: ServerOptions | null);

  /**
   * What is connected now, in no order. It is the array itself: copy it before a loop that waits.
   */
  readonly connections: Connection[];
  allowHalfOpen: boolean;
  /** How many connections there may be; those past it are closed as they come. @default Infinity */
  maxConnections: number;
  /** Whether it listens. */
  readonly listening: boolean;

  /**
   * Where it listens: the address that was asked for, or that of the name, and the port.
   *
   * @throws Error `ERR_SERVER_NOT_RUNNING`
   */
  address(): AddressInfo;

  /**
   * Listens on `port` (a number or digits; 0 or none takes any free one) of `address` (an IPv4 or
   * IPv6 address or a name, by default `0.0.0.0`). `backlog` connections may wait to be accepted.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   * @throws RangeError `ERR_SOCKET_BAD_PORT`
   * @throws Error `ERR_SERVER_ALREADY_LISTEN`
   */
  listen(onlistening?: ((this: Server) => void) | null): this;
  listen(
    port: number | string | null | undefined,
    onlistening?: ((this: Server) => void) | null,
  ): this;
  listen(
    port: number | string | null | undefined,
    backlog: number,
    onlistening?: ((this: Server) => void) | null,
  ): this;
  listen(
    port: number | string | null | undefined,
    address: string | null | undefined,
    onlistening?: ((this: Server) => void) | null,
  ): this;
  listen(
    port: number | string | null | undefined,
    address: string | null | undefined,
    backlog: number | null | undefined,
    onlistening?: ((this: Server) => void) | null,
  ): this;
  listen(options: ListenOptions, onlistening?: ((this: Server) => void) | null): this;

  /**
   * Listens no more. Connections stay as they are, and are not waited for. The callbacks of all
   * calls until it is closed get `null`; where the server did not listen, or does not any more, it is
   * `ERR_SERVER_NOT_RUNNING`. Unlike in node:net they have no `this`.
   *
   * @throws TypeError `ERR_INVALID_ARG_TYPE`
   */
  close(callback?: ((error?: SocketError | null) => void) | null): this;

  /** Listens no more, and waits until that is so. */
  [Symbol.asyncDispose](): Promise<void>;

  /** Listening keeps the process alive; the default. */
  ref(): this;
  /** Listening does not keep the process alive. */
  unref(): this;
}

/**
 * Makes a server; `onconnection` hears its `connection` event.
 *
 * @throws TypeError `ERR_INVALID_ARG_TYPE`
 */
export function createServer(
  onconnection?: Listener<Server, [connection: Connection]> | null,
): Server;
export function createServer(
  options: ServerOptions | null | undefined,
  onconnection?: Listener<Server, [connection: Connection]> | null,
): Server;

/**
 * Connects to `port` of `host` (an address or a name, by default `127.0.0.1`). Reads and writes may
 * be called at once; they wait for the connection. The listener hears its `connect` event.
 *
 * @throws TypeError `ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE`, `ERR_INVALID_IP_ADDRESS`
 * @throws RangeError `ERR_SOCKET_BAD_PORT`, `ERR_OUT_OF_RANGE`
 * @throws Error a system error where there are no sockets at all, as for want of descriptors
 */
export function connect(
  port: number | string,
  onconnect?: ((this: Connection) => void) | null,
): Connection;
export function connect(
  port: number | string,
  host: string | ConnectionOptions | null | undefined,
  onconnect?: ((this: Connection) => void) | null,
): Connection;
export function connect(
  port: number | string,
  host: string | null | undefined,
  options: ConnectionOptions | null | undefined,
  onconnect?: ((this: Connection) => void) | null,
): Connection;
export function connect(
  options: ConnectionOptions & { port: number | string },
  onconnect?: ((this: Connection) => void) | null,
): Connection;

/**
 * Buffers of 64 KB that reads share: `connection.read(pool, callback)` takes one when bytes are
 * there, so that connections without traffic have none.
 */
export interface Pool {
  /** How large its buffers are, in bytes. */
  readonly bufferSize: number;
  /** How many buffers were handed out and not released. */
  readonly lent: number;
  /**
   * Takes a buffer back.
   *
   * @throws TypeError `ERR_INVALID_ARG_VALUE` for one that is not lent, or not any more: one that a
   *   write with `{ release: true }` has already, too
   */
  release(buffer: Uint8Array): void;
}

/** The pool of this thread. */
export const pool: Pool;

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

/**
 * For how many microseconds the event loop of this thread asks again and again what is ready, instead
 * of sleeping: from 0 to 1000. What comes meanwhile costs no change of threads, which is a large part
 * of a message where few are under way. It is 30 by default, about what such a change costs, and is
 * done only where it mostly finds something. A longer time answers faster, and takes more of a core;
 * 0 is never to do it. Only the driver in Node's event loop does it.
 *
 * @throws TypeError `ERR_INVALID_ARG_TYPE`
 * @throws RangeError `ERR_OUT_OF_RANGE`
 */
export function setBusyPoll(microseconds: number): void;
