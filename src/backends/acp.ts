/** Any other agent that speaks the Agent Client Protocol: what to start is configured in the tool directory by whoever runs the machine. */
import { join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { Backend, CustomAgent, LaunchContext } from './backend.ts';

export const acp: Backend = {
  name: 'acp',
  title: 'Agent Client Protocol',
  packages: [],
  binaries: [],
  model: { protocol: 'openai-chat', provider: 'openai', mustBeNamed: false },
  acp: {
    launch: (context) => {
      const { argv, env } = configured(context);
      return { argv, env: filled(env, context), files: [] };
    },
    mode: ({ custom }) => custom?.mode,
    // What is not known is taken to be as bad as the worst that is.
    quirks: { oneSessionPerProcess: true, exitsOnStdinClose: false, loadsSessions: false, readyAfterMs: 4_000, defersMcpTools: true },
  },
};

export function customAgentPath(tools: string): string {
  return join(tools, 'acp', 'agent.json');
}

/** {"argv": ["/opt/agentiso/tools/acp/bin/goose", "acp"], "env": {"OPENAI_HOST": "{baseUrl}"}, "mode": "auto"} */
export function parseCustomAgent(text: string): CustomAgent {
  const value: unknown = JSON.parse(text);
  const { argv, env = {}, mode, ...unknown } = isObject(value) ? value : {};
  const wrong = (what: string) => new AgentisoError('Invalid', `acp/agent.json: ${what}`, { reason: 'BackendMissing' });
  if (!isTexts(argv) || argv[0] === undefined) throw wrong('argv must be a list of texts, the program first');
  if (!isObject(env) || !isTexts(Object.values(env))) throw wrong('env must be an object of texts');
  if (mode !== undefined && typeof mode !== 'string') throw wrong('mode must be a text');
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw wrong(`${name} is not known; argv, env and mode are`);
  const [program, ...rest] = argv;
  return { argv: [program, ...rest], env: env as Record<string, string>, ...(mode !== undefined && { mode }) };
}

function configured({ custom, tools }: LaunchContext): CustomAgent {
  if (custom) return custom;
  throw new AgentisoError('Unavailable', `the backend acp is not configured: ${customAgentPath(tools)} is missing`, {
    reason: 'BackendMissing',
  });
}

function filled(env: CustomAgent['env'], { baseUrl, model = '', home }: LaunchContext): Record<string, string> {
  const values: Readonly<Record<string, string>> = { baseUrl, model, home };
  const fill = (text: string) => text.replace(/\{(baseUrl|model|home)\}/g, (_, name: string) => values[name] ?? '');
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
