/** What the bodies of tasks (chaos-body.cjs) have written down, and what must hold of it whatever was killed meanwhile. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

export interface LogLine {
  readonly at: bigint;
  /** `team/name`. */
  readonly agent: string;
  readonly words: readonly string[];
}

export const chaosBody = readFileSync(join(import.meta.dirname, 'chaos-body.cjs'), 'utf8');
const quoted = `'${chaosBody.replaceAll("'", `'\\''`)}'`;

/** The command of a task that sends so many messages to its peers in turn. */
export function chaosCommand(task: string, peers: readonly string[], messages: number): string {
  return `exec node -e ${quoted} ${task} ${peers.join(',')} ${messages}`;
}

export function parseLog(agent: string, text: string): LogLine[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [at = '0', ...words] = line.split(' ');
      return { at: BigInt(at), agent, words };
    });
}

/** The logs of all agents, in the order in which things happened. */
export function inOrder(lines: readonly LogLine[]): LogLine[] {
  return lines.toSorted((a, b) => (a.at < b.at ? -1 : 1));
}

export function checkAttempts(lines: readonly LogLine[], tasks: readonly string[]): void {
  const starts = lines.filter(({ words }) => words[0] === 'start').map(({ words }) => words.slice(1).join(' '));
  expect(
    starts.filter((start, at) => starts.indexOf(start) !== at),
    'attempts that started twice',
  ).toEqual([]);
  const ended = new Set(lines.filter(({ words }) => words[0] === 'end').map(({ words }) => words[1]));
  expect(
    tasks.filter((task) => !ended.has(task)),
    'tasks that never came to their end',
  ).toEqual([]);
  const newest = new Map<string, number>();
  const overlaps = lines.filter(({ words: [what = '', task = '', attempt = '0'] }) => {
    if (!['start', 'beat', 'end'].includes(what)) return false;
    const isLate = Number(attempt) < (newest.get(task) ?? 0);
    newest.set(task, Math.max(Number(attempt), newest.get(task) ?? 0));
    return isLate;
  });
  expect(overlaps, 'attempts that went on after the next one had begun').toEqual([]);
}

/** `least`: so many were accepted at any rate. */
export function checkMessages(lines: readonly LogLine[], least: number): void {
  const inboxOf = ({ agent }: LogLine, to: string) => `${agent.split('/')[0]}/${to}`;
  const got = new Set(lines.filter(({ words }) => words[0] === 'got').map(({ agent, words }) => `${agent} ${words[1]}`));
  const sent = lines.filter(({ words }) => words[0] === 'sent');
  expect(sent.length).toBeGreaterThanOrEqual(least);
  const lost = sent.filter((line) => !got.has(`${inboxOf(line, line.words[2] ?? '')} ${line.words[1]}`));
  expect(lost, 'messages that were accepted and never came').toEqual([]);
  const acked = new Set<string>();
  const again = lines.filter(({ agent, words: [what, id] }) => {
    if (what === 'acked') acked.add(`${agent} ${id}`);
    return what === 'got' && acked.has(`${agent} ${id}`);
  });
  expect(again, 'messages that came again after they had been acknowledged').toEqual([]);
}
