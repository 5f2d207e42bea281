import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GUEST_VERSION } from './version.ts';

it('has the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  expect(GUEST_VERSION).toBe(version);
});
