import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type PromptJob, runnerJob } from '#protocol/prompt.ts';
import type { TaskAssignment } from '#protocol/relay.ts';
import type { Guest } from '../guest.ts';
import { Artifacts } from '../tasks/artifacts.ts';
import { promptCommand } from './prompt-command.ts';
import type { UnreadMessage } from './unread.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-prompt-'));
  writeFileSync(join(folder, 'runner.cjs'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

const prompt: PromptJob = { backend: 'codex', mode: 'acp', text: 'do it', rules: [{ action: 'allow' }] };
const mail: UnreadMessage = { message_id: 'm1', from: 'ann', to: 'bob', content: 'hello', message_type: 'text' };

function prepare(attempt = 1) {
  const guest = {
    stateDir: join(folder, 'state'),
    root: join(folder, 'workspace'),
    agentSocket: join(folder, 'agent.sock'),
    programs: { promptRunner: join(folder, 'runner.cjs'), team: '/bin/team' },
  } as unknown as Guest;
  mkdirSync(guest.stateDir, { recursive: true });
  const assignment = { taskUid: 't', taskName: 'a-t', attempt } as TaskAssignment;
  const command = promptCommand(assignment, prompt, { guest, artifacts: new Artifacts(guest.stateDir, () => {}), unseen: [mail] });
  const jobFile = command.argv[2] ?? '';
  return { command, jobFile, job: runnerJob(JSON.parse(readFileSync(jobFile, 'utf8')), 'job') };
}

it('tells the runner what to do and where, with the mail that the agent has not seen', () => {
  const { job, command } = prepare();
  expect(command.argv.slice(0, 2)).toEqual([process.execPath, join(folder, 'runner.cjs')]);
  expect(job).toMatchObject({
    ...prompt,
    taskName: 'a-t',
    attempt: 1,
    unreadIds: ['m1'],
    workspace: join(folder, 'workspace'),
    groupsFd: 3,
  });
  expect(job.unread).toContain('[ann -> you] hello\n');
  expect(job.lastSession).toBeUndefined();
});

it('takes what the runner left, once, and leaves nothing', () => {
  const { job, jobFile, command } = prepare();
  writeFileSync(job.sessionFile ?? '', 'session-1');
  writeFileSync(job.outcome, JSON.stringify({ text: 'done', evidence: { toolCalls: 1, filesChanged: 0 } }));
  expect(command.takeOutcome()).toEqual({ text: 'done', evidence: { toolCalls: 1, filesChanged: 0 } });
  expect([jobFile, job.outcome, job.sessionFile ?? ''].filter(existsSync)).toEqual([]);
  expect(command.takeOutcome()).toBeUndefined();
});

it('gives the session of an attempt that was cut off to the next one', () => {
  const first = prepare();
  writeFileSync(first.job.sessionFile ?? '', 'session-1');
  expect(first.command.takeOutcome()).toBeUndefined();
  expect(prepare(2).job.lastSession).toBe('session-1');
});

it('does not take for an outcome what is none', () => {
  const { job, command } = prepare();
  writeFileSync(job.outcome, '{"text":');
  expect(command.takeOutcome()).toBeUndefined();
});
