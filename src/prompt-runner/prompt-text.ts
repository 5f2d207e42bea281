/** The words that an agent gets: what the host has written, with what only the workspace knows around it. Pure. */
import { cutText } from './cut.ts';

/** Longer ones are read by the agent itself, if it wants to. */
export const MAX_CONVENTIONS_BYTES = 32 * 1024;

export interface PromptParts {
  /** With a newline at its end, or empty. */
  readonly unread: string;
  readonly text: string;
  /** AGENTS.md of the workspace, where there is one. */
  readonly conventions: string | undefined;
}

export function promptText({ unread, text, conventions }: PromptParts): string {
  const parts = [unread === '' ? '' : `${unread}\n`, text];
  if (conventions?.trim())
    parts.push(`\n\n--- Conventions (AGENTS.md) ---\n${cutText(conventions.trim(), MAX_CONVENTIONS_BYTES)}\n--- End ---`);
  return parts.join('');
}

export const GO_ON = 'You were cut off. Go on where you stopped, until the task is done.';

export const NUDGE =
  'Your last turns did the same things and changed nothing. Do something else: look at what is really there, take the smallest next step, or call update_task with status blocked and the reason if you cannot go on.';

export interface HandOver {
  readonly prompt: string;
  readonly lastWords: string;
  readonly changed: readonly string[];
}

/** What a new session is told of the one before. */
export function handOverText({ prompt, lastWords, changed }: HandOver): string {
  const files = changed.length === 0 ? 'none' : changed.slice(0, 50).join(', ');
  const words = lastWords.trim() === '' ? '(nothing)' : lastWords.trim().slice(-4_000);
  const summary = `Somebody before you has worked on this and got no further. Files changed so far: ${files}. Its last words:\n${words}`;
  return `${prompt}\n\n--- Hand-over ---\n${summary}\n--- End ---`;
}
