/**
 * Which step is to be played, read off the conversation: the last user's words with a marker say which script, the results of tool calls
 * after them say how far it is. Nothing is counted here, so a request that is repeated gets the same answer, and any number of agents share
 * one model. Pure.
 */
import type { Turn } from './conversation.ts';
import type { Scripts, Step } from './script.ts';

export interface Place {
  readonly steps: readonly Step[];
  readonly index: number;
  /** The last call was a search for the tool that the step needs. */
  readonly hasSearched: boolean;
}

/** Ids of calls to a search: their results are no steps. */
export const SEARCH_ID = 'search-';

export function placeInScript(turns: readonly Turn[], scripts: Scripts): Place | undefined {
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at];
    const steps = turn?.kind === 'user' ? scriptIn(turn.text, scripts) : undefined;
    if (steps === undefined) continue;
    const results = turns.slice(at + 1).filter(({ kind }) => kind === 'result');
    const last = results.at(-1);
    return { steps, index: results.filter((result) => !isSearch(result)).length, hasSearched: last !== undefined && isSearch(last) };
  }
  return undefined;
}

function scriptIn(text: string, scripts: Scripts): readonly Step[] | undefined {
  const inline = /```script\s+([\s\S]*?)```/.exec(text)?.[1];
  if (inline !== undefined) return JSON.parse(inline) as readonly Step[];
  const name = /\[\[script:([\w.-]+)\]\]/.exec(text)?.[1];
  if (name === undefined) return undefined;
  return scripts[name] ?? [{ op: 'text', text: `SCRIPTED MODEL: there is no script ${name}` }];
}

/** Gemini gives ids back only sometimes; then the result goes by the name of the tool. */
function isSearch({ callId = '' }: Turn): boolean {
  return callId.includes(SEARCH_ID) || /^tool_?search$/i.test(callId);
}
