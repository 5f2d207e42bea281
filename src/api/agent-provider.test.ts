import { expect, it } from 'vitest';
import { providerOf } from './agent-provider.ts';
import type { Agent } from './types.ts';

const agent = (spec: object, status: object = {}) => ({ spec, status }) as Agent;

it.each([
  [agent({ backend: 'claude-code' }), 'anthropic'],
  [agent({ backend: 'codex' }), 'openai'],
  [agent({ backend: 'gemini' }), 'gemini'],
  [agent({ backend: 'qwen', provider: 'mine' }), 'mine'],
  [agent({ backend: 'codex', provider: null }), 'openai'],
  [agent({ backend: 'codex' }, { backend: 'claude-code' }), 'anthropic'],
  [agent({ backend: 'shell' }), undefined],
  [agent({ backend: 'shell', provider: 'anthropic' }), 'anthropic'],
  [agent({ backend: 'acp' }), undefined],
])('%j uses %s', (of, provider) => {
  expect(providerOf(of)).toBe(provider);
});
