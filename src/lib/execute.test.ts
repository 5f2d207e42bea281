import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ExecuteError, execute } from './execute.ts';

const failure = async (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it went well'),
    (error: unknown) => error,
  );

describe('execute', () => {
  it('gives what the program has said', async () => {
    expect(await execute('/bin/sh', ['-c', 'echo out; echo err >&2'])).toEqual({ stdout: 'out\n', stderr: 'err\n' });
  });

  it('runs it where Ctrl-C at the terminal does not reach: in a group and a session of its own', async () => {
    const { stdout } = await execute('/bin/sh', ['-c', 'echo $$; exec cat /proc/self/stat']);
    const [pid = '', stat = ''] = stdout.split('\n');
    const [, , group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    expect([group, session]).toEqual([pid, pid]);
    expect(readFileSync('/proc/self/stat', 'utf8')).not.toContain(` ${session} ${group} `);
  });

  it('says what a program that failed has said, and what it ended with', async () => {
    const error = await failure(execute('/bin/sh', ['-c', 'echo half; echo no room >&2; exit 32']));
    expect(error).toBeInstanceOf(ExecuteError);
    expect(error).toMatchObject({ code: 32, stdout: 'half\n', stderr: 'no room\n', message: expect.stringContaining('no room') });
  });

  it('says that there is no such program', async () => {
    expect(await failure(execute('/no/such/program', []))).toMatchObject({ code: 'ENOENT' });
  });

  it('ends a program with all it has started when it is not wanted any more', async () => {
    const wanted = new AbortController();
    // Without its child gone as well its output would stay open for ever.
    const running = failure(execute('/bin/sh', ['-c', 'sleep 1000 & wait'], { signal: wanted.signal }));
    wanted.abort(new Error('not wanted'));
    expect(await running).toMatchObject({ message: 'not wanted' });
  });

  it('ends one that takes too long or says too much', async () => {
    const late = failure(execute('/bin/sh', ['-c', 'sleep 1000 & wait'], { timeoutMs: 20 }));
    expect(await late).toMatchObject({ message: expect.stringContaining('it took longer than 20 ms') });
    const loud = failure(execute('/bin/sh', ['-c', 'while :; do echo more; done'], { maxOutputBytes: 1_000 }));
    expect(await loud).toMatchObject({ message: expect.stringContaining('it said more than 1000 bytes') });
  });
});
