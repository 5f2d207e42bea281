/** Outputs of tasks in real sandboxes: handed on to other tasks, cut for the Task, kept whole beside it. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';

const MIB = 1024 * 1024;
const HOSTILE = `it's "x" $(touch pwned) \`touch pwned\` \\ * 漢🙂`;

withSandboxes('the output of a task', () => {
  const home = new AgentsHome();
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'try', { isolation: { driver: 'sandbox' }, roles: [{ name: 'one' }] });
    await home.ready(['try-one']);
  });
  afterAll(() => home.close());

  const create = (name: string, spec: object) => home.create('Task', `try-${name}`, { team: 'try', maxAttempts: 1, ...spec });
  const artifact = (name: string, file: string, attempt = 1) =>
    join(home.home, 'artifacts/default/try', `try-${name}`, String(attempt), file);
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const listed = ({ status }: Task) => status?.result?.artifacts?.map(({ name, sizeBytes }) => [name, sizeBytes]);

  it('is in the commands and variables of those that depend on it, exactly, and is never run', async () => {
    await create('first', { command: `cat <<'END'\n${HOSTILE}\nEND\nexit 0` });
    const second = `printf '[%s]' {{tasks.first.result.stdout}} "a {{ tasks.try-first.result.stdout }} b" 'c {{tasks.first.result.exitCode}}'; ls`;
    await create('second', { dependsOn: ['first'], command: second });
    await create('third', { dependsOn: ['second'], env: { SECOND: '<{{tasks.second.result.stdout}}>' }, command: 'printf %s "$SECOND"' });
    const said = `[${HOSTILE}\n][a ${HOSTILE}\n b][c 0]`;
    const { status } = await home.reached('try-third', 'Succeeded');
    expect(status?.result?.stdout).toBe(`<${said}>`);
    expect((await home.task('try-second')).status?.result?.stdout).toBe(said);
  });

  it('that is missing keeps those that depend on it from starting, and nobody else', async () => {
    await create('bad', { command: 'exit 3' });
    await create('after', { dependsOn: ['bad'], command: 'echo {{tasks.bad.result.stdout}}' });
    await create('aside', { command: 'echo aside' });
    await home.reached('try-bad', 'Failed');
    // Blocked it was before, by what had not ended yet.
    await vi.waitFor(async () => expect((await home.task('try-after')).status?.reason).toBe('DependencyFailed'), WAIT);
    const { status } = await home.task('try-after');
    expect([status?.phase, status?.attempt ?? 0]).toEqual(['Blocked', 0]);
    expect((await home.reached('try-aside', 'Succeeded')).status?.result?.stdout).toBe('aside\n');
  });

  it('that cannot be handed on fails the task that asks for it, with the reason', async () => {
    await create('large', { command: 'head -c 100000 /dev/zero | tr "\\0" x; echo end >&2' });
    await create('too-large', { dependsOn: ['large'], command: 'echo {{tasks.large.result.stdout}}' });
    await create('whole', { dependsOn: ['large'], command: 'echo {{tasks.large.result.stderr}}' });
    await create('no-commit', { dependsOn: ['large'], command: 'echo {{tasks.large.result.commit}}' });
    expect((await home.reached('try-too-large', 'Failed')).status?.reason).toBe('TooLarge');
    expect((await home.reached('try-no-commit', 'Failed')).status?.reason).toBe('MissingInput');
    expect((await home.reached('try-whole', 'Succeeded')).status?.result?.stdout).toBe('end\n\n');
  });

  it('of 10 MiB on both streams is cut in the Task and whole beside it', async () => {
    const command = `yes 'out 漢' | head -c ${10 * MIB} & yes 'err 🙂' | head -c ${10 * MIB} >&2; wait`;
    await create('much', { command, timeoutSeconds: 60 });
    const task = await home.reached('try-much', 'Succeeded');
    expect(listed(task)).toEqual([
      ['stdout.log', 10 * MIB],
      ['stderr.log', 10 * MIB],
    ]);
    const { stdout = '', stderr = '', truncated } = task.status?.result ?? {};
    expect([truncated, stdout.includes('\ufffd'), stderr.includes('\ufffd')]).toEqual([true, false, false]);
    expect(Buffer.byteLength(stdout)).toBeLessThan(65 * 1024);
    const lines = (line: string) => line.repeat(2 * MIB);
    expect(digest(readFileSync(artifact('much', 'stdout.log')))).toBe(digest(Buffer.from(lines('out 漢\n')).subarray(0, 10 * MIB)));
    const { code, stdout: printed, stderr: complaints } = await home.cli('output', 'try-much', '--stderr');
    expect([code, complaints]).toEqual([0, '']);
    expect(digest(Buffer.from(printed))).toBe(digest(Buffer.from(lines('err 🙂\n')).subarray(0, 10 * MIB)));
  });

  it('is printed whole, from the Task where that has it whole', async () => {
    await create('small', { command: 'echo small; echo complaint >&2' });
    await create('middle', { command: `yes '漢🙂' | head -n 20000` });
    await home.reached('try-small', 'Succeeded');
    expect(await home.cli('output', 'task/try-small')).toMatchObject({ code: 0, stdout: 'small\n', stderr: '' });
    expect(await home.cli('output', 'try-small', '--stderr')).toMatchObject({ code: 0, stdout: 'complaint\n', stderr: '' });
    const middle = await home.reached('try-middle', 'Succeeded');
    expect(listed(middle)).toEqual([['stdout.log', 160_000]]);
    expect((await home.cli('output', 'try-middle', '--attempt', '1')).stdout).toBe('漢🙂\n'.repeat(20_000));
    expect(await home.cli('output', 'try-middle', '--attempt', '2')).toMatchObject({ code: 1, stdout: '' });
    expect(await home.cli('output', 'try-none')).toMatchObject({ code: 1, stdout: '' });
    expect(await home.cli('output', 'try-small', '--attempt', 'x')).toMatchObject({ code: 2 });
  });

  it('of a command over its time ends there, and so do all it has started', async () => {
    await create('over', { command: 'sh -c "sleep 98765 & sleep 98765" & echo said; sleep 98765', timeoutSeconds: 1 });
    const { status } = await home.reached('try-over', 'Failed');
    expect(status?.result).toMatchObject({ exitCode: -1, stdout: 'said\n', stderr: 'task timed out after 1s' });
    const left = await home.inside('try-one', 'sh', '-c', 'grep -l "^sleep.98765" /proc/[0-9]*/cmdline 2> /dev/null || true');
    expect(left).toBe('');
  });

  it('is whole also when the daemon is killed while it is fetched, and goes with its task and its team', async () => {
    await create('fetched', {
      command: `head -c ${40 * MIB} /dev/urandom | tee kept | cat; sha256sum kept | cut -c1-64 >&2; rm kept`,
      timeoutSeconds: 60,
    });
    await create('other', { command: 'head -c 100000 /dev/zero' });
    const aside = `${artifact('fetched', 'stdout.log')}.new`;
    // If the moment is missed, the daemon is killed behind it.
    await vi.waitFor(
      async () => {
        const isOver = existsSync(artifact('fetched', 'stdout.log'));
        expect(existsSync(aside) || isOver).toBe(true);
      },
      { timeout: 30_000, interval: 1 },
    );
    await home.kill();
    await home.start();
    await home.ready(['try-one']);
    const task = await home.reached('try-fetched', 'Succeeded');
    expect([task.status?.attempt, listed(task)]).toEqual([1, [['stdout.log', 40 * MIB]]]);
    expect(digest(readFileSync(artifact('fetched', 'stdout.log')))).toBe(task.status?.result?.stderr?.trim());
    expect(readdirSync(join(artifact('fetched', 'stdout.log'), '..'))).toEqual(['stdout.log']);
    await home.reached('try-other', 'Succeeded');
    // Acknowledged, and so forgotten by the guest.
    await vi.waitFor(async () => expect(await home.inside('try-one', 'ls', '/var/lib/agentiso/artifacts')).toBe(''), WAIT);
    await home.delete('tasks', 'try-fetched');
    await vi.waitFor(() => expect(existsSync(join(home.home, 'artifacts/default/try/try-fetched'))).toBe(false), WAIT);
    expect(existsSync(artifact('other', 'stdout.log'))).toBe(true);
    await home.delete('teams', 'try');
    await vi.waitFor(() => expect(existsSync(join(home.home, 'artifacts/default/try'))).toBe(false), WAIT);
  });
});
