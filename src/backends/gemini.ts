/** Gemini CLI. */
import { type Backend, type HomeFile, type LaunchContext, type McpServer, type OneShotEnd, PLACEHOLDER_KEY } from './backend.ts';
import { countBy, jsonFile, jsonLines, numberIn, objectIn, textIn } from './json-lines.ts';
import { mcpServersByName } from './mcp-servers.ts';
import { programOf } from './tool-places.ts';

export const gemini: Backend = {
  name: 'gemini',
  title: 'Gemini CLI',
  packages: [{ name: '@google/gemini-cli', version: '0.61.0' }],
  binaries: ['gemini'],
  model: { protocol: 'gemini', provider: 'gemini', mustBeNamed: false },
  acp: {
    launch: (context) => ({
      argv: [programOf(context.tools, gemini, 'gemini'), '--acp', '--skip-trust', ...modelArguments(context)],
      env: environment(context),
      files: [settings([])],
    }),
    mode: ({ permissions }) => (permissions === 'allow' ? 'yolo' : 'default'),
    canAsk: true,
    // It says that it can load sessions, and then does not know them.
    quirks: {
      oneSessionPerProcess: false,
      exitsOnStdinClose: false,
      loadsSessions: false,
      readyAfterMs: 0,
      defersMcpTools: false,
      titlesTellArguments: true,
    },
  },
  oneShot: {
    launch: ({ prompt, mcpServers, ...context }) => ({
      // Without --yolo what changes anything is not even offered to the model.
      argv: [
        programOf(context.tools, gemini, 'gemini'),
        ...['--yolo', '--skip-trust', '--output-format', 'stream-json', ...modelArguments(context)],
      ],
      env: environment(context),
      stdin: prompt,
      files: [settings(mcpServers)],
    }),
    parseEnd,
  },
};

function modelArguments({ model }: LaunchContext): string[] {
  return model === undefined ? [] : ['-m', model];
}

function environment({ baseUrl }: LaunchContext): Record<string, string> {
  return {
    GEMINI_API_KEY: PLACEHOLDER_KEY,
    GOOGLE_GEMINI_BASE_URL: baseUrl,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_TELEMETRY_ENABLED: 'false',
  };
}

function settings(mcpServers: readonly McpServer[]): HomeFile {
  return {
    path: '.gemini/settings.json',
    text: jsonFile({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      mcpServers: mcpServersByName(mcpServers),
    }),
  };
}

function parseEnd(stdout: string): OneShotEnd | undefined {
  const events = jsonLines(stdout);
  const end = events.findLast(({ type }) => type === 'result');
  if (end === undefined) return undefined;
  const stats = objectIn(end, 'stats');
  const isError = end['status'] !== 'success';
  const said = events.filter(({ type, role }) => type === 'message' && role === 'assistant').map((event) => textIn(event, 'content'));
  const calls = events.filter(({ type }) => type === 'tool_use');
  return {
    isError,
    text: isError ? textIn(objectIn(end, 'error'), 'message') : said.join(''),
    toolCalls: countBy(calls, 'tool_id'),
    usage: { inputTokens: numberIn(stats, 'input_tokens'), outputTokens: numberIn(stats, 'output_tokens') },
  };
}
