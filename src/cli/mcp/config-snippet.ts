/** What a client of MCP has to be told to start this program. Pure. */
import { resolve } from 'node:path';

export const CONFIG_CLIENTS: readonly string[] = ['claude', 'codex', 'cursor', 'gemini', 'vscode'];

/** The folder by its whole path: clients start programs anywhere. */
export function configFor(client: string, cwd: string, home: string): string {
  const args = ['mcp', '--home', resolve(cwd, home)];
  if (client === 'codex') return `[mcp_servers.agentiso]\ncommand = "agentiso"\nargs = ${JSON.stringify(args)}\n`;
  const key = client === 'vscode' ? 'servers' : 'mcpServers';
  return `${JSON.stringify({ [key]: { agentiso: { command: 'agentiso', args } } }, undefined, 2)}\n`;
}
