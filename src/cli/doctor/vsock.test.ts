import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { vsockCheck } from './vsock.ts';

it('says what is missing and what to do, or by what vsock is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-doctor-vsock-'));
  const program = join(folder, 'vhost-device-vsock');
  const look = (script: string) => {
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return vsockCheck(async () => ({ program })).look();
  };
  try {
    expect(await vsockCheck(async () => ({ problem: 'there is none', hint: 'install it' })).look()).toEqual({
      ...{ state: 'missing', detail: 'there is none', fix: { advice: 'install it' } },
    });
    expect(await look('echo vhost-device-vsock 0.3.0')).toEqual({ state: 'ok', detail: `vhost-device-vsock 0.3.0 (${program})` });
    expect(await look('echo no such library >&2; exit 127')).toMatchObject({
      ...{ state: 'broken', detail: expect.stringContaining('no such library') },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
