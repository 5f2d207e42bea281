/**
 * QEMU as somebody starts it who needs one machine and no driver: the same command line, started directly, without confinement or
 * control group, its disk made ahead; then the same calls to its guest.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DISK_SERIAL, INSIDE, type MachinePlan, qemuArguments } from '#drivers/vm/args.ts';
import { ensureDisk } from '#drivers/vm/disk.ts';
import { Machine } from '#drivers/vm/machine.ts';
import { restoreState } from '#drivers/vm/migration.ts';
import { bindGuest, connectGuest } from '#guest/client.ts';
import { TAP } from '#lib/machine-tap.ts';
import type { Machines } from './machines.ts';

export interface ByHand {
  /** A file that nothing else uses. */
  readonly folder: string;
  readonly machines: Pick<Machines, 'support' | 'image'>;
  /** Absent: it boots. */
  readonly template?: { readonly memory: string; readonly state: string };
}

export interface Reached {
  /** From the start of QEMU to the first byte of the guest. */
  readonly signOfLifeMs: number;
  /** To the answer to hello. */
  readonly greetedMs: number;
}

const START_MS = 120_000;
/** Nobody is on the other end. */
const WITH_DEVICE = `ip tuntap add dev ${TAP} mode tap && ip link set ${TAP} up && exec "$@"`;

/** `onGreeted` is called before the machine is ended. */
export async function startByHand({ folder, machines, template }: ByHand, onGreeted: () => void): Promise<Reached> {
  const { support, image } = machines;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const disk = join(folder, 'disk');
  await ensureDisk({ path: disk, diskGiB: 1 });
  const plan: MachinePlan = {
    ...{ board: support.board, accel: support.accel, vcpus: 1, memoryMiB: 256, hasNetwork: true },
    ...(support.tscKhz !== undefined && { tscKhz: support.tscKhz }),
    ...(template && { memory: 'copy' }),
  };
  const places: Record<string, string> = {
    ...{ [INSIDE.kernel]: image.kernel, [INSIDE.initrd]: image.initrd, [INSIDE.root]: image.root, [INSIDE.disk]: disk },
    ...(template && { [INSIDE.memory]: template.memory }),
  };
  const words = qemuArguments(plan).map((word) => word.replace(/\/machine\/\w+/, (place) => places[place] ?? place));
  const signal = AbortSignal.timeout(START_MS);
  const before = performance.now();
  const qemu = spawn('unshare', ['--net', '--', 'sh', '-c', WITH_DEVICE, 'sh', support.qemu, ...words], { cwd: folder, stdio: 'ignore' });
  const ended = once(qemu, 'close');
  const machine = new Machine(folder);
  try {
    if (template === undefined) await machine.qmp(signal);
    else await restoreState(machine, { path: template.state, hasMemory: false, signal });
    const stream = await machine.connect('control', signal);
    const signOfLifeMs = performance.now() - before;
    const identity = { id: 'by-hand', incarnation: 'by-hand' };
    const set = { seed: randomBytes(64).toString('hex'), timeMs: Date.now(), disk: DISK_SERIAL };
    await bindGuest(stream, { ...identity, hostname: 'bench', machine: set }, signal);
    const client = await connectGuest(await machine.connect('control', signal), { ...identity, signal });
    const greetedMs = performance.now() - before;
    onGreeted();
    client.close('measured');
    return { signOfLifeMs, greetedMs };
  } finally {
    await machine.close();
    qemu.kill('SIGKILL');
    await ended;
  }
}
