/** A home whose disk is full: what cannot be kept is refused, `why` says it, and all goes on by itself when there is room again. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { requires } from '../support/requirements.ts';

const WAIT = { timeout: 60_000, interval: 200 };
const PROGRAM = join(import.meta.dirname, '../../dist/agentiso.js');
/** The namespace goes with the daemon, and the disk with the namespace. */
const SERVE = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"';
const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: full }
spec:
  isolation: { driver: process }
  roles: [{ name: one }]
  tasks: [{ name: long, command: "until [ -e go ]; do sleep 0.2; done; echo went" }]
`;

const place = temporaryFolder();
afterAll(() => place.remove());

requires(process.getuid?.() === 0, 'a small disk needs the right to mount one')('a home on a full disk', () => {
  it('is what why names, and everything goes on when there is room', async () => {
    const home = join(place.folder, 'home');
    mkdirSync(home);
    const serve = [process.execPath, PROGRAM, 'serve', '--home', home, '--log-level', 'error'];
    const daemon = spawn('unshare', ['--mount', '--', '/bin/sh', '-c', SERVE, 'sh', home, ...serve], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = new Promise((resolve) => daemon.once('close', resolve));
    let said = '';
    daemon.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const inside = (argv: readonly string[], input = '') => output(['nsenter', `--target=${daemon.pid}`, '--mount', '--', ...argv], input);
    const cli = (command: string, ...args: string[]) => inside([process.execPath, PROGRAM, command, '--home', home, ...args]);
    const phase = async () => (await cli('get', 'task', 'full-long', '-o', 'jsonpath={.status.phase}')).text;
    try {
      await vi.waitFor(() => expect(said).toContain('agentiso ready'), WAIT);
      await inside([process.execPath, PROGRAM, 'apply', '--home', home, '-f', '-'], TEAM);
      await vi.waitFor(async () => expect(await phase()).toBe('Running'), WAIT);
      expect((await cli('why')).text).toContain('nothing is stuck');
      await inside(['dd', 'if=/dev/zero', `of=${join(home, 'filler')}`, 'bs=4k']);
      for (const about of [[], ['task/full-long'], ['team/full']]) {
        const { text } = await cli('why', ...about);
        expect(text).toContain('daemon is not ready: the disk of the home is full: ');
        expect(text).toContain('what helps: make room there');
      }
      const health = await cli('get', '--raw', '/readyz');
      expect(health.text).toContain('[-]home failed: the disk of the home is full');
      expect((await cli('get', '--raw', '/livez')).text).toBe('ok');
      await inside(['rm', join(home, 'filler')]);
      // Whoever failed meanwhile tries again by itself.
      await vi.waitFor(async () => expect((await cli('why')).text).toContain('nothing is stuck'), WAIT);
      expect((await cli('message', 'full/one', 'there is room')).text).toContain('Accepted');
      await cli('exec', 'full-one', '--', 'touch', 'go');
      await vi.waitFor(async () => expect(await phase()).toBe('Succeeded'), WAIT);
    } finally {
      daemon.kill('SIGTERM');
      await ended;
    }
  }, 240_000);
});

function output(
  [program = '', ...args]: readonly string[],
  input: string,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
    });
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}
