/** What the model answers to a conversation: words, a call, or a refusal. Pure but for the time, which is passed in. */
import { chooseTool } from './choose-tool.ts';
import type { Conversation, Reply } from './conversation.ts';
import { placeInScript, SEARCH_ID } from './place-in-script.ts';
import type { Scripts, Step } from './script.ts';

export interface Decision {
  /** Of the script; absent where none is played. */
  readonly step?: number;
  readonly delayMs: number;
  readonly answer: Reply | Refusal;
}

export interface Refusal {
  readonly status: number;
  /** When it would pass, where the script says so. */
  readonly resetMs?: number;
}

/** Agents ask for titles and summaries on the side: without tools, though with the prompt. */
export const SIDE_ANSWER = 'Scripted side answer';

export interface Asked extends Conversation {
  readonly scripts: Scripts;
  /** Of this request and no other: agents take messages with one id for one message. */
  readonly requestId: string;
  readonly nowMs: number;
}

export function decide({ turns, tools, scripts, requestId, nowMs }: Asked): Decision {
  const place = placeInScript(turns, scripts);
  if (place === undefined || tools.length === 0) return { delayMs: 0, answer: { text: SIDE_ANSWER } };
  const { steps, index, hasSearched } = place;
  const step: Step = steps[index] ?? { op: 'text', text: 'SCRIPTED MODEL: the script is at its end' };
  const base = { step: index, delayMs: step.delayMs ?? 0 };
  const refusal = refusalOf(step, nowMs);
  if (refusal) return { ...base, answer: refusal };
  if (step.op === 'text') return { ...base, answer: { text: step.text } };
  const chosen = chooseTool(step, tools);
  if (chosen) return { ...base, answer: { call: { ...chosen, id: `call-${index}-${requestId}` } } };
  const search = tools.find(({ name }) => /^tool_?search$/i.test(name));
  if (step.op === 'mcp' && search && !hasSearched) {
    return { ...base, answer: { call: { name: search.name, args: { query: step.tool }, id: `${SEARCH_ID}${index}-${requestId}` } } };
  }
  const offered = tools.map(({ name, namespace }) => (namespace === undefined ? name : `${namespace}/${name}`));
  return { ...base, answer: { text: `SCRIPTED MODEL: nothing offered can do ${JSON.stringify(step)}. Offered: ${offered.join(', ')}` } };
}

function refusalOf({ status, untilMs }: Step, nowMs: number): Refusal | undefined {
  if (status === undefined || (untilMs !== undefined && nowMs >= untilMs)) return undefined;
  return { status, ...(untilMs !== undefined && { resetMs: untilMs }) };
}
