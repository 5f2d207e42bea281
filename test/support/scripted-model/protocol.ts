/** One way to talk to a model: how a request is read and how an answer is written, whole or in pieces. Each is pure. */
import type { JsonObject } from '#lib/json.ts';
import type { Conversation, Reply } from './conversation.ts';

export interface Protocol {
  readonly name: 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini';
  /** undefined: the path is not one of this protocol's. */
  match(path: string): { readonly model?: string; readonly isStream?: boolean } | undefined;
  read(body: JsonObject): Conversation;
  whole(reply: Reply, request: AnsweredRequest): JsonObject;
  pieces(reply: Reply, request: AnsweredRequest): readonly ServerEvent[];
}

export interface AnsweredRequest {
  /** Of this request and no other. */
  readonly id: string;
  readonly model: string;
  readonly body: JsonObject;
}

/** Of a text/event-stream. */
export interface ServerEvent {
  readonly event?: string;
  readonly data: JsonObject | string;
}

export const USAGE = { input: 11, output: 7 } as const;

/** Models stream words in small pieces. */
export function piecesOf(text: string): readonly string[] {
  return text.match(/[\s\S]{1,24}/g) ?? [''];
}

/** Content is a text or a list of parts, some of which are texts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (typeof part?.text === 'string' ? part.text : '')).join('\n');
}

export function listIn(body: JsonObject, name: string): readonly JsonObject[] {
  const list = body[name];
  return Array.isArray(list) ? (list as JsonObject[]) : [];
}
