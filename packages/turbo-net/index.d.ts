export { Connection, Server, connect, createServer } from 'oxwire';
export type {
  AddressInfo,
  ConnectionEvents,
  ConnectionOptions,
  ReadCallback,
  ServerEvents,
  ServerOptions,
  SocketError,
  WriteCallback,
  WritevCallback,
} from 'oxwire';
