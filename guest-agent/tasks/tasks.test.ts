import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MAX_FRAME_BYTES } from '#protocol/framing.ts';
import { FakeWorkspace } from '../relay/fake-host.fixture.ts';
import { Inbox } from '../state/inbox.ts';

let workspace: FakeWorkspace;

beforeEach(async () => {
  workspace = await FakeWorkspace.open();
});

afterEach(() => workspace.close());

const soon = { timeout: 15_000, interval: 20 };
const inRoot = (name: string) => join(workspace.root, name);
const linesOf = (name: string) => (existsSync(inRoot(name)) ? readFileSync(inRoot(name), 'utf8').split('\n').slice(0, -1) : []);

describe('a task', () => {
  it('runs in the workspace and gives back what it wrote, with the id of its message', async () => {
    const { host } = workspace;
    const { message_id } = host.assign({ taskUid: 't', command: 'pwd; echo "$FROM_GUEST $EXTRA" >&2; exit 3', env: { EXTRA: 'too' } });
    const result = await workspace.resultOf('t');
    expect(result).toMatchObject({ taskName: 'name-of-t', attempt: 1, fencingToken: 7, exitCode: 3, isLost: false, timedOut: false });
    expect(result).toMatchObject({ stdout: `${workspace.root}\n`, stderr: 'yes too\n', sourceMessageId: message_id });
    await workspace.guest.log.flushed();
    expect(readFileSync(join(workspace.stateDir, 'log/agent.log'), 'utf8')).toContain(`task/name-of-t ${workspace.root}\n`);
  });

  it('of a machine has a result only when what it wrote is on the disk, or cannot be brought there', async () => {
    let resolve = (): void => {};
    const onDisk = new Promise<void>((done) => {
      resolve = done;
    });
    workspace.syncFiles = vi.fn(() => onDisk).mockRejectedValueOnce(new Error('no disk'));
    await workspace.restart();
    workspace.host.assign({ taskUid: 'failing', command: 'echo 1 > written' });
    await workspace.resultOf('failing');
    workspace.host.assign({ taskUid: 't', command: 'echo 2 > written' });
    await vi.waitFor(() => expect(workspace.syncFiles).toHaveBeenCalledTimes(2), soon);
    expect(linesOf('written')).toEqual(['2']);
    expect(await workspace.poll()).toMatchObject({ results: [{ taskUid: 'failing' }], running: [{ taskUid: 't' }] });
    resolve();
    await workspace.resultOf('t');
    await workspace.guest.log.flushed();
    expect(readFileSync(join(workspace.stateDir, 'log/agent.log'), 'utf8')).toContain('task attempt failing/1: no disk\n');
  });

  it('that has a slot is written down as come and as started by one write, in this order; one that waits is not started', async () => {
    await workspace.configure({ maxTasks: 1, httpAddress: 'nowhere' });
    const { host } = workspace;
    await vi.waitFor(() => expect(host.heartbeats.at(-1)).toMatchObject({ freeSlots: 1 }), soon);
    host.assign({
      taskUid: 'first',
      command: 'cp "$STATE/attempts.log" then; while [ ! -e go ]; do sleep 0.05; done',
      env: { STATE: workspace.stateDir },
    });
    host.assign({ taskUid: 'second', command: 'true' });
    await vi.waitFor(() => expect(host.storedSeq).toBe(2), soon);
    const recordsOf = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; key?: string; assignment?: { taskUid: string } })
        .map(({ type, key, assignment }) => `${type} ${key ?? assignment?.taskUid}`);
    await vi.waitFor(() => expect(existsSync(inRoot('then'))).toBe(true), soon);
    expect(recordsOf(readFileSync(inRoot('then'), 'utf8'))).toEqual(expect.arrayContaining(['queued first', 'started first/1']));
    expect(recordsOf(readFileSync(join(workspace.stateDir, 'attempts.log'), 'utf8'))).not.toContain('started second/1');
    writeFileSync(inRoot('go'), '');
    await workspace.resultOf('second');
  });

  it('that is revoked in the moment in which it comes has no result, whether it began or not', async () => {
    for (let index = 0; index < 20; index += 1) {
      workspace.host.assign({ taskUid: `r${index}`, command: 'sleep 987' });
      if (index % 2 === 0) await new Promise(setImmediate);
      await workspace.revoke(`r${index}`);
    }
    await vi.waitFor(() => expect(workspace.host.storedSeq).toBe(20), soon);
    await vi.waitFor(async () => expect(await workspace.poll()).toMatchObject({ results: [], pendingTasks: 0, running: [] }), soon);
  });

  it('stays out of the inbox', async () => {
    const { host } = workspace;
    host.assign({ taskUid: 't', command: 'true' });
    await workspace.resultOf('t');
    await vi.waitFor(() => expect(host.storedSeq).toBe(1), soon);
    expect(new Inbox(workspace.stateDir, () => {}).read({ after: 0, limit: 10 })).toEqual([]);
  });

  it('waits for a slot in the order it came; a message that comes meanwhile does not', async () => {
    const { host } = workspace;
    for (let index = 1; index <= 6; index += 1) {
      host.assign({ taskUid: `t${index}`, command: `echo ${index} >> order; while [ ! -e go${index} ]; do sleep 0.05; done` });
    }
    host.send();
    await vi.waitFor(() => expect(host.storedSeq).toBe(7), soon);
    await vi.waitFor(() => expect(linesOf('order').sort()).toEqual(['1', '2', '3', '4']), soon);
    expect(await workspace.poll()).toMatchObject({ results: [], pendingTasks: 6, running: [{}, {}, {}, {}] });
    writeFileSync(inRoot('go3'), '');
    await workspace.resultOf('t3');
    await vi.waitFor(() => expect(linesOf('order')).toHaveLength(5), soon);
    expect(linesOf('order')[4]).toBe('5');
    for (const index of [1, 2, 4, 5, 6]) writeFileSync(inRoot(`go${index}`), '');
    await workspace.resultOf('t6');
  });

  it('takes as many slots as the host allows', async () => {
    const { host } = workspace;
    await workspace.configure({ maxTasks: 1, httpAddress: 'nowhere' });
    host.assign({ taskUid: 'a', command: 'echo a >> order; sleep 0.2; echo a >> order' });
    host.assign({ taskUid: 'b', command: 'echo b >> order' });
    await workspace.resultOf('b');
    expect(linesOf('order')).toEqual(['a', 'a', 'b']);
  });

  it.each([
    [{ env: { LD_PRELOAD: 'x' } }, 'LD_PRELOAD'],
    [{ workdir: '/etc' }, 'outside the workspace'],
    [{ workdir: 'missing' }, 'missing'],
  ])('that cannot be started is a result of -1: %j', async (fields, problem) => {
    workspace.host.assign({ taskUid: 't', command: 'echo ran > ran', ...fields });
    expect(await workspace.resultOf('t')).toMatchObject({ exitCode: -1, stderr: expect.stringContaining(problem) });
    expect(existsSync(inRoot('ran'))).toBe(false);
  });

  it.each([
    ['not json', 'unknown', 1],
    ['{"taskUid":"../../x","command":"true"}', 'unknown', 1],
    ['{"taskUid":"t","attempt":2,"taskName":"n"}', 't', 2],
    ['[]', 'unknown', 1],
  ])('whose assignment is malformed is a result of -2: %s', async (content, taskUid, attempt) => {
    const { message_id } = workspace.host.send({ message_type: 'task_assignment', content: content.padEnd(500, ' ') });
    const result = await workspace.resultOf(taskUid, attempt);
    expect(result).toMatchObject({ exitCode: -2, isLost: false, sourceMessageId: message_id, stderr: expect.stringContaining(content) });
    expect(result.stderr.length).toBeLessThan(400);
    await workspace.ack(result);
    expect((await workspace.poll()).results).toEqual([]);
  });

  it('over its time is ended with its whole group', async () => {
    workspace.host.assign({ taskUid: 't', command: 'sleep 987 & echo $! > child; echo out; wait', timeoutMs: 500 });
    const result = await workspace.resultOf('t');
    expect(result).toMatchObject({ exitCode: -1, timedOut: true, stdout: 'out\n', stderr: 'task timed out after 0.5s' });
    const pid = Number(linesOf('child')[0]);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), soon);
  });

  it('that writes much is cut in the result and whole beside it', async () => {
    workspace.host.assign({ taskUid: 't', command: 'head -c 5000000 /dev/zero | tr "\\0" x; echo small >&2' });
    const { stdout, stdoutTruncated, stderr, stderrTruncated } = await workspace.resultOf('t');
    expect([stdout.length, stdoutTruncated]).toEqual([2 * 1024 * 1024 + '\n... (truncated)'.length, true]);
    expect(stdout.endsWith('x\n... (truncated)')).toBe(true);
    expect([stderr, stderrTruncated]).toEqual(['small\n', false]);
    expect(readdirSync(join(workspace.stateDir, 'artifacts'))).toEqual(['t-1.out']);
    expect(statSync(join(workspace.stateDir, 'artifacts/t-1.out')).size).toBe(5_000_000);
  });

  it('that writes 20 MiB at once on both outputs has whole logs of them, until the host has taken them', async () => {
    workspace.host.assign({ taskUid: 't', command: 'head -c 20971520 /dev/zero & head -c 20971520 /dev/zero >&2; wait' });
    const result = await workspace.resultOf('t');
    expect(result.artifacts).toEqual([
      { name: 'stdout', sizeBytes: 20_971_520 },
      { name: 'stderr', sizeBytes: 20_971_520 },
    ]);
    await workspace.restart();
    expect((await workspace.poll()).results).toEqual([result]);
    expect(readdirSync(join(workspace.stateDir, 'artifacts')).sort()).toEqual(['t-1.err', 't-1.out']);
    await workspace.ack(result);
    expect(readdirSync(join(workspace.stateDir, 'artifacts'))).toEqual([]);
  });

  it('that writes more than a Task takes keeps a log of it, whole to the byte, though the result is not cut', async () => {
    workspace.host.assign({ taskUid: 't', command: `printf '\\377'; head -c ${64 * 1024} /dev/zero` });
    const { artifacts, stdoutTruncated } = await workspace.resultOf('t');
    expect([artifacts, stdoutTruncated]).toEqual([[{ name: 'stdout', sizeBytes: 64 * 1024 + 1 }], false]);
    expect(readFileSync(join(workspace.stateDir, 'artifacts/t-1.out'))[0]).toBe(0xff);
  });

  it('says which commit its work ended at', async () => {
    const commit = 'git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m work && git rev-parse HEAD';
    workspace.host.assign({ taskUid: 'none', command: 'git init -q .' });
    expect(await workspace.resultOf('none')).not.toHaveProperty('commit');
    workspace.host.assign({ taskUid: 'some', command: `${commit}; exit 3` });
    const { stdout, commit: found, exitCode } = await workspace.resultOf('some');
    expect([exitCode, found]).toEqual([3, stdout.trim()]);
    expect(found).toMatch(/^[0-9a-f]{40}$/);
  });

  it('names no commit of a repository above its workspace', async () => {
    mkdirSync(inRoot('.git'));
    execFileSync('git', ['init', '-q', workspace.directory]);
    execFileSync('git', [
      '-C',
      workspace.directory,
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'x',
    ]);
    workspace.host.assign({ taskUid: 't', command: 'true' });
    expect(await workspace.resultOf('t')).not.toHaveProperty('commit');
  });

  it('has results that always fit into an answer, one after the other', async () => {
    const { host } = workspace;
    // Each zero byte takes six in JSON.
    for (const taskUid of ['a', 'b', 'c']) host.assign({ taskUid, command: 'head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2' });
    await vi.waitFor(() => expect(host.heartbeats.at(-1)).toMatchObject({ pendingResults: 3 }), soon);
    const seen: string[] = [];
    while (seen.length < 3) {
      const answer = await workspace.poll(100);
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MAX_FRAME_BYTES - 1000);
      expect(answer.results.length).toBeGreaterThan(0);
      seen.push(...answer.results.map(({ taskUid }) => taskUid));
      await workspace.ack(...answer.results);
    }
    expect(seen.sort()).toEqual(['a', 'b', 'c']);
  });
});

