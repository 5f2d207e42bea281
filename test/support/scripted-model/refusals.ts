/** How providers refuse: the body and headers that each protocol's clients understand. Pure. */
import type { JsonObject } from '#lib/json.ts';
import type { Refusal } from './decide.ts';
import type { Protocol } from './protocol.ts';

export interface RefusalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

export function refusalAnswer(protocol: Protocol['name'], { status, resetMs }: Refusal, nowMs: number): RefusalAnswer {
  const seconds = resetMs === undefined ? undefined : Math.max(1, Math.ceil((resetMs - nowMs) / 1_000));
  const message = `scripted refusal ${status}`;
  const waiting = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  switch (protocol) {
    case 'anthropic-messages': {
      const type = status === 429 ? 'rate_limit_error' : 'api_error';
      const reset = resetMs === undefined ? {} : { 'anthropic-ratelimit-requests-reset': new Date(resetMs).toISOString() };
      return { status, headers: { ...waiting, ...reset }, body: { type: 'error', error: { type, message } } };
    }
    case 'openai-chat':
    case 'openai-responses': {
      const reset = seconds === undefined ? {} : { 'x-ratelimit-reset-requests': `${seconds}s` };
      const code = status === 429 ? 'rate_limit_exceeded' : 'server_error';
      return { status, headers: { ...waiting, ...reset }, body: { error: { message, type: code, code } } };
    }
    case 'gemini': {
      const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
      const details = seconds === undefined ? [] : [retry];
      const word = status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL';
      return { status, headers: waiting, body: { error: { code: status, message, status: word, details } } };
    }
  }
}
