/** OpenAI Responses: POST …/responses. Tools of MCP servers come in namespaces. */
import type { JsonObject } from '#lib/json.ts';
import type { OfferedTool, Reply, ToolSchema, Turn } from './conversation.ts';
import { type AnsweredRequest, listIn, type Protocol, piecesOf, type ServerEvent, textOf, USAGE } from './protocol.ts';

const usage = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: USAGE.input + USAGE.output,
};

export const openaiResponses: Protocol = {
  name: 'openai-responses',
  match: (path) => (path.endsWith('/responses') ? {} : undefined),
  read: ({ input, ...body }) => ({
    turns: typeof input === 'string' ? [{ kind: 'user', text: input }] : listIn({ input }, 'input').map(toTurn),
    tools: listIn(body, 'tools').flatMap((tool) => toTools(tool)),
  }),
  whole: (reply, request) => responseOf(itemOf(reply, request.id), request),
  pieces(reply, request) {
    const item = itemOf(reply, request.id);
    const response = responseOf(item, request);
    const at = { item_id: item['id'], output_index: 0 };
    const events: [string, JsonObject][] = [
      ['response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } }],
      ['response.output_item.added', { output_index: 0, item: beginningOf(item) }],
      ...('call' in reply ? callEvents(item, at) : textEvents(item, { text: reply.text, at })),
      ['response.output_item.done', { output_index: 0, item }],
      ['response.completed', { response }],
    ];
    return events.map(([event, data], number): ServerEvent => ({ event, data: { type: event, sequence_number: number, ...data } }));
  },
};

function toTurn({ type, role, content, call_id: callId }: JsonObject): Turn {
  const text = textOf(content);
  if (String(type).endsWith('_call_output')) return { kind: 'result', text, ...(typeof callId === 'string' && { callId }) };
  return { kind: role === 'user' ? 'user' : 'other', text };
}

function toTools({ type, name, parameters, ...rest }: JsonObject, namespace?: string): OfferedTool[] {
  const inNamespace = namespace === undefined ? {} : { namespace };
  if (type === 'namespace') return listIn(rest, 'tools').flatMap((tool) => toTools(tool, String(name)));
  if (type === 'custom') return [{ name: String(name), isFreeForm: true, ...inNamespace }];
  return type === 'function' ? [{ name: String(name), schema: parameters as ToolSchema, ...inNamespace }] : [];
}

function itemOf(reply: Reply, id: string): JsonObject {
  if ('text' in reply) {
    const content = [{ type: 'output_text', text: reply.text, annotations: [] }];
    return { id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content };
  }
  const { id: call_id, name, namespace, args, isFreeForm } = reply.call;
  const called = { call_id, name, status: 'completed', ...(namespace !== undefined && { namespace }) };
  if (isFreeForm) return { id: `ctc_${id}`, type: 'custom_tool_call', ...called, input: String(args['input'] ?? '') };
  return { id: `fc_${id}`, type: 'function_call', ...called, arguments: JSON.stringify(args) };
}

function responseOf(item: JsonObject, { id, model }: AnsweredRequest): JsonObject {
  const about = { id: `resp_${id}`, object: 'response', created_at: 1, status: 'completed', model };
  return { ...about, output: [item], parallel_tool_calls: false, tools: [], usage };
}

function beginningOf(item: JsonObject): JsonObject {
  return { ...item, status: 'in_progress', ...(item['type'] === 'message' && { content: [] }) };
}

function textEvents(item: JsonObject, { text, at }: { text: string; at: JsonObject }): [string, JsonObject][] {
  const inPart = { ...at, content_index: 0 };
  const [part] = listIn(item, 'content');
  return [
    ['response.content_part.added', { ...inPart, part: { ...part, text: '' } }],
    ...piecesOf(text).map((delta): [string, JsonObject] => ['response.output_text.delta', { ...inPart, delta }]),
    ['response.output_text.done', { ...inPart, text }],
    ['response.content_part.done', { ...inPart, part }],
  ];
}

function callEvents(item: JsonObject, at: JsonObject): [string, JsonObject][] {
  if (item['type'] !== 'function_call') return [];
  return [
    ['response.function_call_arguments.delta', { ...at, delta: item['arguments'] }],
    ['response.function_call_arguments.done', { ...at, arguments: item['arguments'] }],
  ];
}