function isRunning(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
}

describe('an attempt', () => {
  it('is offered until it is acknowledged, also after a restart, and never runs again', async () => {
    const { host } = workspace;
    const content = host.assign({ taskUid: 't', command: 'echo ran >> ran; echo out' }).content;
    const result = await workspace.resultOf('t');
    await workspace.restart();
    expect((await workspace.poll()).results).toEqual([result]);
    expect((await workspace.poll()).results).toEqual([result]);
    await workspace.ack(result);
    await workspace.ack(result);
    expect((await workspace.poll()).results).toEqual([]);
    await workspace.restart();
    host.send({ message_type: 'task_assignment', content });
    host.assign({ taskUid: 'other', command: 'true' });
    await workspace.resultOf('other');
    expect((await workspace.poll()).results.map(({ taskUid }) => taskUid)).toEqual(['other']);
    expect(linesOf('ran')).toEqual(['ran']);
  });

  it('that was running when the guest was killed is lost, once', async () => {
    const { host } = workspace;
    const { message_id } = host.assign({ taskUid: 't', command: 'echo ran >> ran; sleep 60' });
    await vi.waitFor(() => expect(linesOf('ran')).toEqual(['ran']), soon);
    await workspace.restart();
    expect(await workspace.resultOf('t')).toMatchObject({ isLost: true, exitCode: -1, fencingToken: 7, sourceMessageId: message_id });
    await vi.waitFor(() => expect(host.heartbeats.at(-1)).toMatchObject({ pendingResults: 1, runningTasks: [] }), soon);
    await workspace.ack({ taskUid: 't', attempt: 1 });
    await workspace.restart();
    expect((await workspace.poll()).results).toEqual([]);
    expect(linesOf('ran')).toEqual(['ran']);
  });

  it('that waited for a slot when the guest was killed runs in the next one', async () => {
    const { host } = workspace;
    for (let index = 0; index < 4; index += 1) host.assign({ command: 'sleep 60' });
    host.assign({ taskUid: 'waited', command: 'echo ran >> ran' });
    await vi.waitFor(() => expect(host.storedSeq).toBe(5), soon);
    expect(linesOf('ran')).toEqual([]);
    await workspace.restart();
    await vi.waitFor(() => expect(linesOf('ran')).toEqual(['ran']), soon);
    expect((await workspace.poll()).results.filter(({ isLost }) => isLost)).toHaveLength(4);
  });

  it('that is revoked ends with its group and has no result', async () => {
    workspace.host.assign({ taskUid: 't', command: 'echo $$ > pid; sleep 987' });
    await vi.waitFor(() => expect(linesOf('pid')).toHaveLength(1), soon);
    expect(await workspace.revoke('t')).toBe(true);
    expect(isRunning(Number(linesOf('pid')[0]))).toBe(false);
    expect(await workspace.poll()).toMatchObject({ results: [], pendingTasks: 0 });
    await workspace.restart();
    expect((await workspace.poll()).results).toEqual([]);
  });

  it.each(['revoked', 'over its time'])('that is %s ends with what has left its group, and with nothing of others', async (how) => {
    const marks = { AGENTISO_WORKSPACE: workspace.root, AGENTISO_TASK: 'name-of-t', AGENTISO_ATTEMPT: '1' };
    const command = (name: string) => `setsid sh -c 'echo $$ > ${name}; exec sleep 987' & until [ -s ${name} ]; do sleep 0.01; done`;
    // A server that a Task leaves for those after it stays.
    workspace.host.assign({ taskUid: 'other', command: command('stays'), env: { ...marks, AGENTISO_TASK: 'name-of-other' } });
    await workspace.resultOf('other');
    const stays = Number(linesOf('stays')[0]);
    onTestFinished(() => void process.kill(stays, 'SIGKILL'));
    const [timeoutMs, isTimed] = how === 'revoked' ? [60_000, false] : [3_000, true];
    workspace.host.assign({ taskUid: 't', command: `${command('goes')}; sleep 987`, timeoutMs, env: marks });
    await vi.waitFor(() => expect(linesOf('goes')).toHaveLength(1), soon);
    if (isTimed) await workspace.resultOf('t');
    else await workspace.revoke('t');
    expect([isRunning(stays), isRunning(Number(linesOf('goes')[0]))]).toEqual([true, false]);
  });

  it('that was revoked before it came never starts, also after a restart', async () => {
    expect(await workspace.revoke('t')).toBe(false);
    await workspace.restart();
    workspace.host.assign({ taskUid: 't', command: 'echo ran >> ran' });
    workspace.host.assign({ taskUid: 'other', command: 'true' });
    await workspace.resultOf('other');
    expect(linesOf('ran')).toEqual([]);
    expect((await workspace.poll()).results).toHaveLength(1);
  });

  it('has no result any more when it is revoked after its end', async () => {
    workspace.host.assign({ taskUid: 't', command: 'true' });
    await workspace.resultOf('t');
    expect(await workspace.revoke('t')).toBe(false);
    await workspace.restart();
    expect((await workspace.poll()).results).toEqual([]);
  });

  it('is ended before a newer one of the same task starts', async () => {
    const { host } = workspace;
    host.assign({ taskUid: 't', attempt: 1, command: 'trap "echo ended >> order; exit" TERM; echo started >> order; sleep 987 & wait' });
    await vi.waitFor(() => expect(linesOf('order')).toEqual(['started']), soon);
    host.assign({ taskUid: 't', attempt: 2, command: 'echo newer >> order' });
    expect(await workspace.resultOf('t', 2)).toMatchObject({ exitCode: 0 });
    expect(linesOf('order')).toEqual(['started', 'ended', 'newer']);
    expect(await workspace.resultOf('t', 1)).toMatchObject({ exitCode: -1, stderr: expect.stringContaining('newer attempt') });
  });

  it('that still waits when a newer one of the same task comes never starts', async () => {
    const { host } = workspace;
    for (let index = 1; index <= 4; index += 1) host.assign({ taskUid: `busy${index}`, command: 'sleep 60' });
    host.assign({ taskUid: 't', attempt: 1, command: 'echo older >> order' });
    host.assign({ taskUid: 't', attempt: 2, command: 'echo newer >> order' });
    await vi.waitFor(() => expect(host.storedSeq).toBe(6), soon);
    await workspace.revoke('busy1');
    expect(await workspace.resultOf('t', 2)).toMatchObject({ exitCode: 0 });
    expect(linesOf('order')).toEqual(['newer']);
    expect(await workspace.resultOf('t', 1)).toMatchObject({ exitCode: -1 });
  });
});

