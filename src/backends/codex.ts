/** Codex. Everything is in its configuration file. */
import {
  type AcpContext,
  type Backend,
  type HomeFile,
  type LaunchContext,
  type McpServer,
  type OneShotEnd,
  PLACEHOLDER_KEY,
} from './backend.ts';
import { countBy, jsonLines, numberIn, objectIn, textIn } from './json-lines.ts';
import { programOf } from './tool-places.ts';

/** Each looks something up on the network when it starts. */
const FEATURES_OFF = [
  ...['plugins', 'remote_plugin', 'plugin_sharing', 'plugin_discovery_prefetch', 'apps', 'api_key_model_discovery'],
  'skill_mcp_dependency_install',
];
/** Longer than the longest wait of the team's tools. */
const TOOL_TIMEOUT_SECONDS = 150;
/** Each waits twice as long as the one before, from 0.2 s: enough for a daemon that starts anew. */
const RETRIES = 6;

export const codex: Backend = {
  name: 'codex',
  title: 'Codex',
  packages: [
    { name: '@openai/codex', version: '0.166.0' },
    { name: '@agentclientprotocol/codex-acp', version: '2.6.0' },
  ],
  binaries: ['codex', 'codex-acp'],
  model: { protocol: 'openai-responses', provider: 'openai', mustBeNamed: false },
  acp: {
    launch: (context) => ({
      argv: [programOf(context.tools, codex, 'codex-acp')],
      env: { ...environment(context), INITIAL_AGENT_MODE: modeOf(context) },
      files: [configuration(context, [])],
    }),
    mode: modeOf,
    // Where it asks it also wants a sandbox of its own, which ours does not allow: its commands would all fail.
    canAsk: false,
    quirks: { oneSessionPerProcess: false, exitsOnStdinClose: false, loadsSessions: true, readyAfterMs: 0, defersMcpTools: false },
  },
  oneShot: {
    launch: ({ prompt, mcpServers, ...context }) => ({
      argv: [programOf(context.tools, codex, 'codex'), 'exec', '--json', '--skip-git-repo-check', '-'],
      env: environment(context),
      stdin: prompt,
      files: [configuration(context, mcpServers)],
    }),
    parseEnd,
  },
};

/** In its default mode a model decides on tools of MCP servers, and in workspace-write it wants a sandbox of its own. */
function modeOf({ permissions }: AcpContext): string {
  return permissions === 'allow' ? 'agent-full-access' : 'workspace-write';
}

function environment({ home }: LaunchContext): Record<string, string> {
  return { CODEX_HOME: `${home}/.codex`, AGENTISO_MODEL_KEY: PLACEHOLDER_KEY };
}

/** Strings and lists of them are written in TOML as in JSON. */
function configuration({ baseUrl, model, workspace }: LaunchContext, mcpServers: readonly McpServer[]): HomeFile {
  const lines = [
    ...(model === undefined ? [] : [`model = ${JSON.stringify(model)}`]),
    'model_provider = "agentiso"',
    'approval_policy = "never"',
    'sandbox_mode = "danger-full-access"',
    'check_for_update_on_startup = false',
    'analytics.enabled = false',
    'feedback.enabled = false',
    `projects.${JSON.stringify(workspace)}.trust_level = "trusted"`,
    ...['', '[model_providers.agentiso]', 'name = "agentiso"', `base_url = ${JSON.stringify(`${baseUrl}/v1`)}`],
    ...['env_key = "AGENTISO_MODEL_KEY"', 'wire_api = "responses"'],
    ...[`request_max_retries = ${RETRIES}`, `stream_max_retries = ${RETRIES}`],
    ...['', '[features]', ...FEATURES_OFF.map((name) => `${name} = false`)],
    ...mcpServers.flatMap(mcpServerLines),
    '',
  ];
  return { path: '.codex/config.toml', text: lines.join('\n') };
}

function mcpServerLines({ name, command, args, env }: McpServer): string[] {
  const variables = Object.entries(env).map(([variable, value]) => `${variable} = ${JSON.stringify(value)}`);
  return [
    ...['', `[mcp_servers.${name}]`, `command = ${JSON.stringify(command)}`, `args = ${JSON.stringify(args)}`],
    `tool_timeout_sec = ${TOOL_TIMEOUT_SECONDS}`,
    ...['', `[mcp_servers.${name}.env]`, ...variables],
  ];
}

/** What its items are beside calls of tools. */
const WORDS: ReadonlySet<unknown> = new Set(['agent_message', 'reasoning', 'todo_list', 'error']);

function parseEnd(stdout: string): OneShotEnd | undefined {
  const events = jsonLines(stdout);
  const end = events.findLast(({ type }) => type === 'turn.completed' || type === 'turn.failed');
  if (end === undefined) return undefined;
  const items = events.filter(({ type }) => type === 'item.completed').map((event) => objectIn(event, 'item'));
  const calls = items.filter(({ type }) => !WORDS.has(type));
  const toolCalls = countBy(calls, 'id');
  if (end['type'] === 'turn.failed') return { isError: true, text: textIn(objectIn(end, 'error'), 'message'), toolCalls };
  const usage = objectIn(end, 'usage');
  return {
    isError: false,
    text: textIn(
      items.findLast(({ type }) => type === 'agent_message'),
      'text',
    ),
    toolCalls,
    usage: { inputTokens: numberIn(usage, 'input_tokens'), outputTokens: numberIn(usage, 'output_tokens') },
  };
}
