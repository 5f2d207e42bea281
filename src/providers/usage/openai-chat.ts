/** OpenAI chat completions: a whole answer has `usage`, a stream has it in its last chunk, if it was asked for. Pure. */
import { countIn, modelIn, objectIn, type UsageFold } from './usage.ts';

export const openaiChat: UsageFold = (known, event) => {
  const usage = objectIn(event, 'usage');
  if (!usage) return known;
  const cacheRead = countIn(objectIn(usage, 'prompt_tokens_details'), 'cached_tokens') ?? 0;
  return {
    ...modelIn(event, 'model'),
    input: Math.max(0, (countIn(usage, 'prompt_tokens') ?? 0) - cacheRead),
    cacheRead,
    cacheWrite: 0,
    output: countIn(usage, 'completion_tokens') ?? 0,
  };
};
