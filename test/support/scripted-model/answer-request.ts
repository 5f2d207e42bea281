/** One request to the scripted model, from its bytes to its answer, and what is remembered of it. */
import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '#lib/json.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import type { Reply } from './conversation.ts';
import { decide, type Refusal } from './decide.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { Protocol, ServerEvent } from './protocol.ts';
import { refusalAnswer } from './refusals.ts';
import type { Scripts } from './script.ts';
import { sideAnswer } from './side-routes.ts';

const PROTOCOLS: readonly Protocol[] = [openaiChat, openaiResponses, anthropicMessages, gemini];

export interface Asking {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content: { readonly json: JsonObject } | { readonly events: readonly ServerEvent[] } | undefined;
  readonly delayMs: number;
  readonly played: Played;
}

/** For tests to look at. */
export interface Played {
  readonly protocol?: Protocol['name'];
  readonly model?: string;
  readonly step?: number;
  readonly answer?: Reply | Refusal;
}

export function answerRequest({ method, path, body }: Asking, scripts: Scripts, nowMs: number): Answer {
  const side = sideAnswer(method, path);
  if (side) return { status: 200, content: { json: side }, delayMs: 0, played: {} };
  if (method === 'HEAD') return { status: 200, content: undefined, delayMs: 0, played: {} };
  const matching = PROTOCOLS.map((protocol) => ({ protocol, matched: protocol.match(path) })).find(({ matched }) => matched !== undefined);
  const asked = parsed(body);
  if (method !== 'POST' || matching?.matched === undefined || asked === undefined) {
    const message = `the scripted model has no route ${method} ${path}`;
    return { status: 404, content: { json: { error: { type: 'not_found_error', message } } }, delayMs: 0, played: {} };
  }
  return played(matching.protocol, { asked, body, scripts, nowMs, ...matching.matched });
}

interface Play {
  readonly asked: JsonObject;
  readonly body: string;
  readonly scripts: Scripts;
  readonly nowMs: number;
  readonly model?: string;
  readonly isStream?: boolean;
}

function played(protocol: Protocol, { asked, body, scripts, nowMs, ...matched }: Play): Answer {
  // Claude Code takes messages with one id for one message, and never comes to the end of its turn.
  const id = createHash('sha256').update(body).digest('hex').slice(0, 12);
  const model = matched.model ?? String(asked['model'] ?? 'scripted-model');
  const isStream = matched.isStream ?? asked['stream'] === true;
  const { answer, delayMs, step } = decide({ ...protocol.read(asked), scripts, requestId: id, nowMs });
  const about: Played = { protocol: protocol.name, model, answer, ...(step !== undefined && { step }) };
  if ('status' in answer) {
    const { status, headers, body: json } = refusalAnswer(protocol.name, answer, nowMs);
    return { status, headers, content: { json }, delayMs, played: about };
  }
  const request = { id, model, body: asked };
  const content = isStream ? { events: protocol.pieces(answer, request) } : { json: protocol.whole(answer, request) };
  return { status: 200, content, delayMs, played: about };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // No JSON, which the answer says.
    return undefined;
  }
}
