/** A tool call that a person has to decide on: asked by message, answered by message, and no when nobody answers in time. */
import { setTimeout as delay } from 'node:timers/promises';
import { isFields, textIn } from './loose.ts';
import type { Ask } from './team-socket.ts';

const LOOK_MS = 2_000;
const YES = /^\s*(?:y|yes|ok|allow|allowed|approve|approved)\b/i;

export interface Question {
  readonly taskName: string;
  readonly title: string;
  readonly commands: readonly string[];
}

export interface AskingPerson {
  readonly ask: Ask;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** How often the answer is looked for; every 2 s when absent. */
  readonly lookMs?: number;
}

export interface Answer {
  readonly isAllowed: boolean;
  readonly why: string;
}

export async function askPerson(question: Question, { ask, limitMs, signal, lookMs = LOOK_MS }: AskingPerson): Promise<Answer> {
  const sent = await ask('sendMessage', { to: 'lead', message_type: 'request', content: toContent(question, limitMs) });
  const messageId = String(sent['message_id']);
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs && !signal.aborted) {
    const answer = await findAnswer(ask, messageId);
    if (answer !== undefined) return answer;
    await delay(Math.min(lookMs, Math.max(1, endMs - performance.now())), undefined, { signal }).catch(() => {});
  }
  return { isAllowed: false, why: `nobody answered within ${Math.round(limitMs / 1_000)} s` };
}

/** Only this one is acknowledged: the rest of the mail is the agent's. */
async function findAnswer(ask: Ask, messageId: string): Promise<Answer | undefined> {
  const { messages } = await ask('checkMessages', { limit: 100, keep: true });
  const answer = Array.isArray(messages) ? messages.find((message) => textIn(message, 'reply_to') === messageId) : undefined;
  if (!isFields(answer)) return undefined;
  await ask('checkMessages', { limit: 0, ack: [textIn(answer, 'message_id') ?? ''] });
  const content = textIn(answer, 'content') ?? '';
  return { isAllowed: YES.test(content), why: `${textIn(answer, 'from')} answered: ${content.slice(0, 200)}` };
}

function toContent({ taskName, title, commands }: Question, limitMs: number): string {
  const what = commands.length > 0 ? `${title}\n${commands.join('\n')}` : title;
  return `May I do this for task ${taskName}? Answer yes or no to this message within ${Math.round(limitMs / 1_000)} s.\n${what}`;
}
