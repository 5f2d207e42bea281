import { expect, it } from 'vitest';
import { writeFiles } from './write-files.ts';

it('says that a place takes no new folders, and does not try for ever', () => {
  expect(() => writeFiles('/proc/agentiso/none', [])).toThrow(/\/proc\/agentiso\/none/);
});
