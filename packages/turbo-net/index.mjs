import { Connection, Server, connect, createServer } from 'oxwire';

export { Connection, Server, connect, createServer };
// As an import of turbo-net itself has it.
export default { Connection, Server, connect, createServer };
