/** Gemini: POST …/models/NAME:generateContent, and :streamGenerateContent for pieces. */
import type { JsonObject } from '#lib/json.ts';
import type { OfferedTool, Reply, ToolSchema, Turn } from './conversation.ts';
import { type AnsweredRequest, listIn, type Protocol, piecesOf, USAGE } from './protocol.ts';

const usageMetadata = {
  promptTokenCount: USAGE.input,
  candidatesTokenCount: USAGE.output,
  totalTokenCount: USAGE.input + USAGE.output,
};

export const gemini: Protocol = {
  name: 'gemini',
  match(path) {
    const [, model, verb] = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/.exec(path) ?? [];
    return model === undefined ? undefined : { model, isStream: verb === 'streamGenerateContent' };
  },
  read: (body) => ({
    turns: listIn(body, 'contents').flatMap(toTurns),
    tools: listIn(body, 'tools').flatMap((group) => listIn(group, 'functionDeclarations').map(toTool)),
  }),
  whole: (reply, request) => answer([partOf(reply, request)], request, 'STOP'),
  pieces(reply, request) {
    if ('call' in reply) return [{ data: answer([partOf(reply, request)], request, 'STOP') }];
    const { text } = partOf(reply, request) as { text: string };
    return [
      ...piecesOf(text).map((piece) => ({ data: answer([{ text: piece }], request) })),
      { data: answer([{ text: '' }], request, 'STOP') },
    ];
  },
};

function toTurns({ role, ...content }: JsonObject): Turn[] {
  return listIn(content, 'parts').map(({ functionResponse, text }): Turn => {
    const response = functionResponse as JsonObject | undefined;
    if (response) return { kind: 'result', text: '', callId: String(response['id'] ?? response['name']) };
    return { kind: role === 'model' ? 'other' : 'user', text: typeof text === 'string' ? text : '' };
  });
}

function toTool({ name, parametersJsonSchema, parameters }: JsonObject): OfferedTool {
  return { name: String(name), schema: (parametersJsonSchema ?? parameters) as ToolSchema };
}

function partOf(reply: Reply, { body }: AnsweredRequest): JsonObject {
  if ('call' in reply) {
    const { id, name, args } = reply.call;
    return { functionCall: { id, name, args } };
  }
  const config = (body['generationConfig'] ?? {}) as JsonObject;
  if (config['responseMimeType'] !== 'application/json') return { text: reply.text };
  return { text: JSON.stringify(leastValueOf((config['responseJsonSchema'] ?? config['responseSchema'] ?? {}) as JsonObject)) };
}

/** Agents that ask for JSON, to route a request for instance, fail on anything else. */
function leastValueOf(schema: JsonObject): unknown {
  const choices = schema['enum'];
  if (Array.isArray(choices)) return choices[0];
  const type = String(schema['type'] ?? 'object').toLowerCase();
  if (type === 'object') {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>);
    return Object.fromEntries(properties.map(([name, property]) => [name, leastValueOf(property)]));
  }
  if (type === 'array') return [];
  if (type === 'boolean') return false;
  return type === 'number' || type === 'integer' ? 0 : 'scripted';
}

function answer(parts: readonly JsonObject[], { model }: AnsweredRequest, finishReason?: string): JsonObject {
  const candidate = { index: 0, content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) };
  return { candidates: [candidate], usageMetadata, modelVersion: model };
}
