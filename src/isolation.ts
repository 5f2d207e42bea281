/** The ways this machine can isolate an agent, strongest last, and which one an agent gets. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { processDriver } from '#drivers/process/driver.ts';
import { detectSandbox, type SandboxSupport } from '#drivers/sandbox/detect.ts';
import { sandboxDriver } from '#drivers/sandbox/driver.ts';
import { bindGuest } from '#guest/client.ts';
import { StalledError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';

export interface DriversOptions {
  readonly home: string;
  readonly guestAgentPath: string;
  readonly log: Logger;
  readonly hostEnv: (name: string) => string | undefined;
  /** Whether workspaces get prepared network namespaces, which nothing that runs already can be put into. */
  readonly hasLinks: boolean;
}

export interface DriversHere {
  readonly drivers: readonly Driver[];
  readonly sandbox: SandboxSupport;
  /** Ends what was started ahead of time and belongs to nobody. */
  close(): Promise<void>;
}

/** Sandboxes started ahead of time, per team. */
const POOL_SIZE = 2;

/** What works is found out by starting a sandbox, once per daemon. */
export async function findDrivers({ home, guestAgentPath, log, hostEnv, hasLinks }: DriversOptions): Promise<DriversHere> {
  const stateDir = join(home, 'state', 'workspaces');
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const sandbox = await detectSandbox(stateDir);
  const process = processDriver({ stateDir: join(stateDir, 'process'), guestAgentPath, log, environment: hostEnv });
  if (sandbox.mode === 'unavailable') {
    log.warn({ reason: sandbox.reason }, 'no sandbox on this machine: agents that may run as plain processes are not isolated');
    return { drivers: [process], sandbox, close: async () => {} };
  }
  const pool = hasLinks ? {} : { pool: { size: POOL_SIZE, bind: bindGuest } };
  const sandboxed = sandboxDriver({ stateDir: join(stateDir, 'sandbox'), guestAgentPath, log, support: sandbox, ...pool });
  return { drivers: [process, sandboxed], sandbox, close: () => sandboxed.closePool() };
}

const STRENGTH = ['process', 'sandbox', 'vm'] as const;
export type DriverName = (typeof STRENGTH)[number];

/** Whose network it has: of one that is to move, where it still runs. */
export function driverNameOf(agent: Agent, here: DriversHere): DriverName {
  const isToMove = agent.status?.conditions?.some(({ type, status }) => type === 'ReplacePending' && status === 'True');
  const present = isToMove ? agent.status?.isolation?.driver : undefined;
  return (present ?? chooseDriver(agent, here).name) as DriverName;
}

/** The strongest there is, or the one asked for; never a weaker one than the team's minimum. */
export function chooseDriver({ spec }: Agent, { drivers, sandbox }: DriversHere): Driver {
  const { driver: asked = 'auto', minimum = 'process' } = spec.isolation ?? {};
  const strength = (name: string) => STRENGTH.indexOf(name as DriverName);
  const usable = drivers
    .filter(({ name }) => (asked === 'auto' || name === asked) && strength(name) >= strength(minimum))
    .sort((a, b) => strength(b.name) - strength(a.name));
  const [strongest] = usable;
  if (strongest && spec.isolation?.requireLimits && strongest.isolation.limits === 'none') {
    throw new StalledError('LimitsUnavailable', `isolation.requireLimits is set, and the ${strongest.name} driver limits nothing`);
  }
  if (strongest) return strongest;
  const wanted = asked === 'auto' ? `at least ${minimum}` : asked;
  const offers = drivers.map(({ name }) => name).join(', ');
  const why = sandbox.reason === '' ? '' : ` (${sandbox.reason})`;
  throw new StalledError('IsolationUnavailable', `the agent asks for isolation ${wanted}; this machine offers ${offers}${why}`, {
    hint: 'agentiso doctor says what to install',
  });
}
