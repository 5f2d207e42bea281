/** Which provider of models an agent may use, and thereby whose key its requests are given. Pure, and the only place that says so. */
import type { Agent } from './types.ts';

/** What each backend talks to where the spec names no other. `shell` and `acp` talk to whoever their command does: to none, unless named. */
const OF_BACKEND: Readonly<Record<Agent['spec']['backend'], string | undefined>> = {
  shell: undefined,
  'claude-code': 'anthropic',
  codex: 'openai',
  gemini: 'gemini',
  qwen: 'openai',
  droid: 'openai',
  opencode: 'openai',
  acp: undefined,
};

/** Of the backend really in use: a fallback has its own, unless the spec names one for all. */
export function providerOf({ spec, status }: Pick<Agent, 'spec' | 'status'>): string | undefined {
  return spec.provider ?? providerOfBackend(status?.backend ?? spec.backend);
}

export function providerOfBackend(backend: string): string | undefined {
  return Object.hasOwn(OF_BACKEND, backend) ? OF_BACKEND[backend as Agent['spec']['backend']] : undefined;
}
