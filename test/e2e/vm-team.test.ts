/**
 * A daemon whose agents are machines and sandboxes: tasks, messages and packets between both kinds, a daemon that dies in between, and many
 * copies of one machine, of which some are killed.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { seededRandom } from '../bench/harness/random.ts';
import { AgentsHome } from '../support/agents-home.ts';
import { machinesHere, qemuOf, testImagesDirectory } from '../support/machines.ts';
import { isProcessOf, killQuietly, processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesHere();
const TEST_MS = 400_000;
const WAIT = { timeout: 300_000, interval: 200 };
const ENV = { AGENTISO_IMAGES: testImagesDirectory() };
/** Started ahead, machines are one test's concern; to the others they are work for two emulated processors. */
const WITHOUT_POOL = { ...ENV, AGENTISO_WARM_POOL: '0' };
const KEY = 'invented-key-0123456789-of-a-model';
const SEED = Number(process.env['AGENTISO_SEED'] ?? Date.now() % 1_000_000);
const KILLS = 20;
/** What must differ of every two machines. */
const FACTS = ['address', 'mac', 'uuid', 'hostname', 'random'] as const;
/** In this order. Node only for what Node draws: an emulated processor takes seconds to start it. */
const SAY_FACTS = `ip -4 -o address show eth0 | awk '{ print $4 }'; cat /sys/class/net/eth0/address /proc/sys/kernel/random/uuid; hostname
  node -p 'require("crypto").randomBytes(16).toString("hex")'`;
