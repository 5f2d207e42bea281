/**
 * Goes through all that a copy of this machine will go through until its host has greeted it and has had a command run, with an identity that nobody has: what Node
 * compiles, loads and remembers on the way is then part of the template, and no copy has to do it again.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { encodeFrame } from '#protocol/framing.ts';
import { encodeMark } from '#protocol/port-marks.ts';
import { Binding, type BindingOptions } from '../binding.ts';
import { PipePool } from '../pipes/pipe-pool.ts';
import { PortListener } from '../ports/port-listener.ts';
import { ProcessGroups } from '../process-group.ts';
import { serveControl } from '../server.ts';
import type { Helper } from './helper.ts';
import { MachineSetUp, type SetUpMeans } from './set-up.ts';

const IDENTITY = { id: 'rehearsal', incarnation: 'rehearsal' };
const MACHINE = { seed: '00'.repeat(64), timeMs: 0, disk: 'none' };
const LINK = { address: '192.0.2.2', mac: '02:00:00:00:00:02', gateway: '192.0.2.1', gatewayMac: '02:00:00:00:00:01' };
/** What its first command will be is not known; how one is started and ends is the same for all. */
const COMMAND = { command: 'true', timeoutMs: 60_000 };
/** To start a program takes longest of all. */
const COMMAND_ROUNDS = 3;
/** For one answer. */
const ANSWER_MS = 60_000;

export interface RehearsalPlan {
  /** Where the kernel says something of the device, if the machine has one. */
  readonly device: string;
  /** For all that is written; is gone afterwards. */
  readonly folder: string;
  readonly rounds: number;
}

export async function rehearse(machine: MachineSetUp, { device, folder, rounds }: RehearsalPlan, options: BindingOptions): Promise<void> {
  await machine.rehearse(rounds);
  for (let round = 0; round < rounds; round++) {
    mkdirSync(folder, { recursive: true });
    await rehearseOnce(options, { folder, device, round });
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Rehearsal {
  readonly folder: string;
  readonly device: string;
  readonly round: number;
}

async function rehearseOnce(options: BindingOptions, { folder, device, round }: Rehearsal): Promise<void> {
  const places = { runDir: folder, workspace: folder, stateDir: join(folder, 'state'), hasEgress: false, hasProviders: false };
  const setUp = new MachineSetUp({ startHelper: pretend, afterwards: () => {}, device, ...filesIn(folder) });
  // Pipes of its own: where those of this machine will lie, there is another disk later.
  const groups = new ProcessGroups(new PipePool(join(folder, 'pipes')));
  const binding = new Binding({ ...options, groups, options: { ...options.options, ...places }, setUp: setUp.apply.bind(setUp) });
  const port = new RehearsedPort();
  const listener = new PortListener({ path: '', open: () => port, serve: (stream) => serveControl(binding, stream), report: () => {} });
  const name = (call: number) => (round * 2 + call).toString(16).padStart(16, '0');
  await port.ask(encodeMark({ kind: 'open', connection: name(0) }));
  const params = { ...IDENTITY, hostname: 'rehearsal', machine: { ...MACHINE, ...(existsSync(device) && { link: LINK }) } };
  await port.ask(encodeFrame({ id: 1, type: 'bind', params }));
  port.push(encodeFrame({ type: 'close', error: { code: 'Unavailable', message: 'bound' } }));
  await port.ask(encodeMark({ kind: 'open', connection: name(1) }));
  await port.ask(encodeFrame({ id: 1, type: 'hello', params: { generation: 0, ...IDENTITY } }));
  await port.ask(encodeFrame({ id: 2, type: 'ping', params: {} }));
  if (round < COMMAND_ROUNDS) await port.ask(encodeFrame({ id: 3, type: 'exec', params: COMMAND }));
  listener.close();
  port.destroy();
  // Whoever was refused has rehearsed the wrong thing.
  await binding.get().guest.log.close();
}

/** Nothing may be changed yet: the one who would is waiting for it. */
function pretend(): Helper {
  return { tell: () => {}, said: async () => {}, end: () => {} };
}

function filesIn(folder: string): Omit<SetUpMeans, 'startHelper' | 'afterwards' | 'device'> {
  const inside = (name: string) => join(folder, name);
  return { hostname: inside('kernel'), etcHostname: inside('hostname'), etcHosts: inside('hosts'), addressMode: inside('mode') };
}

/** A port whose host is here. */
class RehearsedPort extends Duplex {
  #heard = (): void => {};

  /** Resolves when anything is said. */
  async ask(bytes: Uint8Array): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the rehearsal got no answer')), ANSWER_MS);
      this.#heard = resolve;
      this.push(bytes);
    });
    clearTimeout(timer);
  }

  override _read(): void {}

  override _write(_chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#heard();
    done();
  }
}
