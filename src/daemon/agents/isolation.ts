/** The ways this machine can isolate an agent, strongest last, and which one an agent gets. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Size } from '#api/fleet.ts';
import { DEFAULT_LIMITS, type Limits } from '#api/limits.ts';
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { groupPrefix, listGroups, removeGroups } from '#drivers/local/cgroup.ts';
import type { CgroupPlaces } from '#drivers/local/cgroup-places.ts';
import { savedRoom } from '#drivers/local/saved-room.ts';
import { processDriver } from '#drivers/process/driver.ts';
import { detectSandbox, type SandboxSupport } from '#drivers/sandbox/detect.ts';
import { sandboxDriver } from '#drivers/sandbox/driver.ts';
import { withAcceleration } from '#drivers/vm/acceleration.ts';
import { vmDriver } from '#drivers/vm/driver.ts';
import { detectVm, type VmUnavailable } from '#drivers/vm/support.ts';
import { chooseTransport } from '#drivers/vm/vsock.ts';
import { bindGuest } from '#guest/client.ts';
import type { ImageFiles } from '#images/images.ts';
import { StalledError } from '#lib/errors.ts';
import type { Gate } from '#lib/gate.ts';
import type { Logger } from '#lib/log.ts';

export interface DriversOptions {
  readonly home: string;
  readonly guestAgentPath: string;
  readonly log: Logger;
  readonly hostEnv: (name: string) => string | undefined;
  /** Whether so many sandboxes and machines may be started ahead. Absent: always. */
  readonly hasRoomFor?: ((pool: Size) => boolean) | undefined;
  /** Of virtual machines, by name; undefined for one that has not been built. */
  readonly findImage: (name: string) => Promise<ImageFiles | undefined>;
  /** Where templates of machines are, for all homes of a user. Absent: each home has its own. */
  readonly templates?: string | undefined;
  /** Where the home was before, and nothing is now. */
  readonly formerHomes?: readonly string[];
  /** What workspaces may take of the disk. Absent: the defaults. */
  readonly limits?: Pick<Limits, 'maxSavedMiB' | 'maxCacheMiB'> | undefined;
  /** Shared with forks. Absent: machines have one of their own. */
  readonly starts?: Gate | undefined;
  /** $AGENTISO_VM_ACCEL: kvm or tcg, without a trial. */
  readonly vmAcceleration?: string | undefined;
}

export interface DriversHere {
  readonly drivers: readonly Driver[];
  readonly sandbox: SandboxSupport;
  /** Absent: there are virtual machines, or a test has no use for them. */
  readonly vm?: VmUnavailable;
  /** Whether an agent that asks for nothing in particular gets a machine of its own: only where those are fast. */
  readonly isVmUsual?: boolean;
  /** Absent: nothing is started ahead. */
  readonly pool?: ReadyWorkspaces;
  /** Ends what was started ahead of time and belongs to nobody. */
  close(): Promise<void>;
}

/** Started ahead of time, and nobody's yet. */
export interface ReadyWorkspaces {
  size(): Size;
  /** Ends those of a team, or all of them: they only make the next start faster. */
  shrink(team?: number): void;
}

/** Sandboxes or machines started ahead of time, of each kind that a team uses. */
const POOL_SIZE = 2;
/** Many agents that are asked for together are not kept waiting by those that may be asked for next. */
const POOL_QUIET_MS = 2_000;

interface Pool {
  poolSize(): Size;
  shrinkPool(team?: number): void;
}

/** Together with `more`. */
function sizeOfPools(pools: readonly Pool[], more: Size = { agents: 0, memoryMiB: 0 }): Size {
  const sizes = [...pools.map((pool) => pool.poolSize()), more];
  const sum = (of: keyof Size) => sizes.reduce((all, size) => all + size[of], 0);
  return { agents: sum('agents'), memoryMiB: sum('memoryMiB') };
}

/** Of a home that was moved. Those with processes stay: they are of workspaces that are taken over, and go at the next start. */
function removeFormerGroups(formerHomes: readonly string[], places: CgroupPlaces | undefined): void {
  if (places === undefined) return;
  for (const former of formerHomes) {
    for (const driver of ['sandbox', 'vm']) {
      const groups = listGroups(places, groupPrefix(join(former, 'state', 'workspaces', driver)));
      for (const paths of groups.values()) removeGroups(paths);
    }
  }
}

