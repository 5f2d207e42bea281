/** What goes wrong on the way of the work from one guest to the other; that it arrives is seen with real ones in test/e2e. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { fillWorkspace, type Guest, UnusableWork } from './verify-fill.ts';

interface FakeEnd {
  readonly guest: Guest;
  readonly stdout: PassThrough;
  exit(code: number): void;
}

/** One command with streams, which goes on until it is told to end or its caller gives it up. */
function commandEnd(): FakeEnd {
  const [stdin, stdout, stderr] = [new PassThrough().resume(), new PassThrough(), new PassThrough()];
  let exit: (code: number) => void = () => {};
  const open = (_type: string, _params: unknown, { signal }: { signal: AbortSignal }) => {
    const result = new Promise((resolve, reject) => {
      exit = (exitCode) => resolve({ exitCode });
      signal.addEventListener('abort', () => {
        stderr.end();
        reject(signal.reason);
      });
    });
    return { result, up: { stdin }, down: { stdout, stderr } };
  };
  return { guest: { open } as unknown as Guest, stdout, exit: (code) => exit(code) };
}

const fill = (from: FakeEnd, to: FakeEnd) =>
  fillWorkspace({ from: from.guest, to: to.guest, commit: undefined, maxBytes: 100, signal: new AbortController().signal });

it('says that a connection broke, not that the rest was given up for it', async () => {
  const [from, to] = [commandEnd(), commandEnd()];
  const filled = fill(from, to);
  from.stdout.write('some');
  from.stdout.destroy(new Error('the connection was closed'));
  await expect(filled).rejects.toMatchObject({
    code: 'Unavailable',
    message: 'the work was not carried over: the connection was closed',
  });
});

it('says that there is too much of it', async () => {
  const [from, to] = [commandEnd(), commandEnd()];
  const filled = fill(from, to);
  from.stdout.write('x'.repeat(101));
  await expect(filled).rejects.toThrow(UnusableWork);
});
