/** Qwen Code. Began as a copy of Gemini CLI and has gone its own way since. */
import { type Backend, type HomeFile, type LaunchContext, type McpServer, PLACEHOLDER_KEY } from './backend.ts';
import { jsonFile } from './json-lines.ts';
import { mcpServersByName } from './mcp-servers.ts';
import { resultLine } from './result-line.ts';
import { programOf } from './tool-places.ts';

export const qwen: Backend = {
  name: 'qwen',
  title: 'Qwen Code',
  packages: [{ name: '@qwen-code/qwen-code', version: '0.24.4' }],
  binaries: ['qwen'],
  model: { protocol: 'openai-chat', provider: 'openai', mustBeNamed: true },
  acp: {
    launch: (context) => ({
      argv: [programOf(context.tools, qwen, 'qwen'), '--acp', '--auth-type', 'openai'],
      // Otherwise the first prompt goes out before the tools of MCP servers are known.
      env: { ...environment(context), QWEN_CODE_LEGACY_MCP_BLOCKING: '1' },
      files: [settings(context, [])],
    }),
    // It begins in `auto`, where a model decides.
    mode: ({ permissions }) => (permissions === 'allow' ? 'yolo' : 'default'),
    canAsk: true,
    quirks: { oneSessionPerProcess: false, exitsOnStdinClose: false, loadsSessions: true, readyAfterMs: 0, defersMcpTools: false },
  },
  oneShot: {
    launch: ({ prompt, mcpServers, ...context }) => ({
      argv: [programOf(context.tools, qwen, 'qwen'), '--yolo', '--auth-type', 'openai', '--output-format', 'stream-json'],
      env: { ...environment(context), QWEN_CODE_LEGACY_MCP_BLOCKING: '1' },
      stdin: prompt,
      files: [settings(context, mcpServers)],
    }),
    parseEnd: resultLine,
  },
};

function environment({ baseUrl, model }: LaunchContext): Record<string, string> {
  return {
    OPENAI_API_KEY: PLACEHOLDER_KEY,
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    ...(model !== undefined && { OPENAI_MODEL: model }),
    QWEN_TELEMETRY_ENABLED: 'false',
  };
}

function settings({ model }: LaunchContext, mcpServers: readonly McpServer[]): HomeFile {
  return {
    path: '.qwen/settings.json',
    text: jsonFile({
      security: { auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      ...(model !== undefined && { model: { name: model } }),
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      // Tools of the team are few: a model need not look for them. And send_message is for its own sub-agents, not for the team.
      permissions: { deny: ['tool_search', 'send_message'] },
      // Otherwise a turn in the background plays the prompt again.
      memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
      mcpServers: mcpServersByName(mcpServers),
    }),
  };
}
