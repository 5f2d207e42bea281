/** Anthropic Messages: POST …/messages. */
import type { JsonObject } from '#lib/json.ts';
import type { Reply, ToolSchema, Turn } from './conversation.ts';
import { type AnsweredRequest, listIn, type Protocol, piecesOf, type ServerEvent, textOf, USAGE } from './protocol.ts';

export const anthropicMessages: Protocol = {
  name: 'anthropic-messages',
  match: (path) => (path.endsWith('/messages') ? {} : undefined),
  read: (body) => ({
    turns: listIn(body, 'messages').flatMap(toTurns),
    tools: listIn(body, 'tools').map(({ name, input_schema: schema }) => ({ name: String(name), schema: schema as ToolSchema })),
  }),
  whole: (reply, request) => messageOf(reply, request),
  pieces(reply, request) {
    const message = messageOf(reply, request);
    const start = { ...message, content: [], stop_reason: null, usage: { input_tokens: USAGE.input, output_tokens: 1 } };
    const delta = (given: JsonObject): [string, JsonObject] => ['content_block_delta', { index: 0, delta: given }];
    const events: [string, JsonObject][] = [
      ['message_start', { message: start }],
      ['content_block_start', { index: 0, content_block: { ...blockOf(reply), ...('call' in reply ? { input: {} } : { text: '' }) } }],
      ...('call' in reply
        ? [delta({ type: 'input_json_delta', partial_json: JSON.stringify(reply.call.args) })]
        : piecesOf(reply.text).map((text) => delta({ type: 'text_delta', text }))),
      ['content_block_stop', { index: 0 }],
      ['message_delta', { delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage: { output_tokens: USAGE.output } }],
      ['message_stop', {}],
    ];
    return events.map(([event, data]): ServerEvent => ({ event, data: { type: event, ...data } }));
  },
};

function toTurns({ role, content }: JsonObject): Turn[] {
  const kind = role === 'user' ? 'user' : 'other';
  if (typeof content === 'string') return [{ kind, text: content }];
  return listIn({ content }, 'content').map((block): Turn => {
    if (block['type'] !== 'tool_result') return { kind, text: typeof block['text'] === 'string' ? block['text'] : '' };
    return { kind: 'result', text: textOf(block['content']), callId: String(block['tool_use_id']) };
  });
}

function messageOf(reply: Reply, { id, model }: AnsweredRequest): JsonObject {
  const about = { id: `msg_${id}`, type: 'message', role: 'assistant', model };
  const end = { stop_reason: stopReason(reply), stop_sequence: null };
  return { ...about, content: [blockOf(reply)], ...end, usage: { input_tokens: USAGE.input, output_tokens: USAGE.output } };
}

function blockOf(reply: Reply): JsonObject {
  if ('text' in reply) return { type: 'text', text: reply.text };
  const { id, name, args } = reply.call;
  return { type: 'tool_use', id: `toolu_${id}`, name, input: args };
}

function stopReason(reply: Reply): string {
  return 'call' in reply ? 'tool_use' : 'end_turn';
}
