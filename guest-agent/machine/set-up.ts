/**
 * Makes a virtual machine that has just started, or was just copied from another, this agent's own: in one step, before anything of the agent
 * runs. Fresh randomness comes first: until then all copies of one machine would draw the same.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { MachineParams, PrepareParams, WakeParams } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from '../lazy-modules.ts';
import { DiskSync } from './disk-sync.ts';
import { type Helper, startHelper } from './helper.ts';
import { linkMessages, upMessages } from './netlink.ts';
import { startOptimising } from './optimising.ts';
import { WARM_UP_COMMAND } from './script.ts';

/** The only network device of a machine, whatever else it has. */
const DEVICE = 'eth0';
/** The device makes no address of its own, and so says nothing to anybody. */
const NO_OWN_ADDRESS = '1';
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

export interface MachinePlaces {
  readonly workspace: string;
  readonly stateDir: string;
  readonly home?: string;
}

/** What is changed, and by whom. A rehearsal and tests have places of their own. */
export interface SetUpMeans {
  readonly startHelper: () => Helper;
  /** When all is done. */
  readonly afterwards: () => void;
  /** Where the host name is written to: for the kernel, for programs, and so that it can be looked up. */
  readonly hostname: string;
  readonly etcHostname: string;
  readonly etcHosts: string;
  /** What the kernel says of the device; is not there where there is no device. */
  readonly device: string;
  /** How it comes to addresses of its own. */
  readonly addressMode: string;
}

/** Disks and their places, and tools. */
const AS_IT_WAS = ['', '', '', '', '', ''];

/** From the identity to the first work is less. */
const OPTIMISE_AFTER_MS = 10_000;

export const MEANS: SetUpMeans = {
  startHelper: () => startHelper(PATH),
  // Bound, so that nothing has to be compiled at that moment.
  afterwards: setTimeout.bind(undefined, startOptimising, OPTIMISE_AFTER_MS),
  hostname: '/proc/sys/kernel/hostname',
  etcHostname: '/etc/hostname',
  etcHosts: '/etc/hosts',
  device: `/sys/class/net/${DEVICE}`,
  addressMode: `/proc/sys/net/ipv6/conf/${DEVICE}/addr_gen_mode`,
};

export class MachineSetUp {
  readonly #means: SetUpMeans;
  /** Of the disk that the machine is given. */
  readonly disk: DiskSync;
  #prepared: Promise<Helper> | undefined;
  /** It has its disks, and waits for the rest. */
  #hasDisks = false;
  #device: number | undefined;

  constructor(means: SetUpMeans) {
    this.#means = means;
    this.disk = new DiskSync(means.startHelper);
  }

  /** Whatever can be done before it is known whose machine this is. */
  prepare(): Promise<Helper> {
    this.#prepared ??= this.#startHelper();
    return this.#prepared;
  }

  /** Tells the helper nothing, and hears it, as often as that. */
  async rehearse(rounds: number): Promise<void> {
    const helper = await this.prepare();
    for (let round = 0; round < rounds; round++) {
      helper.tell(['rehearse']);
      await helper.said('rehearsed');
    }
  }

  /** Of a machine that will be somebody's later: its disks are where they will be. Rejects like apply. */
  async giveDisks(machine: PrepareParams, places: MachinePlaces): Promise<void> {
    if (this.#hasDisks) return;
    try {
      await this.#tell(machine, diskLines(machine, places));
      this.#hasDisks = true;
    } catch (error) {
      this.#prepared = undefined;
      throw new ProtocolError('Unavailable', `the machine could not be prepared: ${(error as Error).message}`);
    }
  }

  /** Rejects with ProtocolError, saying which step failed. */
  async apply(hostname: string, machine: MachineParams, places: MachinePlaces): Promise<void> {
    try {
      const helper = await this.#tell(machine, this.#hasDisks ? AS_IT_WAS : diskLines(machine, places));
      this.disk.begin(helper, places.workspace);
      writeFileSync(this.#means.hostname, hostname);
      writeFileSync(this.#means.etcHostname, `${hostname}\n`);
      appendFileSync(this.#means.etcHosts, `127.0.1.1 ${hostname}\n`);
    } catch (error) {
      throw new ProtocolError('Unavailable', `the machine could not be set up: ${(error as Error).message}`);
    } finally {
      // A second try begins anew.
      this.#prepared = undefined;
    }
    this.#means.afterwards();
  }

  /** Of one that goes on after a time: everything but the time, its randomness and perhaps its gateway is as it was. */
  async wake(now: WakeParams): Promise<void> {
    try {
      const helper = await this.#tell(now, AS_IT_WAS);
      helper.end();
    } catch (error) {
      throw new ProtocolError('Unavailable', `the machine could not be told what time it is: ${(error as Error).message}`);
    } finally {
      this.#prepared = undefined;
    }
  }

  /** What is the same for a machine that begins and one that goes on, and what follows it. */
  async #tell(now: WakeParams, rest: readonly string[]): Promise<Helper> {
    const helper = await this.prepare();
    helper.tell([now.seed, String(now.timeMs), this.#linkLine(now), ...rest]);
    await helper.said('done');
    return helper;
  }

  async #startHelper(): Promise<Helper> {
    const { device, addressMode } = this.#means;
    if (existsSync(device)) {
      this.#device = Number(readFileSync(`${device}/ifindex`, 'utf8'));
      writeFileSync(addressMode, NO_OWN_ADDRESS);
    }
    const helper = this.#means.startHelper();
    helper.tell([this.#device === undefined ? '' : upMessages(this.#device).toString('hex')]);
    await helper.said('ready');
    return helper;
  }

  #linkLine({ link }: Pick<MachineParams, 'link'>): string {
    if (link === undefined) return '';
    if (this.#device === undefined) throw new Error(`network: there is no device ${DEVICE}`);
    return linkMessages(this.#device, link).toString('hex');
  }
}

function diskLines({ disk = '', tools }: PrepareParams, { workspace, stateDir, home = '' }: MachinePlaces): readonly string[] {
  return [disk, workspace, stateDir, home, tools?.disk ?? '', tools?.place ?? ''];
}

/** The programs that an agent's first commands need are read from the disk now; nothing is changed. Whether it works is seen later. */
export function readPrograms(): Promise<void> {
  return new Promise((resolve) => {
    lazy.childProcess.execFile('sh', ['-c', WARM_UP_COMMAND], { env: { PATH } }, () => resolve());
  });
}
