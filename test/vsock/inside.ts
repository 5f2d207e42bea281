/**
 * Runs in the outer machine of npm run test:vsock, as its guest agent, and nowhere else: it opens sockets of the vsock family, which the machine that
 * develops this must not see. The driver is the real one, and so are the machine that it starts and the guest agent in it. What was seen is said on
 * the console.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { WorkspaceSpec } from '#drivers/driver.ts';
import { detectSandbox } from '#drivers/sandbox/detect.ts';
import { type VmDriver, vmDriver } from '#drivers/vm/driver.ts';
import { detectVm } from '#drivers/vm/support.ts';
import { chooseCid, cidOf } from '#drivers/vm/vsock.ts';
import { connectGuest, type GuestClient } from '#guest/client.ts';
import { connectRelay } from '#guest/relay.ts';
import { messageOf } from '#lib/errors.ts';
import { createLogger } from '#lib/log.ts';
import { INSIDE_WORD, type InsidePlan, type Seen } from './plan.ts';

const { signal } = new AbortController();
const STATE = '/workspace/state';
const BOOT_MS = 600_000;
const WAIT_MS = 300_000;
const SPEC: WorkspaceSpec = {
  id: 'inner',
  incarnation: 'first',
  hostname: 'inner-machine',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: true,
};
const log = createLogger({ level: 'warn' });
const seen: Partial<Seen> = {};
const began = Date.now();

function step(text: string): void {
  console.log(`agentiso-test: ${Math.round((Date.now() - began) / 1_000)} s: ${text}`);
}

async function main(): Promise<void> {
  if (!readFileSync('/proc/cmdline', 'utf8').split(/\s/).includes(INSIDE_WORD))
    throw new Error('this runs only in the outer machine of the test');
  for (const module of ['vhost_vsock', 'tun']) execFileSync('modprobe', [module], { stdio: 'inherit' });
  const plan = JSON.parse(readFileSync('/workspace/plan.json', 'utf8')) as InsidePlan;
  const sandbox = await detectSandbox('/workspace');
  const found = await detectVm(sandbox, 'vsock');
  if ('reason' in found) throw new Error(found.reason);
  const support = { ...found, board: 'microvm', tscKhz: plan.tscKhz } as const;
  const open = () => vmDriver({ stateDir: STATE, log, support, findImage: async () => plan.image, bootMs: BOOT_MS, stopGraceMs: 120_000 });
  const driver = open();
  step('starting the inner machine');
  await driver.create(SPEC, signal);
  await until('running', async () => (await stateOf(driver)) === 'running');
  step('the inner machine is bound');
  const client = await connect(driver);
  const machine = JSON.parse(await readFile(`${STATE}/${SPEC.id}/machine.json`, 'utf8'));
  seen.cid = {
    isFirst: machine.started.kind.cid === cidOf(`${STATE}/${SPEC.id}`),
    next: chooseCid(`${STATE}/${SPEC.id}`) === cidOf(`${STATE}/${SPEC.id}`, 1),
  };
  seen.words = await execute(client, 'hostname; ls /dev/virtio-ports | wc -l; cat /proc/sys/kernel/hostname');
  step('commands run');
  seen.message = await sendDuringExec(driver, client);
  step('a message came during a long command');
  seen.bytes = (await execute(client, 'head -c 300000 /dev/zero | tr "\\\\0" x')).length;
  seen.egress = await throughProxy(driver, client);
  step('a program has reached its proxy');
  seen.strangers = strangers(machine.started.kind.cid);
  step('strangers were sent away');
  client.close('let go');
  const again = await connect(driver);
  seen.reconnected = await execute(again, 'echo again');
  step('connected again');
  await driver.close();
  const later = open();
  await until('adopted', async () => (await stateOf(later)) === 'running');
  const adopted = await connect(later);
  seen.adopted = await execute(adopted, 'echo adopted');
  step('a second daemon has taken over');
  await until('stopped', () => later.stop(SPEC.id, signal));
  seen.stopped = (await later.get(SPEC.id, signal))?.failure ?? 'in good order';
  await later.close();
}

async function stateOf(driver: VmDriver): Promise<string | undefined> {
  const state = await driver.get(SPEC.id, signal);
  if (state?.phase === 'exited') throw new Error(`the inner machine ended: ${state.failure}`);
  return state?.phase;
}

async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + BOOT_MS; Date.now() < end; await pause(100)) if (await look()) return;
  throw new Error(`not ${what} in time`);
}

async function connect(driver: VmDriver): Promise<GuestClient> {
  return connectGuest(await driver.connect(SPEC.id, 'control', signal), { id: SPEC.id, incarnation: SPEC.incarnation });
}

async function execute(client: GuestClient, command: string): Promise<string> {
  const { stdout, stderr, exitCode } = await client.call('exec', { command, timeoutMs: WAIT_MS });
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${stderr}`);
  return stdout;
}

/** The command ends when another, which begins after the message was stored, lets it. */
async function sendDuringExec(driver: VmDriver, client: GuestClient): Promise<Seen['message']> {
  let isOver = false;
  const waiting = execute(client, 'until [ -e /tmp/go ]; do sleep 0.2; done; echo went').finally(() => {
    isOver = true;
  });
  let onStored = (_seq: number): void => {};
  const stored = new Promise<number>((resolve) => {
    onStored = resolve;
  });
  const refuse = async () => {
    throw new Error('nobody asks for this here');
  };
  const handlers = {
    ping: async () => ({ version: 'test', generation: 0, uptimeMs: 0 }),
    heartbeat: async () => ({}),
    teamReceive: async () => ({ messages: [], nextSeq: 1 }),
    teamAck: async ({ storedSeq }: { storedSeq: number }) => {
      if (storedSeq > 0) onStored(storedSeq);
      return { unknown: [] };
    },
  };
  const rest = new Proxy(handlers, { get: (target, name) => Reflect.get(target, name) ?? refuse });
  const stream = await driver.connect(SPEC.id, 'relay', signal);
  const relay = await connectRelay(stream, { id: SPEC.id, incarnation: SPEC.incarnation, handlers: rest as never });
  relay.hint(2, {
    ...{ message_id: '0199a000-0000-7000-8000-000000000001', seq: 1, namespace: 'default', team: 'team', from: 'lead', to: 'inner' },
    ...{ message_type: 'text', content: 'during', timestamp: new Date().toISOString() },
  });
  const storedSeq = await stored;
  const wasOver = isOver;
  const other = await connect(driver);
  await execute(other, 'touch /tmp/go');
  const said = await waiting;
  other.close('done');
  relay.close('done');
  return { storedSeq, wasOver, said };
}

