/** kubectl while the daemon stops, is killed and comes back. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../support/cli.ts';
import { startDaemon } from '../support/daemon.ts';
import { kubectlFor, kubectls } from '../support/kubectl.ts';
import { taskYaml } from '../support/kubectl-api.ts';
import { requires } from '../support/requirements.ts';

requires(kubectls.ok, kubectls.reason)('kubectl over a restart', () => {
  it.concurrent.each(kubectls.binaries)('$version: get -w ends with the daemon, and a wait goes on with the next one', async (binary) => {
    await inTemporaryFolder(async (folder) => {
      const home = join(folder, 'home');
      const first = await startDaemon(home);
      const { ok, start } = kubectlFor(binary, first.kubeconfig, folder);
      await ok(['create', '-f', '-'], { input: taskYaml('a') });
      const watch = start(['get', 'tasks', '-w']);
      await watch.said('nobody');
      const waits = [
        start(['wait', '--for=jsonpath={.spec.title}=later', 'task/a', '--timeout=100s']),
        start(['wait', '--for=delete', 'task/a', '--timeout=100s']),
      ];
      await watching(first, 3);
      expect(await first.stop()).toMatchObject({ code: 0, stderr: '' });
      expect(await watch.result).toMatchObject({ code: 0, stderr: '' });
      const second = await startDaemon(home);
      expect(second.server).toEqual(first.server);
      const version = () => ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.resourceVersion}']);
      const before = BigInt(await version());
      await ok(['patch', 'task', 'a', '--type=merge', '-p', '{"spec":{"title":"later"}}']);
      expect(BigInt(await version())).toBeGreaterThan(before);
      expect(await waits[0]?.result).toMatchObject({ code: 0, stdout: 'task.agentiso.dev/a condition met\n' });
      await second.kill();
      const third = await startDaemon(home);
      expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.spec.title}'])).toBe('later');
      await ok(['delete', 'task', 'a']);
      expect((await waits[1]?.result)?.code).toBe(0);
      await third.stop();
      const down = await start(['get', 'tasks']).result;
      expect(down.code).toBe(1);
      expect(down.stderr).toMatch(/refused/);
    });
  });
});

/** Resolves when so many watches are open. */
async function watching({ api }: Awaited<ReturnType<typeof startDaemon>>, count: number): Promise<void> {
  for (;;) {
    const { text } = await api.call('GET', '/metrics');
    const found = /^agentiso_api_watch\w*(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1];
    if (found === undefined) throw new Error(`no count of watches in ${text}`);
    if (Number(found) >= count) return;
  }
}
