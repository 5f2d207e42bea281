/** OpenCode. The heaviest of them: up to 1.4 GB of memory. */
import {
  type AcpContext,
  type Backend,
  type HomeFile,
  type LaunchContext,
  type McpServer,
  type OneShotEnd,
  PLACEHOLDER_KEY,
} from './backend.ts';
import { countBy, jsonFile, jsonLines, numberIn, objectIn, textIn } from './json-lines.ts';
import { programOf } from './tool-places.ts';

const PROVIDER = 'agentiso';

export const opencode: Backend = {
  name: 'opencode',
  title: 'OpenCode',
  packages: [{ name: 'opencode-ai', version: '1.18.33' }],
  binaries: ['opencode'],
  model: { protocol: 'openai-chat', provider: 'openai', mustBeNamed: true },
  acp: {
    launch: (context) => ({
      argv: [programOf(context.tools, opencode, 'opencode'), 'acp', '--pure'],
      env: { ...QUIET, ...permissionsOf(context) },
      files: [configuration(context, [])],
    }),
    // Permissions are said by the environment.
    mode: () => undefined,
    canAsk: true,
    quirks: { oneSessionPerProcess: false, exitsOnStdinClose: true, loadsSessions: true, readyAfterMs: 0, defersMcpTools: false },
  },
  oneShot: {
    launch: ({ prompt, mcpServers, ...context }) => ({
      argv: [programOf(context.tools, opencode, 'opencode'), 'run', '--pure', '--format', 'json', '--auto'],
      env: QUIET,
      stdin: prompt,
      files: [configuration(context, mcpServers)],
    }),
    parseEnd,
  },
};

const QUIET = {
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  OPENCODE_DISABLE_SHARE: '1',
};

function permissionsOf({ permissions }: AcpContext): Record<string, string> {
  return permissions === 'allow' ? {} : { OPENCODE_PERMISSION: JSON.stringify({ '*': 'ask', edit: 'ask', bash: 'ask' }) };
}

function configuration({ baseUrl, model = '' }: LaunchContext, mcpServers: readonly McpServer[]): HomeFile {
  const options = { baseURL: `${baseUrl}/v1`, apiKey: PLACEHOLDER_KEY };
  const models = { [model]: { name: model, tool_call: true, limit: { context: 128_000, output: 8_192 } } };
  return {
    path: '.config/opencode/opencode.json',
    text: jsonFile({
      autoupdate: false,
      share: 'disabled',
      model: `${PROVIDER}/${model}`,
      small_model: `${PROVIDER}/${model}`,
      enabled_providers: [PROVIDER],
      lsp: false,
      formatter: false,
      provider: { [PROVIDER]: { npm: '@ai-sdk/openai-compatible', name: 'agentiso', options, models } },
      mcp: Object.fromEntries(
        mcpServers.map(({ name, command, args, env }) => [
          name,
          { type: 'local', command: [command, ...args], environment: env, enabled: true },
        ]),
      ),
    }),
  };
}

/** One line per step; the last one that is no call of tools ends the turn. */
function parseEnd(stdout: string): OneShotEnd | undefined {
  const events = jsonLines(stdout);
  const calls = events.filter(({ type }) => type === 'tool_use').map((event) => objectIn(event, 'part'));
  const toolCalls = countBy(calls, 'callID');
  const failure = events.findLast(({ type }) => type === 'error');
  if (failure) {
    const error = objectIn(failure, 'error');
    return { isError: true, text: textIn(objectIn(error, 'data'), 'message') || textIn(error, 'name'), toolCalls };
  }
  const finished = events.filter(({ type }) => type === 'step_finish').map((event) => objectIn(event, 'part'));
  const last = finished.at(-1);
  if (last === undefined || textIn(last, 'reason') === 'tool-calls') return undefined;
  const sum = (name: string) => finished.reduce((total, part) => total + numberIn(objectIn(part, 'tokens'), name), 0);
  const words = events.findLast(({ type }) => type === 'text');
  return {
    isError: false,
    text: textIn(objectIn(words, 'part'), 'text'),
    toolCalls,
    usage: {
      inputTokens: sum('input'),
      outputTokens: sum('output'),
      costUsd: finished.reduce((total, part) => total + numberIn(part, 'cost'), 0),
    },
  };
}
