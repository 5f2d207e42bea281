/** The last line of Claude Code and of those that write as it does: {"type":"result", …}. Pure. */
import type { OneShotEnd } from './backend.ts';
import { jsonLines, numberIn, objectIn, textIn } from './json-lines.ts';

export function resultLine(stdout: string): OneShotEnd | undefined {
  const result = jsonLines(stdout).findLast(({ type }) => type === 'result');
  if (result === undefined) return undefined;
  const usage = objectIn(result, 'usage');
  const costUsd = result['total_cost_usd'];
  const failure = textIn(objectIn(result, 'error'), 'message');
  return {
    isError: result['is_error'] === true,
    text: textIn(result, 'result') || failure,
    usage: {
      inputTokens: inputTokens(usage),
      outputTokens: numberIn(usage, 'output_tokens'),
      ...(typeof costUsd === 'number' && { costUsd }),
    },
  };
}

/** What came from a cache was sent all the same. */
function inputTokens(usage: Record<string, unknown>): number {
  return ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].reduce((sum, name) => sum + numberIn(usage, name), 0);
}
