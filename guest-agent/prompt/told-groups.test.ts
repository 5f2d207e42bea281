import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { ProcessGroups } from '../process-group.ts';
import { ToldGroups } from './told-groups.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function group(): { readonly id: number; readonly exited: Promise<unknown[]> } {
  const child = spawn('sleep', ['987'], { detached: true, stdio: 'ignore' });
  children.push(child);
  return { id: child.pid ?? 0, exited: once(child, 'exit') };
}

it('kills what a command has told of and not ended, and nothing else', async () => {
  const [told, taken, untold] = [group(), group(), group()];
  const groups = new ProcessGroups();
  const pipe = new PassThrough();
  const all = new ToldGroups(groups, pipe);
  pipe.write(`+${told.id}\n+${taken.id}`);
  pipe.write(`\nnonsense\n-${taken.id}\n+0\n+-1\n`);
  pipe.end();
  await once(pipe, 'close');
  expect(groups.size).toBe(1);
  await all.end();
  expect(await told.exited).toEqual([null, 'SIGKILL']);
  expect(groups.size).toBe(0);
  for (const { id } of [taken, untold]) expect(process.kill(id, 0)).toBe(true);
});

it('has nothing to do for a command that tells of nothing', async () => {
  await new ToldGroups(new ProcessGroups(), undefined).end();
});
