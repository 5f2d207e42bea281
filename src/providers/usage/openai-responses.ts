/** OpenAI Responses: a whole answer has `usage`; a stream ends with an event that has the whole answer in `response`. Pure. */
import { countIn, modelIn, objectIn, type UsageFold } from './usage.ts';

export const openaiResponses: UsageFold = (known, event) => {
  const answer = objectIn(event, 'response') ?? event;
  const usage = objectIn(answer, 'usage');
  if (!usage) return known;
  const cacheRead = countIn(objectIn(usage, 'input_tokens_details'), 'cached_tokens') ?? 0;
  return {
    ...modelIn(answer, 'model'),
    input: Math.max(0, (countIn(usage, 'input_tokens') ?? 0) - cacheRead),
    cacheRead,
    cacheWrite: 0,
    output: countIn(usage, 'output_tokens') ?? 0,
  };
};