/** As the egress proxy of the daemon listens, for whom the driver carries what programs of the guest say. */
async function throughProxy(driver: VmDriver, client: GuestClient): Promise<string> {
  const proxy = createServer((socket) => socket.end('proxied\n')).listen(`${driver.runDirectory(SPEC.id)}/egress.sock`);
  try {
    return await execute(client, "until bash -c 'exec 3<>/dev/tcp/127.0.0.1/3128; cat <&3' | grep proxied; do sleep 0.2; done");
  } finally {
    proxy.close();
  }
}

/** Whoever is not root has no port that the guest lets in; nor has root, if it takes an ordinary one. What they hear is nothing. */
function strangers(cid: number): string[] {
  const program = `
    socket(my $socket, 40, 1, 0) or die "socket: $!";
    connect($socket, pack('S S L L x4', 40, 0, 5000, ${cid})) or print("refused") and exit;
    my $hello = '{"id":1,"type":"ping","params":{}}';
    syswrite($socket, pack('N', length $hello) . $hello);
    print sysread($socket, my $answer, 100) ? "answered" : "sent away";
  `;
  const bound = `socket(my $socket, 40, 1, 0) or die; print bind($socket, pack('S S L L x4', 40, 0, 700, 0xffffffff)) ? "bound" : "$!";`;
  const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--', 'perl', '-e'];
  const run = ([first = '', ...words]: string[]) => execFileSync(first, words, { encoding: 'utf8' });
  return [run(['perl', '-e', program]), run([...nobody, program]), run([...nobody, bound])];
}

main()
  .catch((error: unknown) => {
    seen.failure = error instanceof Error ? (error.stack ?? messageOf(error)) : String(error);
    try {
      seen.console = readFileSync(`${STATE}/${SPEC.id}/console.log`, 'utf8').slice(-4_000);
    } catch {
      // It has not ended.
    }
  })
  .finally(() => {
    console.log(`SEEN${JSON.stringify(seen)}END`);
    process.exit(0);
  });
