/** `/merges/approve`: somebody who wrote none of it says that a merged commit may land. The controller does the rest. */
import { type Merge, shortName } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { toSeconds } from '#lib/clock.ts';
import { AgentisoError, ConflictError, InvalidError, isCode } from '#lib/errors.ts';
import type { Desk, DeskAnswer, DeskRequest } from '#server/desk.ts';

export interface MergeDeskDeps {
  readonly client: Client;
  readonly now: () => Date;
}

/** The controller may write at the same time. */
const MAX_TRIES = 5;

export function createMergeDesk(deps: MergeDeskDeps): Desk {
  return {
    // An agent may approve what others of its team wrote; which that is, is seen in the Merge.
    may: ({ role }) => role === 'admin' || role === 'agent',
    async answer(request) {
      if (`${request.method} ${request.path}` === 'POST approve') return approve(request, deps);
      throw new AgentisoError('NotFound', `there is no ${request.method} /merges/${request.path}; there is POST /merges/approve`);
    },
  };
}

async function approve({ identity, fields }: DeskRequest, { client, now }: MergeDeskDeps): Promise<DeskAnswer> {
  const { namespace = 'default', name, commit, ...rest } = await fields();
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw new InvalidError(`unknown field ${unknown}; namespace, name and commit are accepted`);
  if (typeof namespace !== 'string' || typeof name !== 'string' || name === '') throw new InvalidError('name: give the name of a Merge');
  if (commit !== undefined && typeof commit !== 'string') throw new InvalidError('commit: give the commit that is approved');
  for (let tries = 1; ; tries += 1) {
    const merge = await client.get<Merge>({ kind: 'Merge', namespace, name });
    refuseAuthor(merge, identity);
    const candidate = approvable(merge, commit);
    const approval = { by: identity.user, commit: candidate, time: toSeconds(now()) };
    try {
      await client.updateStatus<Merge>({ ...merge, status: { ...merge.status, approval } });
      return { status: 200, value: approval };
    } catch (error) {
      if (!isCode(error, 'Conflict') || tries >= MAX_TRIES) throw error;
    }
  }
}

function refuseAuthor({ metadata, spec }: Merge, { agent }: DeskRequest['identity']): void {
  if (!agent) return;
  const isOfTeam = agent.namespace === metadata.namespace && agent.team === spec.team;
  if (!isOfTeam) throw new AgentisoError('Forbidden', `agent ${agent.name} of team ${agent.team} has no say over team ${spec.team}`);
  if (!spec.sources.some((source) => shortName(spec.team, source.agent) === agent.name)) return;
  throw new AgentisoError(
    'Forbidden',
    `${agent.name} is a source of merge ${metadata.name}; somebody who wrote none of it must approve it`,
  );
}

/** What was looked at is what is approved. */
function approvable({ metadata: { name }, spec, status }: Merge, commit: string | undefined): string {
  if (spec.approval !== 'Required') throw new ConflictError(`merge ${name} needs no approval`, { hint: 'set spec.approval: Required' });
  if (status?.phase === 'Merged') throw new ConflictError(`merge ${name} has landed already`);
  const { candidate } = status ?? {};
  if (candidate === undefined) {
    throw new ConflictError(`merge ${name} has no merged commit yet`, { hint: `agentiso why merge/${name} says what it waits for` });
  }
  if (commit === undefined || commit === candidate) return candidate;
  throw new ConflictError(`merge ${name} is at ${candidate} by now, not at ${commit}; look at it again`);
}
