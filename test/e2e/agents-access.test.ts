/** Into agents in real sandboxes from outside: our own command line and kubectl do the same things with them. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { type Kubectl, kubectlFor, kubectls } from '../support/kubectl.ts';
import { hasTerminals } from '../support/terminal.ts';

const program = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');
const newest = kubectls.binaries.at(-1);
if (!newest) console.warn(`skipped: agents through kubectl: ${kubectls.reason}`);

withSandboxes('agents from outside', () => {
  const home = new AgentsHome();
  let agent: Agent;
  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'try', { isolation: { driver: 'sandbox' }, roles: [{ name: 'one' }] });
    [agent] = (await home.ready(['try-one'])) as [Agent];
  });
  afterAll(() => home.close());

  /** Takes what kubectl takes: the namespace comes first. */
  const ownProgram = () => {
    const path = join(home.folder, 'agentiso');
    writeFileSync(path, `#!/bin/sh\nshift\nAGENTISO_HOME='${home.home}' exec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(path, 0o755);
    return { version: 'agentiso', path };
  };

  describe.each(newest ? ['agentiso', 'kubectl'] : ['agentiso'])('by %s', (name) => {
    let tool: Kubectl;
    let path: string;
    let folder: string;
    beforeAll(() => {
      const binary = name === 'kubectl' && newest ? newest : ownProgram();
      path = binary.path;
      folder = join(home.folder, `by-${name}`);
      mkdirSync(folder);
      tool = kubectlFor(binary, home.kubeconfig, folder);
    });

    it('run commands as the agent would: streams, input, exit code, and gone when nobody waits for them', async () => {
      expect(await tool.run(['exec', 'try-one', '--', 'sh', '-c', 'id -u; pwd; echo err >&2; exit 3'])).toEqual({
        code: 3,
        stdout: '1000\n/workspace\n',
        stderr: expect.stringMatching(/^err\n/),
      });
      const text = 'line\n'.repeat(200_000);
      expect((await tool.ok(['exec', '-i', 'try-one', '--', 'cat'], { input: text })) === text).toBe(true);
      const mark = `${12_345 + name.length}`;
      const sleeping = tool.start(['exec', 'try-one', '--', 'sh', '-c', `echo started; exec sleep ${mark}`]);
      await sleeping.said('started');
      const asleep = () => home.inside('try-one', 'sh', '-c', `grep -alx "sleep.${mark}." /proc/[0-9]*/cmdline 2>/dev/null | wc -l`);
      expect(await asleep()).toBe('1\n');
      sleeping.child.kill('SIGKILL');
      await vi.waitFor(async () => expect(await asleep()).toBe('0\n'), WAIT);
    });

    it.runIf(hasTerminals)('have a terminal with their size', async () => {
      const word = name === 'kubectl' ? `'${path}'` : `'${path}' -`;
      const env = { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: home.kubeconfig, TERM: 'xterm', SHELL: '/bin/sh' };
      const script = `stty cols 77 rows 33; exec ${word} exec -it try-one -- sh`;
      const child = spawn('script', ['-qec', script, '/dev/null'], { cwd: folder, env });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await vi.waitFor(() => expect(text).toMatch(/[$#] $/), WAIT);
      // The size follows the command, as with a real cluster.
      await vi.waitFor(
        () => {
          child.stdin.write('stty size\n');
          expect(text).toContain('33 77');
        },
        { ...WAIT, interval: 300 },
      );
      child.stdin.write('tty; exit 5\n');
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(5);
      expect(text).toMatch(/\/dev\/pts\/\d+\r+\n/);
    });

    it('say what their tasks print, then and now', async () => {
      const task = `try-said-by-${name}`;
      const following = tool.start(['logs', '-f', 'try-one']);
      const attached = tool.start(['attach', 'try-one']);
      await following.said('started as');
      // An attached client says nothing by itself: the words come until it has heard one.
      let count = 0;
      await vi.waitFor(
        async () => {
          await home.create('Task', `${task}-${++count}`, { team: 'try', command: `echo words by ${name}` });
          await home.reached(`${task}-${count}`, 'Succeeded');
          expect(await Promise.race([attached.said(`words by ${name}`), Promise.resolve('')])).toContain(`words by ${name}`);
        },
        { ...WAIT, interval: 200 },
      );
      await following.said(`[task/${task}-1] words by ${name}`);
      for (const { child } of [following, attached]) child.kill('SIGKILL');
      expect(await tool.ok(['logs', 'try-one', '--tail=1'])).toBe(`[task/${task}-${count}] words by ${name}\n`);
      expect(await tool.ok(['logs', 'try-one', '--timestamps', '--limit-bytes=24'])).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z?$/);
    });

    it('take and give files', async () => {
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) & 0xff));
      mkdirSync(join(folder, 'tree', 'deep'), { recursive: true });
      writeFileSync(join(folder, 'tree', 'deep', 'file.bin'), bytes);
      await tool.ok(['cp', 'tree', `try-one:from-${name}`]);
      await tool.ok(['cp', `try-one:from-${name}/deep/file.bin`, 'back.bin']);
      expect(readFileSync(join(folder, 'back.bin')).equals(bytes)).toBe(true);
    });

    it('answer on a forwarded port', async () => {
      const server = "require('net').createServer({ allowHalfOpen: true }, (s) => s.pipe(s)).listen(4000, () => console.log('listening'))";
      const inside = home.startCli('exec', 'try-one', '--', 'node', '-e', server);
      await inside.said('listening');
      const forwarding = tool.start(['port-forward', 'pod/try-one', ':4000']);
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(await forwarding.said('Forwarding from 127.0.0.1'))?.[1]);
      const texts = Array.from({ length: 5 }, (_, at) => `connection ${at} `.repeat(20_000));
      const answers = await Promise.all(texts.map((text) => echoed(port, text)));
      expect(answers.map((answer, at) => answer === texts[at])).toEqual(texts.map(() => true));
      forwarding.child.kill('SIGKILL');
      inside.child.kill('SIGKILL');
    });

    it('are shown as pods, with what they use', async () => {
      expect(await tool.ok(['get', 'pods'])).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\ntry-one +1\/1 +Running +0 +\d+s\n$/);
      const ip = agent.status?.ip;
      expect(await tool.ok(['get', 'pod', 'try-one', '-o', 'jsonpath={.status.podIP} {.metadata.uid}'])).toBe(
        `${ip} ${agent.metadata.uid}`,
      );
      const [, used] = /^NAME +CPU\(cores\) +MEMORY\(bytes\) *\ntry-one +\d+m +(\d+)Mi *\n$/.exec(await tool.ok(['top', 'pods'])) ?? [];
      expect(Number(used)).toBeGreaterThan(1);
    });
  });
});

function echoed(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(text));
    let heard = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      heard += chunk;
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(heard));
  });
}
