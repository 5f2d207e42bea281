/** What only machines have that are reached by vsock. No socket of that family is opened on this machine: only the guest's end is one. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { type VmDriver, vmDriver } from '#drivers/vm/driver.ts';
import type { VmSupport } from '#drivers/vm/support.ts';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import { silentLogger } from '#lib/log.ts';
import { deleteFully, SIGNAL, SPEC, stopFully } from '../support/driver-steps.ts';
import { bundleGuest, type GuestBundle } from '../support/guest-bundle.ts';
import { findTestImage, machinesByVsock, qemuOf, vsockOf } from '../support/machines.ts';
import { processesMentioning } from '../support/processes.ts';
import { requires } from '../support/requirements.ts';
import { storeMessage } from './relay-steps.ts';

const here = await machinesByVsock();
/** On a busy machine. */
const WAIT = { timeout: 240_000, interval: 50 };
const MIB = 1024 ** 2;
const SECOND = { ...SPEC, incarnation: 'second' };

let bundle: GuestBundle;
let stateDir: string;
let driver: VmDriver;

requires(here.support !== undefined, `virtual machines by vsock: ${here.reason}`)('a machine that is reached by vsock', () => {
  beforeAll(async () => {
    bundle = await bundleGuest();
    stateDir = await mkdtemp(join(tmpdir(), 'agentiso-vsock-'));
    driver = open();
  });

  afterEach(async () => {
    await reopen();
    for (const { id } of await driver.list(SIGNAL)) await deleteFully(driver, id);
    expect(processesMentioning(stateDir)).toEqual([]);
    expect((await readdir(stateDir)).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  afterAll(async () => {
    await driver?.close();
    await bundle?.remove();
    if (stateDir !== undefined) await rm(stateDir, { recursive: true });
  });

  it('carries commands, files, messages and the way out beside each other, and goes on under the next daemon', async () => {
    const pid = await start({ ...SPEC, egress: true });
    expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ transport: 'vsock' });
    const client = await connect();
    expect(await execute(client, 'hostname; ls /dev/virtio-ports | wc -l; grep -c ^vmw_vsock /proc/modules')).toBe('agent-1\n0\n2\n');
    // A message is stored while a command runs, which another connection lets go on.
    const waiting = execute(client, 'until [ -e /tmp/go ]; do sleep 0.1; done; echo went');
    expect(await storeMessage(driver)).toBe(1);
    await execute(await connect(), 'touch /tmp/go');
    expect(await waiting).toBe('went\n');
    // More than all buffers on the way hold, both ways.
    const content = Buffer.alloc(3 * MIB, 'as much as there is ');
    const { result, up } = client.open('fileWrite', { path: 'large' });
    up.content.end(content);
    await result;
    expect(await execute(client, 'md5sum < large')).toContain(createHash('md5').update(content).digest('hex'));
    expect((await readFile(client, 'large')).equals(content)).toBe(true);
    expect(await askProxy(client)).toBe('proxied\n');
    // It stands still while its disk is copied, whoever speaks to it meanwhile, and is there as before.
    const taking = driver.snapshots?.take(SPEC.id, 'snap', SIGNAL);
    const meanwhile = Array.from({ length: 5 }, async (_, at) => execute(at % 2 === 0 ? client : await connect(), `echo ${at}`));
    expect((await taking)?.bytes).toBeGreaterThan(0);
    expect(await Promise.all(meanwhile)).toEqual(['0\n', '1\n', '2\n', '3\n', '4\n']);
    await driver.snapshots?.remove('snap');
    await expect(driver.suspension?.suspend(SPEC.id, SIGNAL)).rejects.toMatchObject({ reason: 'SuspendUnsupported' });
    await reopen();
    expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ pid, incarnation: 'first', transport: 'vsock' });
    await running();
    expect(await execute(await connect(), 'wc -c < large')).toBe(`${content.length}\n`);
    await stopFully(driver, SPEC.id);
    expect((await driver.get(SPEC.id, SIGNAL))?.failure).toContain('the guest agent ended with 0');
  });

  it('has what carries its vsock behind the same walls, and ends with it', async () => {
    const launcher = await start(SPEC);
    const [qemu = 0, vsock = 0] = [qemuOf(launcher), vsockOf(launcher)];
    expect(wallsOf(vsock)).toEqual(wallsOf(qemu));
    expect(wallsOf(vsock)).toMatchObject({ uids: ['70001', '70001', '70001', '70001'], rights: ['0'.repeat(16)] });
    expect(wallsOf(vsock).namespaces).not.toContain(readlinkSync('/proc/self/ns/pid'));
    const client = await connect();
    // Nobody but the host comes in, and no program of the guest gets out.
    expect(await execute(client, STRANGERS)).toBe('refused refused refused\n');
    process.kill(vsock, 'SIGKILL');
    await vi.waitFor(async () => expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ phase: 'exited' }), WAIT);
    expect((await driver.get(SPEC.id, SIGNAL))?.failure).toContain('what has the vsock of this machine has ended');
    await start(SECOND);
    expect(await execute(await connect(SECOND), 'echo again')).toBe('again\n');
  });

  it('stays reachable however often somebody gives up on the way to it', async () => {
    const launcher = await start(SPEC);
    const descriptors = () => readdirSync(`/proc/${vsockOf(launcher)}/fd`).length;
    const client = await connect();
    const before = descriptors();
    for (let round = 0; round < 40; round++) {
      const given = new AbortController();
      const dialling = driver.connect(SPEC.id, 'control', given.signal).then((stream) => stream.destroy());
      // The moment is what is tried: before, during and after the answer.
      setTimeout(() => given.abort(new Error('no more')), round % 10);
      await dialling.catch(() => {});
    }
    expect(await execute(client, 'echo there')).toBe('there\n');
    await vi.waitFor(() => expect(descriptors()).toBe(before), WAIT);
    expect(await execute(await connect(), 'echo there')).toBe('there\n');
  });

  it('stays as it was started when the daemon is told otherwise, and none is started by another way than was asked for', async () => {
    await start(SPEC);
    const { transport: _, ...byPorts } = support();
    await reopen(byPorts);
    await running();
    expect(await driver.get(SPEC.id, SIGNAL)).toMatchObject({ transport: 'vsock' });
    expect(await execute(await connect(), 'echo the same')).toBe('the same\n');
    await reopen({ ...byPorts, transport: { problem: 'there is no such program', hint: 'install it' } });
    await running();
    await expect(driver.create({ ...SPEC, id: 'another' }, SIGNAL)).rejects.toMatchObject({
      reason: 'IsolationUnavailable',
      message: 'there is no such program; install it',
    });
    expect(await execute(await connect(), 'echo the same')).toBe('the same\n');
  });

  it('works on the other board, too', async () => {
    await reopen({ ...support(), board: 'q35' });
    await start(SPEC);
    expect(await execute(await connect(), 'ls -d /sys/bus/pci/drivers/virtio-pci')).toBe('/sys/bus/pci/drivers/virtio-pci\n');
  });
});

