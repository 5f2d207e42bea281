import { describe, expect, it } from 'vitest';
import { judgeExit } from './exit.ts';

const ENDED = 'agentiso: the guest agent ended with 0';

describe('why a machine ended', () => {
  it.each([
    ['its guest ended and it was turned off', { exit: 'exited with code 0', reason: 'guest-shutdown', console: ENDED }, undefined],
    [
      'its kernel panicked, with the same exit code',
      { exit: 'exited with code 0', reason: 'guest-reset', console: 'Kernel panic - not syncing: VFS' },
      'the machine exited with code 0 (guest-reset)\nKernel panic - not syncing: VFS',
    ],
    [
      'its guest agent failed',
      { exit: 'exited with code 0', reason: 'guest-shutdown', console: 'agentiso: the guest agent ended with 1' },
      'the machine exited with code 0 (guest-shutdown)\nagentiso: the guest agent ended with 1',
    ],
    ['it was killed', { exit: 'ended by SIGKILL', reason: undefined, console: '' }, 'the machine ended by SIGKILL'],
    ['nobody watched', { exit: undefined, reason: undefined, console: ENDED }, `the machine ended while no daemon watched it\n${ENDED}`],
  ])('%s', (_, given, expected) => {
    expect(judgeExit({ complaints: '', ...given })).toBe(expected);
  });

  it('has what QEMU itself complained about', () => {
    const complaints = 'qemu-system-x86_64: could not open disk';
    expect(judgeExit({ console: '', complaints, exit: 'exited with code 1', reason: undefined })).toContain(complaints);
  });
});
