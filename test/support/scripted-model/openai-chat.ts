/** OpenAI chat completions: POST …/chat/completions. */
import type { JsonObject } from '#lib/json.ts';
import type { OfferedTool, Reply, ToolSchema, Turn } from './conversation.ts';
import { type AnsweredRequest, listIn, type Protocol, piecesOf, textOf, USAGE } from './protocol.ts';

const usage = { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output };

export const openaiChat: Protocol = {
  name: 'openai-chat',
  match: (path) => (path.endsWith('/chat/completions') ? {} : undefined),
  read: (body) => ({
    turns: listIn(body, 'messages').map(toTurn),
    tools: listIn(body, 'tools').flatMap(({ function: offered }) => (offered ? [toTool(offered as JsonObject)] : [])),
  }),
  whole: (reply, request) => ({
    ...head(request),
    object: 'chat.completion',
    usage,
    choices: [{ index: 0, finish_reason: finish(reply), message: { role: 'assistant', ...messageOf(reply) } }],
  }),
  pieces(reply, request) {
    const chunk = (choices: readonly JsonObject[], more: JsonObject = {}) => ({
      data: { ...head(request), object: 'chat.completion.chunk', choices, ...more },
    });
    const delta = (given: JsonObject, finish_reason: string | null = null) => chunk([{ index: 0, delta: given, finish_reason }]);
    const words =
      'call' in reply
        ? [delta({ role: 'assistant', content: null, tool_calls: [{ index: 0, ...toolCall(reply.call) }] })]
        : [delta({ role: 'assistant', content: '' }), ...piecesOf(reply.text).map((content) => delta({ content }))];
    return [...words, delta({}, finish(reply)), chunk([], { usage }), { data: '[DONE]' }];
  },
};

function head({ id, model }: AnsweredRequest): JsonObject {
  return { id: `chatcmpl-${id}`, created: 1, model };
}

function toTurn({ role, content, tool_call_id: callId }: JsonObject): Turn {
  const text = textOf(content);
  if (role === 'tool') return { kind: 'result', text, ...(typeof callId === 'string' && { callId }) };
  return { kind: role === 'user' ? 'user' : 'other', text };
}

function toTool({ name, parameters }: JsonObject): OfferedTool {
  return { name: String(name), schema: parameters as ToolSchema };
}

function finish(reply: Reply): string {
  return 'call' in reply ? 'tool_calls' : 'stop';
}

function messageOf(reply: Reply): JsonObject {
  return 'call' in reply ? { content: null, tool_calls: [toolCall(reply.call)] } : { content: reply.text };
}

function toolCall({ id, name, args }: Extract<Reply, { call: unknown }>['call']): JsonObject {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}