describe('a disk that fails', () => {
  // A small result is a line of a journal, a large one a file.
  const SMALL = { command: 'echo done', stdout: 'done\n', file: 'results.log' };
  const LARGE = { command: 'head -c 20000 /dev/zero | tr "\\0" x', stdout: 'x'.repeat(20_000), file: 'results/t.1.json.new' };

  it.each([
    { ...SMALL, size: 'small' },
    { ...LARGE, size: 'large' },
  ])('holds up a $size result until it is well again, and loses nothing', async ({ command, stdout, file }) => {
    const { host, stateDir } = workspace;
    host.assign({ taskUid: 't', command: `while [ ! -e go ]; do sleep 0.05; done; ${command}` });
    await vi.waitFor(() => expect(host.heartbeats.at(-1)?.runningTasks).toHaveLength(1), soon);
    mkdirSync(join(stateDir, file));
    writeFileSync(inRoot('go'), '');
    await workspace.guest.log.flushed();
    await vi.waitFor(() => expect(readFileSync(join(stateDir, 'log/agent.log'), 'utf8')).toContain('guest task attempt t/1: EISDIR'), soon);
    expect(await workspace.poll()).toMatchObject({ results: [], running: [{ taskUid: 't', attempt: 1 }] });
    rmdirSync(join(stateDir, file));
    expect(await workspace.resultOf('t')).toMatchObject({ stdout, exitCode: 0 });
  });

  it.each([
    { ...SMALL, size: 'small' },
    { ...LARGE, size: 'large' },
  ])('for want of room holds up no $size result where room was kept for it', async ({ command, stdout, file }) => {
    const full = join(workspace.stateDir, file);
    const spend = vi.fn(async () => {
      rmSync(full);
      return true;
    });
    workspace.reserve = { keep: vi.fn(async () => {}), spend };
    await workspace.restart();
    symlinkSync('/dev/full', full);
    workspace.host.assign({ taskUid: 't', command });
    expect(await workspace.resultOf('t')).toMatchObject({ stdout, exitCode: 0 });
    expect(workspace.reserve.keep).toHaveBeenCalled();
    expect(spend).toHaveBeenCalledOnce();
  });
});
