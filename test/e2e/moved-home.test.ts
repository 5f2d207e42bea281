/** A home that is moved after its daemon was killed: nothing by the name of its old path stays on the machine. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { probeNetwork } from '#network/probe.ts';
import { inTemporaryFolder, runCli, startCli } from '../support/cli.ts';
import { requires } from '../support/requirements.ts';

const WAIT = { timeout: 30_000, interval: 50 };
const TEAM =
  'apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata: {name: try}\nspec: {isolation: {driver: sandbox}, roles: [{name: worker}]}\n';
const [sandbox, network] = [await detectSandbox(), await probeNetwork()];
const isHere = sandbox.mode === 'root' && sandbox.places !== undefined && 'tools' in network;

const hash = (path: string) => createHash('sha256').update(path).digest('hex').slice(0, 8);
const listed = (directory: string) => (existsSync(directory) ? readdirSync(directory) : []);

/** Names on this machine that are made of the path of that home. */
function namesOf(home: string): string[] {
  const prefixes = [home, join(home, 'state', 'workspaces', 'sandbox')].map((path) => `agentiso-${hash(path)}`);
  const places = ['/run/netns', ...Object.values(sandbox.places?.parents ?? {})];
  return places.flatMap(listed).filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
}

async function serve(home: string) {
  const run = startCli(['serve', '--home', home], { env: { AGENTISO_WARM_POOL: '0' } });
  await run.said('agentiso ready');
  return run;
}

requires(isHere, 'needs root, control groups, iproute2 and nftables')('a home that was moved', () => {
  it('leaves nothing by the name of its old path', async () => {
    await inTemporaryFolder(async (folder) => {
      const [before, after] = [join(folder, 'before'), join(folder, 'after')];
      mkdirSync(join(before, 'resources', 'teams', 'default'), { recursive: true });
      writeFileSync(join(before, 'resources', 'teams', 'default', 'try.yaml'), TEAM);
      const ready = (home: string) =>
        vi.waitFor(
          async () => expect((await runCli(['get', 'agent', 'try-worker', '--home', home])).stdout).toMatch(/ (Ready|Working) /),
          WAIT,
        );
      const killed = await serve(before);
      await ready(before);
      expect(namesOf(before)).not.toEqual([]);
      killed.child.kill('SIGKILL');
      await killed.result;
      renameSync(before, after);
      // It takes the agent over, which is still where it was, and ends it with itself.
      const next = await serve(after);
      await ready(after);
      next.child.kill('SIGTERM');
      expect((await next.result).code).toBe(0);
      const last = await serve(after);
      last.child.kill('SIGTERM');
      expect((await last.result).code).toBe(0);
      expect(namesOf(before)).toEqual([]);
    });
  });
});