/** What works is found out by starting a sandbox, once per daemon. */
export async function findDrivers(options: DriversOptions): Promise<DriversHere> {
  const {
    home,
    guestAgentPath,
    log,
    hostEnv,
    findImage,
    vmAcceleration: asked,
    limits = DEFAULT_LIMITS,
    starts,
    hasRoomFor,
    templates,
  } = options;
  const stateDir = join(home, 'state', 'workspaces');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const sandbox = await detectSandbox(stateDir);
  removeFormerGroups(options.formerHomes ?? [], sandbox.places);
  const room = savedRoom({ root: stateDir, maxSavedMiB: () => limits.maxSavedMiB });
  const process = processDriver({ stateDir: join(stateDir, 'process'), guestAgentPath, log, environment: hostEnv, room });
  if (sandbox.mode === 'unavailable') {
    log.warn({ reason: sandbox.reason }, 'no sandbox on this machine: agents that may run as plain processes are not isolated');
    return { drivers: [process], sandbox, vm: { reason: `QEMU cannot be confined: ${sandbox.reason}` }, close: async () => {} };
  }
  const pools: Pool[] = [];
  const wanted = hostEnv('AGENTISO_WARM_POOL') ?? '';
  const size = poolSizeOf(wanted);
  if (wanted !== '' && wanted !== String(size)) log.warn({ wanted, size }, 'AGENTISO_WARM_POOL is a number from 0 to 9');
  /** A driver's pool is asked for before the driver is there: it knows its own size, and the others are counted here. */
  const ahead = (others: () => readonly Pool[]) => ({
    ...{ size, quietMs: POOL_QUIET_MS },
    ...(hasRoomFor && { hasRoom: (own: Size) => hasRoomFor(sizeOfPools(others(), own)) }),
  });
  const sandboxed = sandboxDriver({
    ...{ stateDir: join(stateDir, 'sandbox'), guestAgentPath, log, support: sandbox, room },
    pool: { ...ahead(() => pools.slice(1)), bind: bindGuest },
  });
  pools.push(sandboxed);
  const pool: ReadyWorkspaces = {
    size: () => sizeOfPools(pools),
    shrink(team) {
      for (const each of pools) each.shrinkPool(team);
    },
  };
  const close = () => sandboxed.closePool();
  const vm = await detectVm(sandbox);
  if ('reason' in vm) return { drivers: [process, sandboxed], sandbox, vm, pool, close };
  const machinesDir = join(stateDir, 'vm');
  mkdirSync(machinesDir, { recursive: true, mode: 0o700 });
  const image = await findImage(DEFAULT_IMAGE);
  const accelerated = await withAcceleration({ directory: machinesDir, image, support: vm, log, asked: asAcceleration(asked) });
  const transport = chooseTransport(hostEnv);
  if ('problem' in transport) log.warn(transport, 'no virtual machine is started until this is put right');
  const support = { ...accelerated, transport };
  const cacheMiB = () => limits.maxCacheMiB;
  const machines = vmDriver({
    stateDir: machinesDir,
    log,
    support,
    findImage,
    room,
    cacheMiB,
    pool: ahead(() => [sandboxed]),
    ...(starts && { starts }),
    ...(templates !== undefined && { templates }),
  });
  pools.push(machines);
  const isVmUsual = support.accel === 'kvm' && image !== undefined && !('problem' in transport);
  const closeAll = async () => {
    await Promise.all([close(), machines.close()]);
  };
  return { drivers: [process, sandboxed, machines], sandbox, isVmUsual, pool, close: closeAll };
}

/** Of $AGENTISO_WARM_POOL. */
export function poolSizeOf(asked: string | undefined): number {
  return asked !== undefined && /^\d$/.test(asked) ? Number(asked) : POOL_SIZE;
}

function asAcceleration(text: string | undefined): 'kvm' | 'tcg' | undefined {
  return text === 'kvm' || text === 'tcg' ? text : undefined;
}

/** Of an agent that names none. */
export const DEFAULT_IMAGE = 'base';

const STRENGTH = ['process', 'sandbox', 'vm'] as const;
export type DriverName = (typeof STRENGTH)[number];

/** Whose network it has: of one that is to move, where it still runs. */
export function driverNameOf(agent: Agent, here: DriversHere): DriverName {
  const isToMove = agent.status?.conditions?.some(({ type, status }) => type === 'ReplacePending' && status === 'True');
  const present = isToMove ? agent.status?.isolation?.driver : undefined;
  return (present ?? chooseDriver(agent, here).name) as DriverName;
}

/** The strongest there is that is worth its time, or the one asked for; never a weaker one than the team's minimum. */
export function chooseDriver({ spec }: Agent, here: DriversHere): Driver {
  const { driver: asked = 'auto', minimum = 'process' } = spec.isolation ?? {};
  const strength = (name: string) => STRENGTH.indexOf(name as DriverName);
  const isMeant = (name: string) => (asked === 'auto' ? name !== 'vm' || minimum === 'vm' || here.isVmUsual : name === asked);
  const usable = here.drivers
    .filter(({ name }) => isMeant(name) && strength(name) >= strength(minimum))
    .sort((a, b) => strength(b.name) - strength(a.name));
  const [strongest] = usable;
  if (strongest && spec.isolation?.requireLimits && strongest.isolation.limits === 'none') {
    throw new StalledError('LimitsUnavailable', `isolation.requireLimits is set, and the ${strongest.name} driver limits nothing`);
  }
  if (strongest) return strongest;
  const wanted = asked === 'auto' ? `at least ${minimum}` : asked;
  const offers = here.drivers.map(({ name }) => name).join(', ');
  const isMachineWanted = asked === 'vm' || minimum === 'vm';
  const reason = (isMachineWanted ? here.vm?.reason : undefined) || here.sandbox.reason;
  const why = reason === '' ? '' : ` (${reason})`;
  throw new StalledError('IsolationUnavailable', `the agent asks for isolation ${wanted}; this machine offers ${offers}${why}`, {
    hint: 'agentiso doctor says what to install',
  });
}
