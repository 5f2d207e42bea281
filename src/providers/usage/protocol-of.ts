/** Which protocol a request speaks, by its path: providers differ in names and hosts, but not in these. Pure. */
import { anthropicMessages } from './anthropic-messages.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { UsageFold } from './usage.ts';

const BY_PATH: readonly (readonly [RegExp, UsageFold])[] = [
  [/\/messages$/, anthropicMessages],
  [/\/chat\/completions$/, openaiChat],
  [/\/responses$/, openaiResponses],
  [/:(?:stream)?generateContent$/i, gemini],
];

/** Undefined for what costs no tokens, or says nothing of them: lists of models, counting. */
export function usageFoldOf(pathname: string): UsageFold | undefined {
  return BY_PATH.find(([path]) => path.test(pathname))?.[1];
}
