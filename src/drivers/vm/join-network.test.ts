import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { JOIN_SCRIPT, MOVE_SCRIPT } from './join-network.ts';

it.each([JOIN_SCRIPT, MOVE_SCRIPT])('is a script that a shell can read', (script) => {
  expect(spawnSync('/bin/sh', ['-n', '-c', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});
