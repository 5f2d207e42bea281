/** How the agents of a daemon end with it, or are left for the next one. */
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import type { Driver } from '#drivers/driver.ts';
import { isCode } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { Agents } from '../agents.ts';

const STOP_MS = 30_000;
const POLL_MS = 50;

/** Resources and disks stay: the next start brings the agents back where they were. */
export async function endAgents(agents: Agents, client: Client, { keep }: { readonly keep: boolean }): Promise<void> {
  const { sessions, forwards, egress, mail, network, repositories } = agents;
  const failures: unknown[] = [];
  if (!keep) {
    await markStopped(client).catch((error: unknown) => failures.push(error));
    failures.push(...(await endWorkspaces(agents, client)));
  }
  sessions.closeAll();
  await Promise.all([agents.here.close(), forwards.closeAll(), egress.closeAll(), mail.close(), repositories.close()]);
  // Rules stay for as long as there is a workspace that they hold back.
  if (keep || failures.length > 0) await network.close();
  else await network.destroy(timeLimit(STOP_MS));
  if (failures.length > 0) throw failures[0];
}

/** So that the next daemon, and whoever looks meanwhile, can tell an end on purpose from a crash. */
async function markStopped(client: Client): Promise<void> {
  const { items } = await client.list<Agent>('Agent');
  await Promise.all(items.filter(({ status }) => status?.pid !== undefined).map((agent) => markOne(client, agent)));
}

async function markOne(client: Client, agent: Agent): Promise<void> {
  const { pid: _ended, ...status } = agent.status ?? {};
  const stopped: Agent = { ...agent, status: { ...status, phase: 'Stopped' } };
  for (const type of ['WorkspaceReady', 'RelayReady', 'Ready']) {
    setCondition(
      stopped,
      { type, status: 'False', reason: 'DaemonStopped', message: 'the daemon stopped; it starts again with it' },
      new Date(),
    );
  }
  try {
    await client.updateStatus<Agent>(stopped);
  } catch (error) {
    // Changed or gone under our hands: then it is not worth more words than any other agent that stopped.
    if (!isCode(error, 'Conflict') && !isCode(error, 'NotFound')) throw error;
  }
}

/** One that cannot be ended keeps nobody else. Gives what went wrong. */
async function endWorkspaces({ here: { drivers } }: Agents, client: Client): Promise<readonly unknown[]> {
  const signal = timeLimit(STOP_MS);
  const failures: unknown[] = [];
  await Promise.all(
    drivers.map(async (driver) => {
      const ids = await driver.list(signal).then(
        // What is suspended to the disk stays as it is: nothing of it runs.
        (states) => states.filter(({ savedAs }) => savedAs === undefined).map(({ id }) => id),
        () => knownTo(driver, client),
      );
      const ends = await Promise.allSettled(ids.map((id) => endWorkspace(driver, id, signal)));
      failures.push(...ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])));
    }),
  );
  return failures;
}

async function endWorkspace(driver: Driver, id: string, signal: AbortSignal): Promise<void> {
  while (!(await driver.stop(id, signal))) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** Where one that cannot be read keeps the driver from telling which there are. */
async function knownTo({ name }: Driver, client: Client): Promise<readonly string[]> {
  const { items } = await client.list<Agent>('Agent');
  const isHere = ({ spec, status }: Agent) => status?.isolation?.driver === name && spec.desiredState !== 'Suspended';
  return items.filter(isHere).map(({ metadata }) => metadata.uid);
}

/** The records of the workspaces went with the directory; the agents that are known tell which ones there were. */
export async function endOrphans(
  { here, sessions, forwards, egress, network, repositories }: Agents,
  known: readonly Agent[],
): Promise<void> {
  const signal = timeLimit(5_000);
  await Promise.allSettled(here.drivers.flatMap((driver) => known.map(({ metadata }) => driver.stop(metadata.uid, signal))));
  sessions.closeAll();
  await Promise.allSettled([here.close(), forwards.closeAll(), egress.closeAll(), network.destroy(signal), repositories.close()]);
}
