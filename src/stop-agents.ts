/** How the agents of a daemon end with it, or are left for the next one. */
import type { Agent } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { Agents } from './agents.ts';

const STOP_MS = 30_000;
const POLL_MS = 50;

/** Resources and disks stay: the next start brings the agents back where they were. */
export async function endAgents(agents: Agents, client: Client, { keep }: { readonly keep: boolean }): Promise<void> {
  const { sessions, forwards, egress, mail, network, repositories } = agents;
  if (!keep) {
    await markStopped(client);
    await endWorkspaces(agents);
  }
  sessions.closeAll();
  await Promise.all([agents.here.close(), forwards.closeAll(), egress.closeAll(), mail.close(), repositories.close()]);
  // Rules stay for as long as there is a workspace that they hold back.
  if (keep) await network.close();
  else await network.destroy(AbortSignal.timeout(STOP_MS));
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

async function endWorkspaces({ here: { drivers } }: Agents): Promise<void> {
  const signal = AbortSignal.timeout(STOP_MS);
  await Promise.all(
    drivers.map(async (driver) => {
      // What is suspended to the disk stays as it is: nothing of it runs.
      let running = (await driver.list(signal)).filter(({ savedAs }) => savedAs === undefined).map(({ id }) => id);
      while (running.length > 0) {
        const ended = await Promise.all(running.map((id) => driver.stop(id, signal)));
        running = running.filter((_, index) => !ended[index]);
        if (running.length > 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }),
  );
}

/** The records of the workspaces went with the directory; the agents that are known tell which ones there were. */
export async function endOrphans(
  { here, sessions, forwards, egress, network, repositories }: Agents,
  known: readonly Agent[],
): Promise<void> {
  const signal = AbortSignal.timeout(5_000);
  await Promise.allSettled(here.drivers.flatMap((driver) => known.map(({ metadata }) => driver.stop(metadata.uid, signal))));
  sessions.closeAll();
  await Promise.allSettled([here.close(), forwards.closeAll(), egress.closeAll(), network.destroy(signal), repositories.close()]);
}
