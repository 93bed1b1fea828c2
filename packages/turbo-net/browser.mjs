import turbo from './browser.js';

export const { Connection, Server, connect, createServer } = turbo;
export default turbo;
