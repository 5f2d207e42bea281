/** spec.merge: when all Tasks of a team are done, one Merge of all its agents. It is made once; whoever deletes it has it made again. */
import { API_VERSION, type Draft } from '#api/meta.ts';
import { type Agent, type Merge, shortName, type Task, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, StalledError } from '#lib/errors.ts';
import { ownedBy, setControllerOwner } from '#runtime/owner.ts';

export interface Members {
  readonly agents: readonly Agent[];
  readonly tasks: readonly Task[];
}

export async function ensureMerge(client: Client, team: Team, members: Members): Promise<void> {
  const draft = mergeOf(team, members);
  if (!draft) return;
  const key = { kind: 'Merge', namespace: team.metadata.namespace, name: draft.metadata.name ?? '' };
  const existing = await ignoreNotFound(client.get<Merge>(key));
  if (existing && ownedBy(existing, team)) return;
  if (existing) throw new StalledError('NameTaken', `Merge ${key.name} exists and does not belong to this team; delete or rename it`);
  setControllerOwner(draft, team);
  await client.create<Merge>(draft as never);
}

/** More cannot be merged at once. */
const MAX_SOURCES = 100;

/** Undefined while there is something left to do, or nothing to merge. Pure. */
export function mergeOf({ metadata, spec }: Team, { agents, tasks }: Members): Draft | undefined {
  if (!spec.merge || agents.length === 0 || tasks.length === 0) return undefined;
  const listed = (spec.tasks ?? []).map(({ name }) => `${metadata.name}-${name}`);
  const isComplete = listed.every((name) => tasks.some((task) => task.metadata.name === name));
  if (!isComplete || !tasks.every(isDone)) return undefined;
  const names = agents.map((agent) => shortName(metadata.name, agent.metadata.name));
  return {
    apiVersion: API_VERSION,
    kind: 'Merge',
    metadata: { name: `${metadata.name}-merge`.slice(0, 63), namespace: metadata.namespace },
    spec: {
      team: metadata.name,
      sources: names.slice(0, MAX_SOURCES).map((agent) => ({ agent })),
      target: { branch: spec.merge.into },
      strategy: spec.merge.strategy,
    },
  };
}

/** A task that has failed may be tried again: the merge waits until it has succeeded, or is given up. */
function isDone({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || (status?.phase === 'Failed' && status.reason === 'Cancelled');
}
