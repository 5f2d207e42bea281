/** The least server that the SDK of MCP makes: one tool, which says again what it was told. Its schema is zod's, as in the SDK's own examples. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

export function makeEchoServer(): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  const about = { description: 'Says again what it was told.', inputSchema: { message: z.string() } };
  server.registerTool('echo', about, ({ message }) => ({ content: [{ type: 'text', text: message }] }));
  return server;
}
