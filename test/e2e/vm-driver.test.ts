/**
 * The vm driver with real machines and the real guest agent. A machine is dear where processors are emulated, so one boots, is made a template
 * of, and everything else is told of copies, a few things of each.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { dialGuest } from '#drivers/local/dial.ts';
import type { Caches } from '#drivers/vm/caches.ts';
import { type VmDriver, vmDriver } from '#drivers/vm/driver.ts';
import { ToolDisks } from '#drivers/vm/tool-disks.ts';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import { HostPort } from '#guest/host-port.ts';
import { silentLogger } from '#lib/log.ts';
import { createEgress, type Egress } from '#network/egress/create-egress.ts';
import { connectByAddress } from '#network/egress/dial.ts';
import { guestAgentPath } from '../../src/guest-agent-path.ts';
import { findTestImage, machinesHere, qemuOf } from '../support/machines.ts';
import { isPidAlive } from '../support/pid.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';

const here = await machinesHere();
const { signal } = new AbortController();
const WAIT = { timeout: 180_000, interval: 50 };
const TEST_MS = 300_000;
/** One in fifty was not heard while the port was closed and opened again under them. */
const HOSTS = 150;
/** Of /proc/uptime, at its two ends. */
const UPTIME_STEP_MS = 20;
const SPEC: WorkspaceSpec = {
  id: 'machine',
  incarnation: 'first',
  hostname: 'host-machine',
  resources: { vcpus: 2, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
  tools: join(tmpdir(), `agentiso-vm-tools-${process.pid}`),
  toolFolder: 'hello@1',
};

let stateDir: string;
let driver: VmDriver;

requires(here.support !== undefined, `virtual machines: ${here.reason}`)('the vm driver', () => {
  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'agentiso-vm-'));
    driver = openDriver();
    await installTools();
  }, TEST_MS);

  afterEach(async () => {
    for (const { id } of await driver.list(signal)) await deleteFully(id);
    expect(processesMentioning(stateDir)).toEqual([]);
  }, TEST_MS);

  afterAll(async () => {
    if (existsSync(`/run/netns/${NAMESPACE}`)) execFileSync('ip', ['netns', 'del', NAMESPACE]);
    await rm(SPEC.tools ?? '', { recursive: true, force: true });
    if (stateDir !== undefined) await rm(stateDir, { recursive: true, force: true });
  });

  it(
    'boots a machine that runs commands, keeps files and ends in good order',
    async () => {
      const base = await mkdtemp(join(tmpdir(), 'agentiso-vm-base-'));
      const state = await driver.create({ ...SPEC, base }, signal);
      await running(SPEC.id);
      const client = await connect(SPEC);
      expect(driver.isolation).toMatchObject({ driver: 'vm', accel: here.support?.accel });
      expect(await execute(client, 'hostname; uname -s; pwd; echo kept > file; touch "$HOME/mine"')).toBe(
        'host-machine\nLinux\n/workspace\n',
      );
      // Seconds are as long there as here, however busy this machine is: ticks would be lost.
      expect(await execute(client, 'cat /sys/devices/system/clocksource/clocksource0/current_clocksource')).not.toMatch(/jiffies/);
      // Nothing leads out, and nothing says so, where no proxy is to be reached.
      expect(await execute(client, 'env | grep -ic proxy; bash -c ": > /dev/tcp/127.0.0.1/3128" 2>&1 | grep -m1 -o refused')).toBe(
        '0\nrefused\n',
      );
      // Messages have a way of their own, whatever runs.
      const sleeping = client.call('exec', { command: 'sleep 5; echo slept', timeoutMs: 60_000 });
      const relay = await driver.connect(SPEC.id, 'relay', signal);
      relay.destroy();
      expect((await sleeping).stdout).toBe('slept\n');
      const { result, up, down } = client.open('execStream', {
        ...{ argv: ['/bin/sh', '-c', 'read line; echo "got $line"; tty'], execId: 'one', hasStdin: true },
        tty: { rows: 24, columns: 80 },
      });
      up.stdin.end('words\n');
      const said = text(down.stdout);
      expect(await result).toMatchObject({ exitCode: 0 });
      expect(await said).toMatch(/got words\r\n\/dev\/pts\/\d+/);
      expect((await driver.usage(SPEC.id, signal))?.memoryBytes).toBeGreaterThan(50_000_000);
      // Whoever QEMU is, it is not root.
      const status = await readFile(`/proc/${qemuOf(state.pid ?? 0)}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t70001\t70001\t70001\t70001$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
      expect(await driver.get(SPEC.id, signal)).toEqual({ id: SPEC.id, incarnation: 'first', phase: 'exited' });
      expect(isPidAlive(state.pid ?? 0)).toBe(false);
      await driver.templatesSettled();
      await rm(base, { recursive: true });
    },
    TEST_MS,
  );

  it(
    'makes copies that share nothing but their past',
    async () => {
      const ids = ['one', 'two', 'three'];
      for (const id of ids) await driver.create({ ...SPEC, id, hostname: `host-${id}` }, signal);
      const files = await Promise.all(ids.map(async (id) => JSON.parse(await readFile(join(stateDir, id, 'machine.json'), 'utf8')).state));
      expect(files.every((state) => typeof state === 'string')).toBe(true);
      const facts = await Promise.all(
        ids.map(async (id) => {
          await running(id);
          const client = await connect({ ...SPEC, id });
          const [uuid = '', hostname = '', year = ''] = (
            await execute(client, 'cat /proc/sys/kernel/random/uuid; hostname; date +%Y')
          ).split('\n');
          return { uuid, hostname, year, own: await guestsOwnRandomness(client) };
        }),
      );
      for (const name of ['uuid', 'hostname', 'own'] as const) expect(new Set(facts.map((each) => each[name])).size, name).toBe(ids.length);
      expect(facts.map(({ hostname }) => hostname)).toEqual(ids.map((id) => `host-${id}`));
      expect(new Set(facts.map(({ year }) => year))).toEqual(new Set([String(new Date().getFullYear())]));
    },
    TEST_MS,
  );

  it(
    'lets programs out by way of the proxy and no other, also when the next daemon has it',
    async () => {
      const server = createServer((request, response) => response.end(`hello to ${request.headers.host}\n`));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const spec = { ...SPEC, egress: true };
      const refused: string[] = [];
      await driver.create(spec, signal);
      await running(spec.id);
      let egress = await openEgress(port, refused);
      const client = await connect(spec);
      await vi.waitFor(async () => expect(await execute(client, ASK)).toBe(ANSWERS), WAIT);
      // Its template had another disk in the place of this one.
      expect(await execute(client, '$AGENTISO_TOOLS/hello@1/say; touch $AGENTISO_TOOLS/hello@1/say 2>&1 | grep -o Read-only')).toBe(
        'hello\nRead-only\n',
      );
      expect(refused).toEqual(['denied.test']);
      await egress.closeAll();
      await driver.close();
      driver = openDriver();
      await running(spec.id);
      egress = await openEgress(port);
      const next = await connect(spec);
      await vi.waitFor(async () => expect(await execute(next, ASK)).toBe(ANSWERS), WAIT);
      await egress.closeAll();
      await new Promise((resolve) => server.close(resolve));
    },
    TEST_MS,
  );

  it(
    'is found again by the next daemon, with its files after a kill',
    async () => {
      const { pid } = await driver.create(SPEC, signal);
      await running(SPEC.id);
      await execute(await connect(SPEC), 'echo kept > file; sync');
      await driver.close();
      // One that stops while it takes the machine over ends nothing.
      driver = openDriver();
      await driver.get(SPEC.id, signal);
      await driver.close();
      driver = openDriver();
      expect(await driver.get(SPEC.id, signal)).toMatchObject({ pid, incarnation: 'first' });
      await running(SPEC.id);
      const client = await connect(SPEC);
      expect(await execute(client, 'cat file')).toBe('kept\n');
      // What nobody has asked to be written is not held back for long: by itself the kernel would wait for half a minute.
      await execute(client, `echo soon > soon; timeout 15 sh -c '${UNTIL_WRITTEN}'`);
      // What was sent to it is on its disk when it says so.
      const { result, up } = client.open('fileWrite', { path: 'sent' });
      up.content.end('sent\n');
      await result;
      process.kill(pid ?? Number.NaN, 'SIGKILL');
      await vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject({ phase: 'exited' }), WAIT);
      // Its disk stays as large as it was made, whatever is said later: so it is a copy of the same template.
      const network = makeNamespace();
      const second = { ...SPEC, incarnation: 'second', resources: { ...SPEC.resources, diskGiB: 2 }, network };
      await vi.waitFor(() => driver.create(second, signal), WAIT);
      expect(JSON.parse(await readFile(join(stateDir, SPEC.id, 'machine.json'), 'utf8'))).toMatchObject({ state: expect.any(String) });
      await running(SPEC.id);
      expect(await execute(await connect(second), 'cat file soon sent')).toBe('kept\nsoon\nsent\n');
      // Nothing leads to a machine that is gone, also when nobody of it was left to say so.
      expect(joinedIn(network)).toEqual(JOINED);
      process.kill((await driver.get(SPEC.id, signal))?.pid ?? Number.NaN, 'SIGKILL');
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
      expect(joinedIn(network)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'hears every host from its first word on, however soon it comes after one that died',
    async () => {
      await driver.create(SPEC, signal);
      await running(SPEC.id);
      await driver.close();
      const path = join(driver.runDirectory(SPEC.id), 'control.sock');
      for (let host = 0; host < HOSTS; host++) {
        const carrier = await dialGuest(path, signal);
        const stream = await new HostPort(carrier).connect(AbortSignal.timeout(WAIT.timeout));
        await connectGuest(stream, SPEC);
        carrier.destroy();
        // The guest is told of the end of one and of the next at nearly the same moment: which moment, is what is tried.
        await new Promise((resolve) => setTimeout(resolve, (host % 7) / 2));
      }
      driver = openDriver();
    },
    TEST_MS,
  );

  it(
    'is suspended to the disk, goes on under the next daemon as if nothing had been, and goes back to a snapshot of its disk',
    async () => {
      const { pid = Number.NaN } = await driver.create(SPEC, signal);
      await running(SPEC.id);
      await execute(await connect(SPEC), 'echo first > file; echo told > /var/lib/agentiso/mine; sync');
      expect((await driver.snapshots?.take(SPEC.id, 'snap', signal))?.bytes).toBeGreaterThan(0);
      const rememberedMs = performance.now();
      const before = await execute(await connect(SPEC), `${REMEMBER}; cat /proc/uptime`);
      const folder = join(stateDir, SPEC.id);
      // Of a daemon that was killed while it saved.
      await mkdir(join(folder, 'saved.new'));
      await writeFile(join(driver.runDirectory(SPEC.id), 'migration.sock'), '');
      await driver.suspension?.suspend(SPEC.id, signal);
      const suspendedMs = performance.now();
      expect([isPidAlive(pid), processesMentioning(folder)]).toEqual([false, []]);
      await driver.suspension?.suspend(SPEC.id, signal);
      await driver.close();
      driver = openDriver();
      const saved = { phase: 'running', incarnation: 'first', isSuspended: true, savedAs: { path: join(folder, 'saved', 'state') } };
      const found = await driver.get(SPEC.id, signal);
      expect(found).toMatchObject(saved);
      expect(found?.savedAs?.bytes).toBeGreaterThan(20 * MIB);
      expect(await driver.usage(SPEC.id, signal)).toBeUndefined();
      await expect(connect(SPEC)).rejects.toMatchObject({ code: 'Unavailable', reason: 'WorkspaceSuspended' });
      await expect(driver.snapshots?.restore(SPEC.id, 'snap', signal)).rejects.toMatchObject({ code: 'Conflict' });
      // Whoever is killed before it goes on has lost nothing.
      await driver.suspension?.resume(SPEC.id, signal);
      process.kill((await driver.get(SPEC.id, signal))?.pid ?? Number.NaN, 'SIGKILL');
      await vi.waitFor(async () => expect(await driver.get(SPEC.id, signal)).toMatchObject(saved), WAIT);
      const goneMs = performance.now() - suspendedMs;
      await vi.waitFor(() => driver.suspension?.resume(SPEC.id, signal), WAIT);
      await running(SPEC.id);
      expect(existsSync(join(folder, 'saved'))).toBe(false);
      const client = await connect(SPEC);
      const [now = '', after = '', ...remembered] = (await execute(client, `date +%s%3N; cat /proc/uptime; ${RECALL}`)).split('\n');
      expect(remembered).toEqual(['hello', 'second', 'went on', '']);
      expect(Math.abs(Number(now) - Date.now())).toBeLessThan(20_000);
      // To its programs the time in between has not been.
      const ranMs = (Number.parseFloat(after) - Number.parseFloat(before)) * 1_000;
      expect(ranMs).toBeLessThan(performance.now() - rememberedMs - goneMs + UPTIME_STEP_MS);
      // What is not on its disk yet gets there before it ends, also when it is suspended.
      await execute(client, 'echo unsaved > unsaved');
      await driver.suspension?.suspend(SPEC.id, signal);
      await vi.waitFor(async () => expect(await driver.stop(SPEC.id, signal)).toBe(true), WAIT);
      expect(await driver.get(SPEC.id, signal)).toEqual({ id: SPEC.id, incarnation: 'first', phase: 'exited' });
      await driver.snapshots?.restore(SPEC.id, 'snap', signal);
      await driver.snapshots?.remove('snap');
      const second = { ...SPEC, incarnation: 'second' };
      await vi.waitFor(() => driver.create(second, signal), WAIT);
      await running(SPEC.id);
      // What the guest was told and has begun is not part of its files.
      const again = await connect(second);
      expect(await execute(again, 'cat file; ls /var/lib/agentiso | grep -c mine || true')).toBe('first\n0\n');
      // A cache that is over its budget loses what this machine is a copy of, and the disk of its tools; the machine keeps both.
      await installTools('other@1', { directories: CACHES.map((name) => join(stateDir, name)), budgetBytes: () => 1 });
      expect(['.shared', '.templates'].flatMap((name) => readdirSync(join(stateDir, name)))).toEqual([]);
      expect(readdirSync(join(stateDir, '.tools'))).toEqual([expect.stringMatching(/^other@1/)]);
      expect(await execute(again, 'perl -e "print 5"; git --version | cut -c 1-4; $AGENTISO_TOOLS/hello@1/say')).toBe('5git \nhello\n');
    },
    TEST_MS,
  );
});

const NAMESPACE = `agentiso-vm-driver-${process.pid}`;
const JOINED = ['tap0', 'qdisc ingress'];

/** With a link that leads nowhere. Gives its path. */
function makeNamespace(): string {
  execFileSync('ip', ['netns', 'add', NAMESPACE]);
  execFileSync('ip', ['-n', NAMESPACE, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'other']);
  return `/run/netns/${NAMESPACE}`;
}

/** What a machine has made there. */
function joinedIn(path: string): string[] {
  const show = 'ip -o link; tc qdisc show dev eth0';
  const seen = execFileSync('nsenter', [`--net=${path}`, '--', 'sh', '-c', show], { encoding: 'utf8' });
  return JOINED.filter((word) => seen.includes(word));
}

/** Of a home that shares its templates with no other. */
const CACHES = ['.shared', '.templates', '.tools'];
const MIB = 1024 ** 2;
/** Every block that was written has its place on the disk. */
const UNTIL_WRITTEN = 'until [ "$(cat /sys/fs/ext4/vd*/delayed_allocation_blocks | sort -n | tail -n 1)" = 0 ]; do sleep 0.1; done';
/** A program that is in the middle of something, with a file that nobody else can open any more. */
const REMEMBER = `echo second > file; mkfifo /tmp/go
setsid sh -c 'echo hello > gone; exec 8< gone; rm gone; read line < /tmp/go; cat <&8; cat file; echo went on' > /tmp/said 2>&1 < /dev/null &
sleep 0`;
const RECALL = 'echo > /tmp/go; until grep -q went /tmp/said; do :; done; cat /tmp/said';

/** And the disk of it, which a driver makes while whoever wants it waits. */
async function installTools(toolFolder = SPEC.toolFolder ?? '', caches?: Caches): Promise<void> {
  const { tools = '' } = SPEC;
  await mkdir(join(tools, toolFolder), { recursive: true });
  await writeFile(join(tools, toolFolder, 'say'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
  const disks = new ToolDisks({ directory: join(stateDir, '.tools'), log: silentLogger, ...(caches && { caches }) });
  await vi.waitFor(() => disks.find(tools, toolFolder), WAIT);
}

/** As a daemon would: `allowed.test` is a server of this test. */
async function openEgress(target: number, refused: string[] = []): Promise<Egress> {
  const egress = createEgress({
    log: silentLogger,
    onRefused: (_, name) => refused.push(name),
    resolve: async () => ['93.184.216.34'],
    connect: (_address, _port, given) => connectByAddress('127.0.0.1', target, given),
  });
  const rules = { allowDomains: ['allowed.test'], allowInternet: false };
  await egress.listen(SPEC.id, join(driver.runDirectory(SPEC.id), 'egress.sock'), rules, { uid: 70_001 });
  return egress;
}

/** By way of the proxy, and without it. */
const ASK = `bash -c '
ask() {
  exec 3<>/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:} && printf "GET http://$1/ HTTP/1.1\\r\\nHost: $1\\r\\nConnection: close\\r\\n\\r\\n" >&3
  cat <&3 | tr -d "\\r" | grep -E "^HTTP|^X-Agentiso-Reason|^hello"
}
ask allowed.test; ask denied.test
(: > /dev/tcp/93.184.216.34/80) 2>&1 | grep -m1 -o unreachable'`;
const ANSWERS = [
  'HTTP/1.1 200 OK',
  'hello to allowed.test',
  'HTTP/1.1 403 Forbidden',
  'X-Agentiso-Reason: NameNotAllowed',
  'unreachable',
  '',
].join('\n');

function openDriver(): VmDriver {
  if (here.support === undefined) throw new Error(here.reason);
  const { support } = here;
  return vmDriver({ stateDir, log: silentLogger, support, findImage: () => findTestImage(guestAgentPath()) });
}

async function running(id: string): Promise<void> {
  const state = await vi.waitFor(async () => {
    const found = await driver.get(id, signal);
    expect(found?.phase).not.toBe('starting');
    return found;
  }, WAIT);
  expect(state, state?.failure).toMatchObject({ phase: 'running' });
}

async function connect(spec: WorkspaceSpec): Promise<GuestClient> {
  return connectGuest(await driver.connect(spec.id, 'control', signal), spec);
}

async function execute(client: GuestClient, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await client.call('exec', { command, timeoutMs: 120_000 }, { deadlineMs: 150_000 });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** A file that is written gets a random name first: of the guest's own process, which was running when its template was saved. */
async function guestsOwnRandomness(client: GuestClient): Promise<string> {
  const watching = client.call('exec', {
    command: `perl -e 'for (1..3000) { opendir(D, "."); for (readdir D) { if (/^\\.agentiso-(.*)\\.tmp/) { print $1; exit } } select(undef, undef, undef, 0.01) }'`,
    timeoutMs: 60_000,
  });
  const { result, up } = client.open('fileWrite', { path: 'written' });
  up.content.write('x');
  const { stdout } = await watching;
  up.content.end();
  await result;
  expect(stdout).toMatch(/^[0-9a-f-]{36}$/);
  return stdout;
}

async function deleteFully(id: string): Promise<void> {
  await vi.waitFor(async () => {
    await driver.delete(id, signal);
    expect(await driver.get(id, signal)).toBeUndefined();
  }, WAIT);
}
