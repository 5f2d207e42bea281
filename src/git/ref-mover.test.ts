import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RefMovers } from './ref-mover.ts';
import { TestRepository } from './repository.fixture.ts';
import { updateRefs } from './update-refs.ts';

let repository: TestRepository;
let movers: RefMovers;
let [first, second]: string[] = [];
beforeEach(() => {
  repository = new TestRepository();
  first = repository.commit('first', { 'a.txt': '1\n' });
  second = repository.commit('second', { 'a.txt': '2\n' });
  movers = new RefMovers();
});
afterEach(() => {
  movers.drop(repository.gitDirectory);
  repository.remove();
});

const options = () => ({ directory: repository.gitDirectory });
const move = (ref: string, to: string | undefined, from?: string) => updateRefs([{ ref, to, from }], options(), movers);
/** Children of this process that move refs. */
const processes = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      const isOurs = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid);
      return isOurs && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('update-ref');
    } catch {
      return false;
    }
  });

it('moves one ref after the other by one process', async () => {
  await move('refs/heads/x', first);
  const before = processes();
  expect(before).toHaveLength(1);
  await move('refs/heads/x', second, first);
  await updateRefs(
    [
      { ref: 'refs/heads/y', to: first },
      { ref: 'refs/heads/z', to: second },
    ],
    options(),
    movers,
  );
  await move('refs/heads/y', undefined, first);
  expect(processes()).toEqual(before);
  expect([repository.head('x'), repository.head('z')]).toEqual([second, second]);
  expect(repository.tryGit('rev-parse', '-q', '--verify', 'refs/heads/y')).toBe(false);
  expect(repository.git('reflog', 'show', 'refs/heads/x').split('\n')).toHaveLength(2);
});

it('keeps it where Ctrl-C at the terminal does not reach', async () => {
  await move('refs/heads/x', first);
  const [pid] = processes();
  const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  expect(group).toBe(pid);
});

it('refuses what has moved meanwhile, changes nothing, and goes on', async () => {
  await move('refs/heads/x', first);
  repository.git('update-ref', 'refs/heads/x', second ?? '');
  const both = [
    { ref: 'refs/heads/y', to: first, from: undefined },
    { ref: 'refs/heads/x', to: first, from: first },
  ];
  await expect(updateRefs(both, options(), movers)).rejects.toMatchObject({ code: 'Conflict', reason: 'RefMoved' });
  expect(repository.tryGit('rev-parse', '-q', '--verify', 'refs/heads/y')).toBe(false);
  await move('refs/heads/x', first, second);
  expect(repository.head('x')).toBe(first);
});

it('asks another one when the process has died in the meantime', async () => {
  await move('refs/heads/x', first);
  const [pid] = processes();
  process.kill(Number(pid), 'SIGKILL');
  await move('refs/heads/x', second, first);
  expect(repository.head('x')).toBe(second);
});

it('says what else is wrong', async () => {
  await expect(move('refs/heads/x', '1'.repeat(40))).rejects.toThrow(/update-ref failed \(128\): fatal/);
  await expect(updateRefs([{ ref: 'x', to: first }], { directory: `${repository.gitDirectory}/none` }, movers)).rejects.toThrow();
});

it('is gone after a while', async () => {
  movers = new RefMovers({ keptMs: 100 });
  await move('refs/heads/x', first);
  await vi.waitFor(() => expect(processes()).toEqual([]), { timeout: 20_000 });
});
