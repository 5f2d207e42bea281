/** MCP servers as the configurations of agents have them. Pure. */
import type { McpServer } from './backend.ts';

type Entry = Pick<McpServer, 'command' | 'args' | 'env'>;

export function mcpServersByName(servers: readonly McpServer[]): Record<string, Entry> {
  return Object.fromEntries(servers.map(({ name, command, args, env }) => [name, { command, args, env }]));
}

export function typedMcpServers(servers: readonly McpServer[]): Record<string, Entry & { type: 'stdio' }> {
  return Object.fromEntries(servers.map(({ name, command, args, env }) => [name, { type: 'stdio', command, args, env }]));
}
