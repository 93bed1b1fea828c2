import { Connection, Server, connect, createServer } from 'oxwire';

export * from './index.js';
declare const turbo: {
  Connection: typeof Connection;
  Server: typeof Server;
  connect: typeof connect;
  createServer: typeof createServer;
};
export default turbo;
