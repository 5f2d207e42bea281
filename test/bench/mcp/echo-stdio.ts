/** The echo server over stdio. Bundled. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { makeEchoServer } from './echo-server.ts';

await makeEchoServer().connect(new StdioServerTransport());
