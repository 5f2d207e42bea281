/** How well-known MCP clients are told of `team mcp`: one file each, below a home. Pure. No token: the socket says who asks. */

export interface ServerPlace {
  /** The program `team`. */
  readonly command: string;
  /** Clients start servers with little of their environment: what the program needs stands in the file. */
  readonly socket: string;
  readonly node: string;
}

export interface ClientConfig {
  readonly client: string;
  /** Relative to the home. */
  readonly path: string;
  readonly text: string;
}

const NAME = 'agentiso';
/** Longer than the longest wait. */
const TOOL_TIMEOUT_SECONDS = 150;

export function clientConfigs({ command, socket, node }: ServerPlace): readonly ClientConfig[] {
  const args = ['mcp'];
  const env = { AGENTISO_SOCKET: socket, AGENTISO_NODE: node };
  const stdio = json({ mcpServers: { [NAME]: { type: 'stdio', command, args, env } } });
  const untyped = json({ mcpServers: { [NAME]: { command, args, env } } });
  const local = json({ mcp: { [NAME]: { type: 'local', command: [command, ...args], environment: env, enabled: true } } });
  return [
    { client: 'claude', path: '.claude.json', text: stdio },
    { client: 'codex', path: '.codex/config.toml', text: codex(command, args, env) },
    { client: 'gemini', path: '.gemini/settings.json', text: untyped },
    { client: 'qwen', path: '.qwen/settings.json', text: untyped },
    { client: 'opencode', path: '.config/opencode/opencode.json', text: local },
    { client: 'droid', path: '.factory/mcp.json', text: stdio },
    { client: 'cursor', path: '.cursor/mcp.json', text: untyped },
    { client: 'others', path: '.config/agentiso/mcp.json', text: stdio },
  ];
}

/** Strings and lists of them are written in TOML as in JSON. */
function codex(command: string, args: readonly string[], env: Readonly<Record<string, string>>): string {
  const start = [`command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`, `tool_timeout_sec = ${TOOL_TIMEOUT_SECONDS}`];
  const variables = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return [`[mcp_servers.${NAME}]`, ...start, '', `[mcp_servers.${NAME}.env]`, ...variables, ''].join('\n');
}

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
