/** What agents ask a provider beside answers: which models there are, and how many tokens a text has. Pure. */
import type { JsonObject } from '#lib/json.ts';
import { USAGE } from './protocol.ts';

export function sideAnswer(method: string, path: string): JsonObject | undefined {
  if (method === 'POST' && path.endsWith('/messages/count_tokens')) return { input_tokens: USAGE.input };
  if (method === 'POST' && /\/models\/[^/:]+:countTokens$/.test(path)) return { totalTokens: USAGE.input };
  if (method !== 'GET' || !path.endsWith('/models')) return undefined;
  return { object: 'list', data: [{ id: 'scripted-model', object: 'model', created: 1, owned_by: 'test' }] };
}
