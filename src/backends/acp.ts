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
    canAsk: true,
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
  const fields = isObject(value) ? value : {};
  for (const [name, parser] of Object.entries(FIELDS)) {
    const isGood = fields[name] === undefined ? name !== 'argv' : parser.accepts(fields[name]);
    if (!isGood) throw wrong(`${name} must be ${parser.words}`);
  }
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(FIELDS, name));
  if (unknown !== undefined) throw wrong(`${unknown} is not known; ${Object.keys(FIELDS).join(', ')} are`);
  // Each was looked at above.
  return { env: {}, ...fields } as unknown as CustomAgent;
}

const FIELDS = {
  argv: { accepts: (value: unknown) => isTexts(value) && value.length > 0, words: 'a list of texts, the program first' },
  env: { accepts: (value: unknown) => isObject(value) && isTexts(Object.values(value)), words: 'an object of texts' },
  mode: { accepts: (value: unknown) => typeof value === 'string', words: 'a text' },
  readyAfterMs: { accepts: isMilliseconds, words: 'a number from 0 to 60000' },
  loadsSessions: { accepts: (value: unknown) => typeof value === 'boolean', words: 'true or false' },
};

function wrong(what: string): AgentisoError {
  return new AgentisoError('Invalid', `acp/agent.json: ${what}`, { reason: 'BackendMissing' });
}

function isMilliseconds(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 60_000;
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
