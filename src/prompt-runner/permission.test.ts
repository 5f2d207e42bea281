import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toAskedCall } from './asked-call.ts';
import { type AskedCall, choose, judge } from './permission.ts';

const call = (asked: Partial<AskedCall>): AskedCall => ({ title: 'run', kind: 'execute', commands: [], outside: [], ...asked });
const EVERYTHING = [{ action: 'allow' as const }];

it.each([
  ['git push --force origin main', 'force push'],
  ['git -C repo push -f', 'force push'],
  ['git push origin +main', 'force push'],
  ['git reset --hard HEAD~3', 'hard reset'],
  ['rm -rf build', 'recursive forced removal'],
  ['cd x && rm -f -r .', 'recursive forced removal'],
  ['rm --recursive --force x', 'recursive forced removal'],
  ['dd if=image of=/dev/sda', 'write to a raw device'],
  ['cat x > /dev/nvme0n1', 'write to a raw device'],
  ['mkfs.ext4 /dev/sdb1', 'write to a raw device'],
  ['psql -c "DROP TABLE users"', 'destructive SQL'],
  ['sqlite3 db "delete from users"', 'destructive SQL'],
  ['sudo shutdown -h now', 'power-off'],
  ['sync; /sbin/reboot', 'power-off'],
])('never allows %s', (command, what) => {
  expect(judge(call({ commands: [command] }), EVERYTHING)).toEqual({ action: 'deny', why: `${what} is never allowed` });
});

it.each([
  'git push origin main',
  'git push origin feature-f',
  'git reset --soft HEAD~1',
  'rm -r build',
  'rm -f notes.txt',
  'rm notes.txt; ls -rf',
  'dd if=/dev/zero of=/dev/null count=1',
  'echo done > /dev/null',
  'sqlite3 db "delete from users where id = 3"',
  'npm run reboot-tests',
  'node halt.js',
])('leaves %s to the rules', (command) => {
  expect(judge(call({ commands: [command] }), EVERYTHING).action).toBe('allow');
});

it.each([
  {
    name: 'the first that fits',
    rules: [{ action: 'deny', kind: 'edit' }, { action: 'ask', tool: 'r*n' }, { action: 'allow' }],
    want: 'ask',
  },
  { name: 'no where none does', rules: [{ action: 'allow', kind: 'read' }], want: 'deny' },
  { name: 'no without any', rules: [], want: 'deny' },
  { name: 'by all commands of a call', rules: [{ action: 'allow', command: 'npm *' }], want: 'deny' },
] as const)('decides $name', ({ rules, want }) => {
  expect(judge(call({ commands: ['npm test', 'curl x'] }), rules).action).toBe(want);
});

it('takes a star for anything and all else as it is written', () => {
  const allows = (command: string, line: string) => judge(call({ commands: [line] }), [{ action: 'allow', command }]).action === 'allow';
  expect([allows('a.c*', 'a.c --x\ny'), allows('a.c*', 'abc'), allows('*', ''), allows('(a|b)', 'a')]).toEqual([true, false, true, false]);
});

it('finds out what a call is about, however the agent says it, and where its files really lie', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-asked-'));
  try {
    const workspace = join(folder, 'workspace');
    mkdirSync(workspace);
    symlinkSync('/etc', join(workspace, 'link'));
    const asked = (toolCall: object, known = {}) => toAskedCall(toolCall, known, [workspace]);
    expect(asked({ rawInput: { command: ['sh', '-c', 'ls'] } })).toEqual({
      title: '',
      kind: 'execute',
      commands: ['sh -c ls'],
      outside: [],
    });
    const known = { title: 'Write', kind: 'edit' };
    expect(asked({ title: null, rawInput: { file_path: 'new/file' } }, known)).toMatchObject({ title: 'Write', kind: 'edit', outside: [] });
    expect(asked({ locations: [{ path: join(workspace, 'link', 'new') }] }).outside).toEqual(['/etc/new']);
    expect(asked({ rawInput: { path: '../outside' } }).outside).toEqual([join(folder, 'outside')]);
    expect(asked('nonsense' as never)).toMatchObject({ title: '', kind: 'other' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('refuses to change what lies outside, and lets it be read', () => {
  expect(judge(call({ kind: 'edit', outside: ['/etc/passwd'] }), EVERYTHING).action).toBe('deny');
  expect(judge(call({ kind: 'read', outside: ['/etc/passwd'] }), EVERYTHING).action).toBe('allow');
});

it('chooses an option by its kind, once before always, and none where none says so', () => {
  const options = ['allow_always', 'reject_always', 'allow_once'].map((kind, index) => ({ optionId: `o${index}`, kind }));
  expect([choose(options, true), choose(options, false), choose([], true)]).toEqual(['o2', 'o1', undefined]);
});
