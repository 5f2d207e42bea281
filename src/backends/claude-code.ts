/** Claude Code. Almost everything is said by environment and arguments. */
import { type Backend, type HomeFile, type LaunchContext, PLACEHOLDER_KEY } from './backend.ts';
import { jsonFile } from './json-lines.ts';
import { mcpServersByName } from './mcp-servers.ts';
import { resultLine } from './result-line.ts';
import { programOf } from './tool-places.ts';

/** Not by --dangerously-skip-permissions, which it refuses to root: a workspace that is a plain process may be root's. */
const ALLOWED = ['Bash', 'Edit', 'Write', 'NotebookEdit', 'WebFetch', 'WebSearch'];

/** Tools that a model takes for the team's, or that are for later times and other worktrees: a task is one turn in one workspace. */
const DENIED = [
  ...['SendMessage', 'ListAgents', 'CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'],
  ...['EnterWorktree', 'ExitWorktree'],
];
const SETTINGS: HomeFile = { path: '.claude/settings.json', text: jsonFile({ permissions: { deny: DENIED } }) };

export const claudeCode: Backend = {
  name: 'claude-code',
  title: 'Claude Code',
  packages: [
    { name: '@anthropic-ai/claude-code', version: '2.1.325' },
    { name: '@agentclientprotocol/claude-agent-acp', version: '0.99.1' },
  ],
  binaries: ['claude', 'claude-agent-acp'],
  model: { protocol: 'anthropic-messages', provider: 'anthropic', mustBeNamed: false },
  acp: {
    launch: (context) => ({
      argv: [program(context, 'claude-agent-acp')],
      // Its adapter brings an agent of its own: one release is enough to know.
      env: { ...environment(context), CLAUDE_CODE_EXECUTABLE: program(context, 'claude') },
      files: [SETTINGS],
    }),
    // Asks before MCP, Write and Bash; who allows everything answers so.
    mode: () => 'default',
    canAsk: true,
    quirks: { oneSessionPerProcess: false, exitsOnStdinClose: true, loadsSessions: true, readyAfterMs: 0, defersMcpTools: false },
  },
  oneShot: {
    launch: ({ prompt, mcpServers, ...context }) => ({
      argv: [
        program(context, 'claude'),
        ...['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'acceptEdits'],
        ...['--allowedTools', [...ALLOWED, ...mcpServers.map(({ name }) => `mcp__${name}`)].join(',')],
        ...['--strict-mcp-config', '--mcp-config', JSON.stringify({ mcpServers: mcpServersByName(mcpServers) })],
      ],
      env: environment(context),
      stdin: prompt,
      files: [SETTINGS],
    }),
    parseEnd: resultLine,
  },
};

function program({ tools }: LaunchContext, binary: string): string {
  return programOf(tools, claudeCode, binary);
}

function environment({ baseUrl, home, model }: LaunchContext): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_API_KEY: PLACEHOLDER_KEY,
    ...(model !== undefined && { ANTHROPIC_MODEL: model }),
    CLAUDE_CONFIG_DIR: `${home}/.claude`,
    // Tools of the team are few, and a model that has to look for them first often does not.
    ENABLE_TOOL_SEARCH: 'false',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_BUG_COMMAND: '1',
  };
}
