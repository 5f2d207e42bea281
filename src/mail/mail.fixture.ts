/** A folder with mail in it, and a clock that a test moves. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '#lib/clock.ts';
import { silentLogger } from '#lib/log.ts';
import type { Appended, Draft } from './mail.ts';
import { type DeadLetter, type MailOptions, type MailProblem, type OpenMail, openMail } from './open-mail.ts';

export const HOUR_MS = 60 * 60 * 1_000;

export interface MailHome {
  readonly directory: string;
  readonly problems: MailProblem[];
  readonly letters: DeadLetter[];
  /** What was told of first, in this order. */
  readonly appended: Appended[];
  /** Moves the clock. */
  pass(ms: number): void;
  /** Closes the mail that is open, if any, and opens it again. */
  open(known?: MailOptions['known']): Promise<OpenMail>;
  lines(owner: string): Record<string, unknown>[];
}

export function mailHome(): MailHome {
  const root = mkdtempSync(join(tmpdir(), 'agentiso-mail-'));
  const directory = join(root, 'mail');
  const problems: MailProblem[] = [];
  const letters: DeadLetter[] = [];
  const appended: Appended[] = [];
  let nowMs = Date.parse('2026-01-01T00:00:00.000Z');
  const clock: Clock = { now: () => new Date(nowMs) };
  let mail: OpenMail | undefined;
  onTestFinished(async () => {
    await mail?.close();
    rmSync(root, { recursive: true });
  });
  return {
    directory,
    problems,
    letters,
    appended,
    pass: (ms) => {
      nowMs += ms;
    },
    open: async (known) => {
      await mail?.close();
      mail = openMail({
        directory,
        log: silentLogger,
        clock,
        ...(known && { known }),
        onAppended: (messages) => appended.push(messages),
        onProblem: (problem) => problems.push(problem),
        onDeadLetter: (letter) => letters.push(letter),
      });
      return mail;
    },
    lines: (owner) =>
      readFileSync(join(directory, `${owner}.jsonl`), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}

export function draft(content: string, more: Partial<Draft> = {}): Draft {
  return { namespace: 'default', team: 'web', from: 'coder', to: 'tester', message_type: 'text', content, ...more };
}
