import { describe, expect, it } from 'vitest';
import { exitStatus } from './exit-status.ts';

describe('exitStatus', () => {
  it.each([
    { exitCode: 3, want: '3' },
    { exitCode: 255, want: '255' },
    { exitCode: -1, want: '126' },
  ])('tells clients of $exitCode as $want, which all of them can read', ({ exitCode, want }) => {
    expect(exitStatus(exitCode)).toMatchObject({
      status: 'Failure',
      message: `command terminated with non-zero exit code: exit status ${want}`,
      details: { causes: [{ reason: 'ExitCode', message: want }] },
    });
  });

  it('has no causes when all went well', () => {
    expect(exitStatus(0)).toEqual({ metadata: {}, status: 'Success' });
  });
});
