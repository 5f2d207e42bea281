/** The last line of Claude Code and of those that write as it does: {"type":"result", …}. Pure. */
import type { JsonObject } from '#lib/json.ts';
import type { OneShotEnd } from './backend.ts';
import { countBy, jsonLines, numberIn, objectIn, objectsIn, textIn } from './json-lines.ts';

export function resultLine(stdout: string): OneShotEnd | undefined {
  const lines = jsonLines(stdout);
  const result = lines.findLast(({ type }) => type === 'result');
  if (result === undefined) return undefined;
  const usage = objectIn(result, 'usage');
  const costUsd = result['total_cost_usd'];
  const failure = textIn(objectIn(result, 'error'), 'message');
  return {
    isError: result['is_error'] === true,
    text: textIn(result, 'result') || failure,
    toolCalls: countBy(lines.filter(({ type }) => type === 'assistant').flatMap(callsIn), 'id'),
    usage: {
      inputTokens: inputTokens(usage),
      outputTokens: numberIn(usage, 'output_tokens'),
      ...(typeof costUsd === 'number' && { costUsd }),
    },
  };
}

function callsIn(line: JsonObject): JsonObject[] {
  return objectsIn(objectIn(line, 'message'), 'content').filter(({ type }) => type === 'tool_use');
}

/** What came from a cache was sent all the same. */
function inputTokens(usage: JsonObject): number {
  return ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].reduce((sum, name) => sum + numberIn(usage, name), 0);
}