/** Names of this machine are refused by the proxy; that it answers at all is the way out. */
const ASK_PROXY = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT localhost:443 HTTP/1.1\\r\\nHost: localhost:443\\r\\n\\r\\n" >&3; head -c 12 <&3; echo' > proxy`;
const NO_ROOM = /^it goes on: what is in its memory may take 256 MiB, and of limits.maxSavedMiB 100 .* have 0; .*raise limits.maxSavedMiB/;
const resources = { vcpus: 1, memoryMiB: 256, diskGiB: 1 };
const ONE = { name: 'one', provider: 'mine', resources };

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('a team of machines', () => {
  const home = new AgentsHome();
  const model = createServer((request, response) =>
    response.end(request.headers.authorization === `Bearer ${KEY}` ? 'with a key' : 'without'),
  );
  beforeAll(async () => {
    model.listen(0, '127.0.0.1');
    await once(model, 'listening');
    mkdirSync(home.home, { recursive: true });
    const mine = { apiKey: KEY, baseUrl: `http://127.0.0.1:${(model.address() as AddressInfo).port}` };
    writeFileSync(join(home.home, 'credentials.yaml'), JSON.stringify({ providers: { mine } }), { mode: 0o600 });
    await home.start(['--log-level', 'info'], ENV);
    const network = { allowInterAgent: true };
    await home.create('Team', 'mixed', { isolation: { driver: 'sandbox' }, network, roles: [{ name: 'box' }] });
    await home.create('Team', 'cell', {
      parent: 'mixed',
      isolation: { driver: 'vm' },
      budget: { maxAgents: 2 },
      network,
      roles: [ONE],
    });
    await home.create('Team', 'other', { isolation: { driver: 'sandbox' }, network, roles: [{ name: 'box' }] });
    await ready('mixed-box', 'cell-one', 'other-box');
  }, TEST_MS);
  afterAll(async () => {
    await home.close(expect.anything());
    model.close();
  }, TEST_MS);

  const ready = (...names: string[]): Promise<Agent[]> =>
    vi.waitFor(async () => {
      const found = await Promise.all(names.map((name) => home.agent(name)));
      for (const { status } of found) {
        const condition = status?.conditions?.find(({ type }) => type === 'Ready');
        expect(condition?.status, JSON.stringify(status)).toBe('True');
      }
      return found;
    }, WAIT);
  /** `connected`, or why not: what is denied is answered with a reset. */
  const reach = (from: string, url: string): Promise<string> => {
    const { hostname, port } = new URL(url);
    const script = `said=$(timeout 20 bash -c ': > "/dev/tcp/$0/$1"' "$0" "$1" 2>&1) && printf connected || printf 'E%s: %s' "$?" "$said"`;
    return home.inside(from, 'sh', '-c', script, hostname, port);
  };
  const urlOf = async (name: string) => (await home.agent(name)).status?.endpoints?.http ?? '';

  it(
    'runs a task and says what it is isolated by',
    async () => {
      const { status } = await home.agent('cell-one');
      expect(status?.isolation).toMatchObject({ driver: 'vm', accel: here.support?.accel, network: 'nftables' });
      await home.create('Task', 'hello', { team: 'cell', command: 'hostname; echo done > /workspace/file' });
      const task = await vi.waitFor(async () => {
        const found = await home.task('hello');
        expect(found.status?.phase, JSON.stringify(found.status)).toBe('Succeeded');
        return found;
      }, WAIT);
      expect(JSON.stringify(task.status)).toContain('cell-one');
    },
    TEST_MS,
  );

  it(
    'talks to sandboxes as their teams allow, and to nobody else',
    async () => {
      const [box, machine, other] = [await urlOf('mixed-box'), await urlOf('cell-one'), await urlOf('other-box')];
      expect(await reach('cell-one', box)).toBe('connected');
      expect(await reach('mixed-box', machine)).toBe('connected');
      expect(await reach('cell-one', other)).toMatch(/^E1: .*refused/);
      expect(await reach('other-box', machine)).toMatch(/^E1: .*refused/);
    },
    TEST_MS,
  );

  it(
    'has its second machine from those that wait, on the same network with the same rules',
    async () => {
      await home.said('a machine waits for its agent');
      await home.change('teams', 'cell', { roles: [ONE, { name: 'two', resources }] });
      const [two] = await ready('cell-two');
      expect(isProcessOf(two?.status?.pid ?? 0, poolMark(home.home))).toBe(true);
      const [box, machine, other] = [await urlOf('mixed-box'), await urlOf('cell-two'), await urlOf('other-box')];
      expect(await reach('cell-two', box)).toBe('connected');
      expect(await reach('mixed-box', machine)).toBe('connected');
      expect(await reach('cell-two', other)).toMatch(/^E1: .*refused/);
      expect(await reach('other-box', machine)).toMatch(/^E1: .*refused/);
      await home.change('teams', 'cell', { roles: [ONE] });
      await vi.waitFor(async () => expect((await home.agents()).map(({ metadata }) => metadata.name)).not.toContain('cell-two'), WAIT);
    },
    TEST_MS,
  );

  it(
    'reaches its provider by way of the daemon, which has the key, and no name that its team does not allow',
    async () => {
      const script = `const http = require('http');
        const { port } = new URL(process.env.HTTP_PROXY);
        const ask = (path, host) => new Promise((resolve, reject) => http.get({ host: '127.0.0.1', port, path, headers: { host } }, async (r) => {
          let body = ''; for await (const piece of r) body += piece;
          resolve(r.statusCode + ' ' + (r.headers['x-agentiso-reason'] ?? body));
        }).on('error', reject));
        (async () => {
          console.log(await ask(new URL(process.env.AGENTISO_PROVIDERS_URL).pathname + '/mine/say', 'here'));
          console.log(await ask('http://denied.test/', 'denied.test'));
          require('net').connect(8080, '93.184.216.34').on('error', () => console.log(Object.values(process.env).includes(process.argv[1])));
        })();`;
      expect(await home.inside('cell-one', 'node', '-e', script, KEY)).toBe('200 with a key\n403 NameNotAllowed\nfalse\n');
      expect((await home.events('EgressRefused')).map(({ involvedObject, message }) => [involvedObject.name, message])).toEqual([
        ['cell-one', expect.stringContaining('denied.test')],
      ]);
    },
    TEST_MS,
  );

  it(
    'survives a disk that a task has filled, tells how it ended, has its mail, and works on when there is room',
    async () => {
      const { status } = await home.agent('cell-one');
      const fill = 'fallocate -l "$(df --output=avail -B1 . | tail -n 1)" large; head -c 9999 /dev/zero > more && cat more > rest';
      await home.create('Task', 'fill', { team: 'cell', command: `cd /workspace; ${fill}`, maxAttempts: 1 });
      const failed = await vi.waitFor(async () => {
        const found = await home.task('fill');
        expect(found.status?.phase, JSON.stringify(found.status)).toBe('Failed');
        return found;
      }, WAIT);
      expect(failed.status?.result?.stderr).toMatch(/No space left on device/);
      // The room that was kept for this is gone as well.
      const full = 'head -c 9M /dev/zero >> more 2> /dev/null; df --output=avail . | tail -n 1';
      expect(await home.inside('cell-one', 'sh', '-c', full)).toMatch(/^ *0\n$/);
      expect(await home.cli('message', 'cell/one', 'make room')).toMatchObject({ code: 0 });
      await vi.waitFor(async () => expect(await home.inside('cell-one', 'team', 'inbox')).toContain('make room'), WAIT);
      await home.inside('cell-one', 'rm', 'large', 'more');
      await home.create('Task', 'after', { team: 'cell', command: 'cat /workspace/file > /workspace/copy' });
      await vi.waitFor(async () => expect((await home.task('after')).status?.phase).toBe('Succeeded'), WAIT);
      expect((await home.agent('cell-one')).status).toMatchObject({ pid: status?.pid, incarnation: status?.incarnation });
    },
    TEST_MS,
  );

  it(
    'goes on when the daemon is killed, and the next one takes its machine over',
    async () => {
      const before = await home.agent('cell-one');
      await home.kill();
      await home.start([], WITHOUT_POOL);
      const [after] = await ready('cell-one');
      expect(after?.status).toMatchObject({
        pid: before.status?.pid,
        incarnation: before.status?.incarnation,
      });
      // Whoever kills QEMU gets a new machine with the old files: all that a task has written by the time it has succeeded.
      await home.create('Task', 'last', { team: 'cell', command: 'echo written > /workspace/last; echo over > /workspace/file' });
      await vi.waitFor(async () => expect((await home.task('last')).status?.phase).toBe('Succeeded'), { ...WAIT, interval: 10 });
      process.kill(qemuOf(before.status?.pid ?? 0) ?? Number.NaN, 'SIGKILL');
      await vi.waitFor(async () => expect((await home.agent('cell-one')).status?.incarnation).not.toBe(before.status?.incarnation), WAIT);
      await ready('cell-one');
      await home.create('Task', 'again', { team: 'cell', command: 'cat /workspace/last /workspace/file' });
      await vi.waitFor(async () => expect((await home.task('again')).status).toMatchObject({ phase: 'Succeeded' }), WAIT);
      expect((await home.task('again')).status?.result?.stdout).toBe('written\nover\n');
    },
    TEST_MS,
  );

  it(
    'is suspended to the disk and goes on as the same run, whenever the daemon is killed or ended',
    async () => {
      const before = await home.agent('cell-one');
      const folder = join(home.home, 'state', 'workspaces', 'vm', before.metadata.uid);
      const seen = (...names: string[]) => names.some((name) => existsSync(join(folder, name)));
      await home.inside('cell-one', 'sh', '-c', 'echo remembered > /tmp/memory; echo done > /workspace/file');
      // What there is no room for goes on, says so, and is tried again.
      home.configure({ limits: { maxSavedMiB: 100 } });
      await home.cli('suspend', 'cell-one');
      await vi.waitFor(async () => {
        const { status } = await home.agent('cell-one');
        const pending = status?.conditions?.find(({ type }) => type === 'SuspendPending');
        expect(pending).toMatchObject({ status: 'True', reason: 'QuotaExceeded', message: expect.stringMatching(NO_ROOM) });
        expect([status?.phase, status?.pid, seen('saved.new', 'saved')]).toEqual(['Ready', before.status?.pid, false]);
      }, WAIT);
      expect(await home.inside('cell-one', 'cat', '/tmp/memory')).toBe('remembered\n');
      home.configure({});
      await vi.waitFor(() => expect(seen('saved.new', 'saved')).toBe(true), { ...WAIT, interval: 5 });
      await home.kill();
      await home.start([], WITHOUT_POOL);
      const suspended = async () => {
        const { status } = await home.agent('cell-one');
        expect(status).toMatchObject({ phase: 'Suspended', incarnation: before.status?.incarnation });
        expect(JSON.stringify(status?.conditions)).toMatch(/its memory is on disk \(\d+ MiB, [^)]*saved\/state\)/);
        expect([status?.pid, seen('saved.new')]).toEqual([undefined, false]);
      };
      await vi.waitFor(suspended, WAIT);
      await vi.waitFor(() => expect(processesMentioning(folder)).toEqual([]), WAIT);
      const { code, stderr } = await home.startCli('exec', 'cell-one', '--', 'true').result;
      expect([code, stderr]).toEqual([1, expect.stringContaining('is suspended; to let it go on: agentiso resume cell-one')]);
      // The end of a daemon ends what runs, and this does not.
      await home.stop();
      await home.start([], WITHOUT_POOL);
      await vi.waitFor(suspended, WAIT);
      await home.cli('resume', 'cell-one');
      await vi.waitFor(() => expect(processesMentioning(folder)).not.toEqual([]), { ...WAIT, interval: 5 });
      await home.kill();
      await home.start([], WITHOUT_POOL);
      const [after] = await ready('cell-one', 'mixed-box');
      expect(after?.status?.incarnation).toBe(before.status?.incarnation);
      expect(await home.inside('cell-one', 'sh', '-c', 'cat /tmp/memory /workspace/file; date +%Y')).toBe(
        `remembered\ndone\n${new Date().getFullYear()}\n`,
      );
      expect(await reach('cell-one', await urlOf('mixed-box'))).toBe('connected');
    },
    TEST_MS,
  );

  it(
    'begins with the disk that its team had prepared, once for all members',
    async () => {
      const machines = join(home.home, 'state', 'workspaces', 'vm');
      await vi.waitFor(() => expect(copiesIn(machines)).toHaveLength(1), WAIT);
      const golden = { allowInternet: true, setupCommands: [ASK_PROXY, 'echo built > built; echo kept > ~/note'] };
      await home.create('Team', 'gold', { isolation: { driver: 'vm' }, golden, roles: [{ name: 'dev', count: 2, resources }] });
      const [one, two] = await ready('gold-dev-1', 'gold-dev-2');
      const [snapshot, ...others] = await home.list('snapshots');
      expect([snapshot.status, others]).toMatchObject([{ phase: 'Ready', driver: 'vm', bytes: expect.any(Number) }, []]);
      for (const agent of [one, two]) expect(agent?.status?.source).toEqual({ snapshot: snapshot.metadata.name });
      const seen = 'cat proxy built ~/note; df -BG --output=size /workspace | tail -n 1';
      expect(await home.inside('gold-dev-2', 'sh', '-c', seen)).toMatch(/^HTTP\/1.1 403\nbuilt\nkept\n +1G\n$/);
      // All of them are copies of the one template that there was: each team has a file of its own.
      expect([copiesIn(machines).length, new Set(copiesIn(machines)).size]).toEqual([2, 1]);
      expect(readdirSync(machines).filter((name) => name.startsWith('verify-'))).toEqual([]);
      await home.delete('teams', 'gold');
    },
    TEST_MS,
  );

  const copies = Array.from({ length: 8 }, (_, at) => `many-copy-${at + 1}`);

  it(
    'makes eight copies at once, and no two are alike',
    async () => {
      const machines = join(home.home, 'state', 'workspaces', 'vm');
      // Whoever comes before there is a template boots.
      await vi.waitFor(() => expect(copiesIn(machines)).not.toEqual([]), WAIT);
      await home.create('Team', 'many', { isolation: { driver: 'vm' }, roles: [{ name: 'copy', count: copies.length, resources }] });
      const agents = await ready(...copies);
      for (const { metadata } of agents) {
        expect(JSON.parse(await readFile(join(machines, metadata.uid, 'machine.json'), 'utf8'))).toMatchObject({
          state: expect.any(String),
        });
      }
      const said = await Promise.all(copies.map((name) => home.inside(name, 'sh', '-c', SAY_FACTS)));
      const facts = said.map((lines) => lines.trim().split('\n'));
      for (const [at, name] of FACTS.entries()) {
        const values = new Set(facts.map((each) => each[at]?.trim()).filter(Boolean));
        expect(values.size, `${name}: ${JSON.stringify(facts)}`).toBe(copies.length);
      }
    },
    TEST_MS,
  );

  it(
    `has all of them again after ${KILLS} kills of machines and of the daemon (seed ${SEED})`,
    async () => {
      const random = seededRandom(SEED);
      for (let kill = 0; kill < KILLS; kill++) {
        const name = copies[Math.floor(random() * copies.length)] ?? '';
        const { metadata, status } = await home.agent(name);
        const dice = random();
        if (dice < 0.3) {
          await home.kill();
          await home.start([], WITHOUT_POOL);
        } else if (status?.pid !== undefined && [metadata.uid, poolMark(home.home)].some((mark) => isProcessOf(status.pid ?? 0, mark))) {
          killQuietly(dice < 0.6 ? status.pid : (qemuOf(status.pid) ?? status.pid));
        }
      }
      await ready(...copies);
      await home.delete('teams', 'many');
      await vi.waitFor(async () => expect((await home.agents()).filter(({ spec }) => spec.team === 'many')).toEqual([]), WAIT);
    },
    // Where two copies in a row were killed as they began, all boot.
    2 * TEST_MS,
  );
});

/** How the word begins by which machines of a home are known that have waited. */
function poolMark(home: string): string {
  const machines = join(realpathSync(home), 'state', 'workspaces', 'vm');
  return `agentiso-vm-pool-${createHash('sha256').update(machines).digest('hex').slice(0, 8)}-`;
}

/** For each team whose machines are copies: the name of the template. */
function copiesIn(machines: string): string[] {
  const folder = join(machines, '.templates');
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, 'state'))) : [];
  return names.filter((name) => !name.includes('.')).map((name) => readFileSync(join(folder, name, 'made'), 'utf8'));
}
