/** What kubectl does with pods, which are agents: get, describe, logs, exec, cp, port-forward, top, attach. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { type AgentServer, serveAgents } from '../support/fake-agent-io.ts';
import { type Kubectl, kubectlFor, kubectls } from '../support/kubectl.ts';
import { requires } from '../support/requirements.ts';
import { hasTerminals } from '../support/terminal.ts';

const WAIT = { timeout: 30_000, interval: 20 };

/** Answers each line with the same in capitals, and with `bye` when the other side has ended. */
function startShouter(): Promise<{ readonly port: number; readonly server: NetServer }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => socket.write(bytes.toString('latin1').toUpperCase(), 'latin1'));
    socket.on('end', () => socket.end('bye\n'));
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ server, port: (server.address() as { port: number }).port }));
  });
}

/** Everything that comes back for what is said, until the other side ends. */
function shout(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(text));
    let heard = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      heard += chunk;
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(heard));
  });
}

requires(kubectls.ok, kubectls.reason)('kubectl and pods', () => {
  const { folder, remove } = temporaryFolder();
  let served: AgentServer;
  beforeAll(async () => {
    served = await serveAgents(folder);
    await served.addAgent('worker');
    await served.addAgent('other');
    for (const line of ['one', 'two', 'three']) served.io.say('worker', line);
    served.io.say('other', 'hello');
  });
  afterAll(async () => {
    await served.close();
    await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
    remove();
  });

  describe.each(kubectls.binaries)('kubectl $version', (binary) => {
    let kubectl: Kubectl;
    let own: string;
    beforeAll(() => {
      own = join(folder, `kubectl-${binary.version}`);
      mkdirSync(own);
      kubectl = kubectlFor(binary, served.kubeconfig, own);
    });

    it('gets them as a table, wide, by label and field, and as yaml', async () => {
      const table = await kubectl.ok(['get', 'pods']);
      expect(table).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\nother +1\/1 +Running +1 +\d+s\nworker +1\/1 +Running +1 +\d+s\n$/);
      expect(await kubectl.ok(['get', 'po', 'worker', '-o', 'wide'])).toMatch(
        /IP +NODE .*\nworker .* 10\.99\.0\.2 +here +<none> +<none>\n$/,
      );
      const names = (args: string[]) => kubectl.ok(['get', 'pods', '-o', 'name', ...args]);
      expect(await names(['-l', 'agentiso.dev/agent=worker'])).toBe('pod/worker\n');
      expect(await names(['-l', 'agentiso.dev/team=crew,app!=worker'])).toBe('pod/other\n');
      expect(await names(['--field-selector', 'status.phase=Running,spec.nodeName=here'])).toBe('pod/other\npod/worker\n');
      expect(await names(['--field-selector', 'status.phase!=Running'])).toBe('');
      const owner = await kubectl.ok(['get', 'pod', 'worker', '-o', 'jsonpath={.metadata.ownerReferences[0].kind}/{.metadata.uid}']);
      expect(owner).toBe(`Agent/${(await served.client.get({ kind: 'Agent', namespace: 'default', name: 'worker' }))?.metadata.uid}`);
    });

    it('describes and explains them', async () => {
      const text = await kubectl.ok(['describe', 'pod', 'worker']);
      expect(text).toMatch(/^Name: +worker\n/);
      expect(text).toContain('Controlled By:  Agent/worker');
      expect(await kubectl.ok(['explain', 'pods'])).toContain('view of an Agent');
    });

    it('follows them as agents change', async () => {
      const name = `changing-${binary.version.replace('.', '-')}`;
      await served.addAgent(name);
      const watching = kubectl.start(['get', 'pods', '-w', '--field-selector', 'status.phase=Running', '--output-watch-events']);
      await watching.said(`ADDED      ${name}`);
      await served.setPhase(name, 'Failed');
      await watching.said(`DELETED    ${name}`);
      await served.setPhase(name, 'Working');
      await vi.waitFor(async () => expect((await watching.said(name)).split(`ADDED      ${name}`)).toHaveLength(3), WAIT);
      watching.child.kill();
      await watching.result;
      await served.client.delete({ kind: 'Agent', namespace: 'default', name });
      expect(await kubectl.ok(['wait', '--for=condition=Ready', 'pod/worker', '--timeout=10s'])).toBe('pod/worker condition met\n');
    });

    it('changes nothing of them', async () => {
      const refused = 'pods are a view of agents; change the Agent';
      expect(await kubectl.fails(['delete', 'pod', 'worker'])).toContain(refused);
      expect(await kubectl.fails(['label', 'pod', 'worker', 'a=b'])).toContain(refused);
    });

    it('prints logs', async () => {
      expect(await kubectl.ok(['logs', 'worker'])).toBe('one\ntwo\nthree\n');
      expect(await kubectl.ok(['logs', 'worker', '--tail=1', '-c', 'agent'])).toBe('three\n');
      expect(await kubectl.ok(['logs', 'worker', '--timestamps', '--tail=1'])).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z three\n$/);
      expect(await kubectl.ok(['logs', 'worker', '--since=1h', '--limit-bytes=5'])).toBe('one\nt');
      expect(await kubectl.ok(['logs', '-l', 'agentiso.dev/team=crew', '--prefix'])).toContain('[pod/other/agent] hello\n');
      expect(await kubectl.fails(['logs', 'worker', '-c', 'other'])).toContain('other is not valid for pod worker');
      expect(await kubectl.fails(['logs', 'worker', '-p'])).toContain('previous terminated container "agent" in pod "worker" not found');
      expect(await kubectl.fails(['logs', 'nobody'])).toContain('pods "nobody" not found');
    });

    it('follows a log', async () => {
      const following = kubectl.start(['logs', '-f', 'worker', '--tail=1']);
      await following.said('three');
      served.io.say('worker', `new for ${binary.version}`);
      await following.said(`new for ${binary.version}`);
      following.child.kill();
      await following.result;
      // The others count the lines.
      writeFileSync(join(served.io.folder('worker'), '.log'), '');
      for (const line of ['one', 'two', 'three']) served.io.say('worker', line);
    });

    it('runs commands, with their output, input and exit code', async () => {
      expect(await kubectl.run(['exec', 'worker', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'])).toEqual({
        code: 3,
        stdout: 'out\n',
        stderr: expect.stringMatching(/^err\n.*exit code 3/s),
      });
      const text = 'line\n'.repeat(100_000);
      expect(await kubectl.ok(['exec', '-i', 'worker', '--', 'cat'], { input: text })).toBe(text);
      expect(await kubectl.ok(['exec', 'pod/worker', '-c', 'agent', '--', 'pwd'])).toBe(`${served.io.folder('worker')}\n`);
      const much = await kubectl.ok(['exec', 'worker', '--', 'sh', '-c', 'yes 0123456789 | head -c 20000000']);
      expect(much.length).toBe(20_000_000);
    });

    it('says why a command cannot run', async () => {
      await served.addAgent(`stopped-${binary.version}`.replace('.', '-'));
      served.io.stop(`stopped-${binary.version}`.replace('.', '-'));
      const said = await kubectl.fails(['exec', `stopped-${binary.version}`.replace('.', '-'), '--', 'true']);
      expect(said).toContain('container not found ("agent")');
      await served.client.delete({ kind: 'Agent', namespace: 'default', name: `stopped-${binary.version}`.replace('.', '-') });
      expect(await kubectl.fails(['exec', 'nobody', '--', 'true'])).toContain('pods "nobody" not found');
    });

    it('ends the command when kubectl goes away', async () => {
      const mark = `sleep-${binary.version}`;
      const running = kubectl.start(['exec', 'worker', '--', 'sh', '-c', `echo ${mark}; exec sleep 1000`]);
      await running.said(mark);
      expect(served.io.running.size).toBeGreaterThan(0);
      running.child.kill('SIGKILL');
      await vi.waitFor(() => expect(served.io.running.size).toBe(0), WAIT);
    });

    it.runIf(hasTerminals)('runs a command on a terminal', async () => {
      const script = `exec '${binary.path}' exec -it worker -- sh`;
      const env = { PATH: process.env['PATH'], HOME: own, KUBECONFIG: served.kubeconfig, TERM: 'xterm', SHELL: '/bin/sh' };
      const child: ChildProcess = spawn('script', ['-qec', `stty cols 77 rows 33; ${script}`, '/dev/null'], { cwd: own, env });
      let text = '';
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      await vi.waitFor(() => expect(text).toMatch(/[$#] $/), WAIT);
      await vi.waitFor(
        () => {
          child.stdin?.write('stty size\n');
          expect(text).toContain('33 77');
        },
        { timeout: 30_000, interval: 500 },
      );
      child.stdin?.write('exit 5\n');
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(5);
    });

    it('copies files both ways', async () => {
      mkdirSync(join(own, 'tree', 'deep'), { recursive: true });
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) & 0xff));
      writeFileSync(join(own, 'tree', 'deep', 'file.bin'), bytes);
      const target = `copied-${binary.version}`;
      await kubectl.ok(['cp', 'tree', `worker:${target}`]);
      expect(readFileSync(join(served.io.folder('worker'), target, 'deep', 'file.bin')).equals(bytes)).toBe(true);
      await kubectl.ok(['cp', `worker:${target}/deep/file.bin`, 'back.bin']);
      expect(readFileSync(join(own, 'back.bin')).equals(bytes)).toBe(true);
    });

    it('forwards ports, many connections at once', async () => {
      const shouter = await startShouter();
      const forwarding = kubectl.start(['port-forward', 'pod/worker', `:${shouter.port}`]);
      const said = await forwarding.said('Forwarding from 127.0.0.1');
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]);
      expect(await shout(port, 'hello\n')).toBe('HELLO\nbye\n');
      const texts = Array.from({ length: 20 }, (_, at) => `connection ${at} `.repeat(20_000));
      const answers = await Promise.all(texts.map((text) => shout(port, text)));
      expect(answers.map((answer, at) => answer === `${texts[at]?.toUpperCase()}bye\n`)).toEqual(texts.map(() => true));
      forwarding.child.kill();
      await forwarding.result;
      shouter.server.close();
    });

    it('says when nobody listens on the port', async () => {
      const { port, server } = await startShouter();
      await new Promise((resolve) => {
        server.close(resolve);
      });
      const forwarding = kubectl.start(['port-forward', 'pod/worker', `:${port}`]);
      const said = await forwarding.said('Forwarding from 127.0.0.1');
      await shout(Number(/127\.0\.0\.1:(\d+)/.exec(said)?.[1]), 'x').catch(() => '');
      await forwarding.said('ECONNREFUSED');
      forwarding.child.kill();
      await forwarding.result;
    });

    it('shows what they use', async () => {
      expect(await kubectl.ok(['top', 'pods'])).toMatch(
        /^NAME +CPU\(cores\) +MEMORY\(bytes\) +\nother +12m +34Mi +\nworker +12m +34Mi +\n$/,
      );
      expect(await kubectl.ok(['top', 'pod', 'worker', '--containers', '--no-headers'])).toMatch(/^worker +agent +12m +34Mi +\n$/);
    });

    it('attaches to their output', async () => {
      const attached = kubectl.start(['attach', 'worker']);
      await vi.waitFor(async () => {
        served.io.say('worker', 'heard');
        expect(await Promise.race([attached.said('heard'), Promise.resolve('')])).toContain('heard');
      }, WAIT);
      attached.child.kill();
      await attached.result;
      writeFileSync(join(served.io.folder('worker'), '.log'), '');
      for (const line of ['one', 'two', 'three']) served.io.say('worker', line);
    });
  });
});
