import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasPipeHandles, holdDescriptor } from './pipe-handle.ts';

// A pipe that is open in both directions gives back what is written to it; Node would take its descriptor for a file.
it('makes a stream of a descriptor that Node has no word for', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'agentiso-handle-'));
  try {
    execFileSync('mkfifo', [join(directory, 'pipe')]);
    const { socket } = holdDescriptor(openSync(join(directory, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK), 'a pipe');
    socket.write('there and back');
    expect(String((await once(socket, 'data'))[0])).toBe('there and back');
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it('is there in this Node', () => {
  expect(hasPipeHandles()).toBe(true);
});