function support(): VmSupport {
  if (here.support === undefined) throw new Error(here.reason);
  return here.support;
}

function open(given = support()): VmDriver {
  return vmDriver({ stateDir, log: silentLogger, support: given, findImage: () => findTestImage(bundle.path) });
}

async function reopen(given = support()): Promise<void> {
  await driver.close();
  driver = open(given);
}

/** Gives the pid of its launcher. */
async function start(spec: WorkspaceSpec): Promise<number> {
  const { pid } = await vi.waitFor(() => driver.create(spec, SIGNAL), WAIT);
  await running();
  return pid ?? Number.NaN;
}

async function running(): Promise<void> {
  const state = await vi.waitFor(async () => {
    const found = await driver.get(SPEC.id, SIGNAL);
    expect(found?.phase).not.toBe('starting');
    return found;
  }, WAIT);
  expect(state, state?.failure).toMatchObject({ phase: 'running' });
}

async function connect(spec: WorkspaceSpec = SPEC): Promise<GuestClient> {
  return connectGuest(await driver.connect(spec.id, 'control', SIGNAL), spec);
}

async function execute(client: GuestClient, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await client.call('exec', { command, timeoutMs: 120_000 }, { deadlineMs: 150_000 });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

async function readFile(client: GuestClient, path: string): Promise<Buffer> {
  const { result, down } = client.open('fileRead', { path });
  const pieces: Buffer[] = [];
  for await (const piece of down.content) pieces.push(piece as Buffer);
  await result;
  return Buffer.concat(pieces);
}

/** As the egress proxy of the daemon listens, for whom the driver carries what programs of the guest say. */
async function askProxy(client: GuestClient): Promise<string> {
  const path = join(driver.runDirectory(SPEC.id), 'egress.sock');
  const proxy = createServer((socket) => socket.end('proxied\n')).listen(path);
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), WAIT);
  try {
    return await execute(client, "until bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat <&3' | grep proxied; do sleep 0.2; done");
  } finally {
    await new Promise((resolve) => proxy.close(resolve));
  }
}

/** What a process is to this machine. */
function wallsOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const words = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]?.split(/\s+/);
  const namespaces = ['user', 'pid', 'ipc', 'uts', 'mnt', 'net'].map((name) => readlinkSync(`/proc/${pid}/ns/${name}`));
  return { uids: words('Uid'), rights: words('CapEff'), namespaces, groups: readFileSync(`/proc/${pid}/cgroup`, 'utf8') };
}

/** A program of the guest that calls the ports of its own machine, of its host, and the one that the host has heard it on. */
const STRANGERS = `perl -e '
sub call {
  socket(my $line, 40, 1, 0) or die $!;
  return connect($line, pack("S S L L x4", 40, 0, $_[1], $_[0])) ? "connected" : "refused";
}
print join(" ", call(3, 5000), call(2, 5000), call(2, 5003)), "\\n"'`;
