/** A home in which something else is where a file of the daemon should be: it says which, in one line, and ends. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';

const place = temporaryFolder();
afterAll(() => place.remove());

it.each(['kubeconfig', 'state/port', 'state/snapshot.jsonl', 'state/numbers.json', 'state/lock', 'state/boot', 'state/access/ca.pem'])(
  'serve ends when %s is a folder',
  async (file) => {
    const home = join(place.folder, file.replaceAll('/', '-'));
    const first = startCli(['serve', '--home', home]);
    await first.said('agentiso ready');
    first.child.kill('SIGTERM');
    expect(await first.result).toMatchObject({ code: 0 });
    const path = join(home, file);
    rmSync(path, { force: true });
    mkdirSync(join(path, 'in-the-way'), { recursive: true });
    const { code, stdout, stderr } = await runCli(['serve', '--home', home, '--log-level', 'error']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(path);
    expect(stderr).toMatch(/^agentiso: [^\n]*\n( {2}[^\n]*\n)?$/);
  },
  60_000,
);
