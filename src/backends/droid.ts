/** Droid, air-gapped: nothing of it talks to its maker. */
import { type Backend, type HomeFile, type LaunchContext, type McpServer, type OneShotEnd, PLACEHOLDER_KEY } from './backend.ts';
import { countBy, jsonFile, jsonLines, numberIn, objectIn, textIn } from './json-lines.ts';
import { typedMcpServers } from './mcp-servers.ts';
import { programOf } from './tool-places.ts';

const MODEL = 'custom:agentiso-0';

export const droid: Backend = {
  name: 'droid',
  title: 'Droid',
  packages: [{ name: 'droid', version: '0.215.0' }],
  binaries: ['droid'],
  model: { protocol: 'openai-chat', provider: 'openai', mustBeNamed: true },
  acp: {
    launch: (context) => ({
      argv: [programOf(context.tools, droid, 'droid'), 'exec', '--output-format', 'acp', '--model', MODEL],
      // A session wants a key to its maker, though it never goes there.
      env: { ...environment(context), FACTORY_API_KEY: 'fk-agentiso-placeholder' },
      files: [settings(context)],
    }),
    // --auto does not set the mode of a session.
    mode: ({ permissions }) => (permissions === 'allow' ? 'auto-high' : 'normal'),
    canAsk: true,
    quirks: { oneSessionPerProcess: true, exitsOnStdinClose: true, loadsSessions: true, readyAfterMs: 4_000, defersMcpTools: true },
  },
  oneShot: {
    launch: ({ prompt, mcpServers, ...context }) => ({
      // Tools of MCP servers are refused below `high`.
      argv: [programOf(context.tools, droid, 'droid'), 'exec', '--output-format', 'stream-json', '--auto', 'high', '--model', MODEL],
      env: environment(context),
      stdin: prompt,
      files: [settings(context), mcpFile(mcpServers)],
    }),
    parseEnd,
  },
};

function environment({ baseUrl }: LaunchContext): Record<string, string> {
  const makers = ['FACTORY_API_BASE_URL', 'FACTORY_APP_BASE_URL', 'FACTORY_TELEMETRY_INGEST_BASE_URL', 'FACTORY_WORKOS_BASE_URL'];
  return {
    FACTORY_AIRGAP_ENABLED: 'true',
    FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false',
    FACTORY_OTEL_ENABLED: 'false',
    FACTORY_DISABLE_KEYRING: 'true',
    // Whatever it asks all the same ends here, where nobody knows the path.
    ...Object.fromEntries([...makers, 'FACTORY_RELAY_BASE_URL'].map((name) => [name, baseUrl])),
  };
}

function settings({ baseUrl, model = '' }: LaunchContext): HomeFile {
  const custom = {
    model,
    id: MODEL,
    index: 0,
    displayName: 'agentiso',
    baseUrl: `${baseUrl}/v1`,
    apiKey: PLACEHOLDER_KEY,
    provider: 'generic-chat-completion-api',
    maxOutputTokens: 8_192,
  };
  return {
    path: '.factory/settings.json',
    // Otherwise the first request goes out before the tools of MCP servers are known.
    text: jsonFile({ enableDroidShield: false, cloudSessionSync: false, blockOnMcpLoad: true, model: MODEL, customModels: [custom] }),
  };
}

function mcpFile(mcpServers: readonly McpServer[]): HomeFile {
  return { path: '.factory/mcp.json', text: jsonFile({ mcpServers: typedMcpServers(mcpServers) }) };
}

function parseEnd(stdout: string): OneShotEnd | undefined {
  const lines = jsonLines(stdout);
  const end = lines.findLast(({ type }) => type === 'completion' || type === 'error');
  if (end === undefined) return undefined;
  const calls = lines.filter(({ type }) => type === 'tool_call');
  const toolCalls = countBy(calls, 'id');
  if (end['type'] === 'error') return { isError: true, text: textIn(end, 'message'), toolCalls };
  const usage = objectIn(end, 'usage');
  return {
    isError: false,
    text: textIn(end, 'finalText'),
    toolCalls,
    usage: { inputTokens: numberIn(usage, 'input_tokens'), outputTokens: numberIn(usage, 'output_tokens') },
  };
}
