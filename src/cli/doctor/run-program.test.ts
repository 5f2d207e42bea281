import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runProgram } from './run-program.ts';

/** One that has ended may wait for its parent to take note. */
function isRunning(pid: string): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) Z /.test(readFileSync(path, 'utf8'));
}

describe('runProgram', () => {
  it('gives the output, the code and the last complaint', async () => {
    const result = await runProgram('sh', ['-c', 'echo out; echo first >&2; echo last >&2; exit 3']);
    expect(result).toEqual({ outcome: 'exited', code: 3, stdout: 'out\n', complaint: 'last' });
  });

  it('says that there is no such program', async () => {
    expect(await runProgram('agentiso-no-such-program', [])).toMatchObject({
      outcome: 'absent',
      complaint: 'agentiso-no-such-program is not installed',
    });
  });

  it('ends what takes too long, and what that has started', async () => {
    const { outcome, complaint, stdout } = await runProgram('sh', ['-c', 'sleep 1000 & echo $!; wait'], { timeoutMs: 1_000 });
    expect([outcome, complaint, stdout]).toEqual(['late', 'no answer within 1 s', expect.stringMatching(/^\d+\n$/)]);
    await expect.poll(() => isRunning(stdout.trim())).toBe(false);
  });
});
