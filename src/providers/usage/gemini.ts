/** Gemini: `usageMetadata` is of all so far, in a whole answer and in each piece of a stream. Pure. */
import { countIn, modelIn, objectIn, type UsageFold } from './usage.ts';

export const gemini: UsageFold = (known, event) => {
  const usage = objectIn(event, 'usageMetadata');
  if (!usage) return known;
  const cacheRead = countIn(usage, 'cachedContentTokenCount') ?? 0;
  const question = (countIn(usage, 'promptTokenCount') ?? 0) + (countIn(usage, 'toolUsePromptTokenCount') ?? 0);
  return {
    ...modelIn(event, 'modelVersion'),
    input: Math.max(0, question - cacheRead),
    cacheRead,
    cacheWrite: 0,
    output: (countIn(usage, 'candidatesTokenCount') ?? 0) + (countIn(usage, 'thoughtsTokenCount') ?? 0),
  };
};
