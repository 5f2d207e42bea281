/** Anthropic Messages: `message_start` has the question's tokens, each `message_delta` the answer's so far; a whole answer has both. Pure. */
import { countIn, type JsonObject, modelIn, objectIn, type Usage, type UsageFold } from './usage.ts';

export const anthropicMessages: UsageFold = (known, event) => {
  const message = event['type'] === 'message_start' ? objectIn(event, 'message') : event;
  const usage = message && objectIn(message, 'usage');
  return usage ? merged(known, usage, message) : known;
};

/** Counts are of all so far, and those that are absent have not changed. */
function merged(known: Usage | undefined, usage: JsonObject, message: JsonObject): Usage {
  return {
    ...(known?.model !== undefined && { model: known.model }),
    ...modelIn(message, 'model'),
    input: countIn(usage, 'input_tokens') ?? known?.input ?? 0,
    cacheRead: countIn(usage, 'cache_read_input_tokens') ?? known?.cacheRead ?? 0,
    cacheWrite: countIn(usage, 'cache_creation_input_tokens') ?? known?.cacheWrite ?? 0,
    output: countIn(usage, 'output_tokens') ?? known?.output ?? 0,
  };
}
