/** The commits a merge takes, from whom, and after which one; or why they cannot be had. */
import { type Agent, type Merge, shortName } from '#api/types.ts';
import type { MergeSource, TeamRepository } from '#git/team-repository.ts';
import { AgentisoError, StalledError } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { MergeDeps } from './deps.ts';
import { candidateRef, savedRef } from './refs.ts';
import type { SourceStatus } from './report.ts';
import { agentNamed, carry, teamNamed } from './teams.ts';

export interface Gathered {
  readonly sources: readonly MergeSource[];
  /** Those that stop the merge. */
  readonly failed: readonly (SourceStatus & { readonly reason: string; readonly message: string })[];
  /** What is left behind, by the name of the source. */
  readonly uncommitted: ReadonlyMap<string, readonly string[]>;
}

export interface Gathering {
  readonly deps: Pick<MergeDeps, 'client' | 'work' | 'repositories'>;
  readonly repository: TeamRepository;
  readonly signal: AbortSignal;
}

/** Of one source. */
const LIMIT_MS = 60_000;
/** In a status; an agent that forgot its .gitignore has thousands. */
const MAX_FILES = 200;

export async function gatherSources(merge: Merge, means: Gathering): Promise<Gathered> {
  const found = await Promise.all(
    merge.spec.sources.map(({ agent, base }) => gatherOne(merge, { name: agent, base: base ?? undefined }, means)),
  );
  return {
    sources: found.flatMap((one) => ('source' in one ? [one.source] : [])),
    failed: found.flatMap((one) => ('failed' in one ? [one.failed] : [])),
    uncommitted: new Map(
      found.flatMap(({ name, uncommittedFiles = [] }) => (uncommittedFiles.length > 0 ? [[name, uncommittedFiles]] : [])),
    ),
  };
}

type One = { readonly name: string; readonly uncommittedFiles?: string[] } & (
  | { readonly source: MergeSource }
  | { readonly failed: Gathered['failed'][number] }
);

interface Asked {
  readonly name: string;
  readonly base: string | undefined;
}

async function gatherOne(merge: Merge, { name, base }: Asked, means: Gathering): Promise<One> {
  const limit = timeLimit(LIMIT_MS);
  const failed = (reason: string, message: string, more: Partial<SourceStatus> = {}): One => ({
    name,
    failed: { agent: name, phase: 'Failed', reason, message, ...more },
  });
  try {
    return await collectOne(merge, { name, base }, { ...means, signal: AbortSignal.any([means.signal, limit]) }, failed);
  } catch (error) {
    if (error instanceof StalledError) return failed(error.reason, error.message);
    const isLate = limit.aborted || (error instanceof AgentisoError && error.code === 'Timeout');
    if (isLate && !means.signal.aborted) return failed('Timeout', `the commits of ${name} did not come within ${LIMIT_MS / 1_000} s`);
    throw error;
  }
}

async function collectOne(
  merge: Merge,
  asked: Asked,
  { deps, repository, signal }: Gathering,
  failed: (reason: string, message: string, more?: Partial<SourceStatus>) => One,
): Promise<One> {
  const { name } = asked;
  const agent = await agentNamed(deps.client, merge, name);
  const found = await deps.work.collect(agent, merge.spec.path, signal);
  if (found.state === 'failed') return failed(found.reason, found.message);
  const { head } = found;
  const uncommittedFiles = found.uncommittedFiles.slice(0, MAX_FILES);
  if (uncommittedFiles.length > 0 && !merge.spec.allowDirty) {
    const named = uncommittedFiles.slice(0, 5).join(', ');
    const message = `${name} has uncommitted changes: ${named}; commit them, or set allowDirty to leave them behind`;
    return failed('UncommittedChanges', message, { head, uncommittedFiles });
  }
  const wanted = asked.base ?? agent.status?.git?.forkBase;
  if (wanted === undefined) return failed('NoForkBase', `nobody knows where the work of ${name} began; set sources[].base`, { head });
  const ref = candidateRef(merge.metadata.uid, name);
  await carry(agent, { commit: head, base: agent.status?.git?.forkBase, ref }, repository, { ...deps, merge, signal });
  const base = await repository.resolve(wanted);
  if (base === undefined)
    return failed('BaseNotFound', `${wanted}, where the work of ${name} begins, is no commit of the team's repository`, { head });
  return { name, source: { name, head, base }, uncommittedFiles };
}

/** Whether a source has other commits than those that the status speaks of. Nobody is asked: what was last saved counts. */
export async function haveMoved({ metadata, spec, status }: Merge, { deps, repository }: Omit<Gathering, 'signal'>): Promise<boolean> {
  for (const { agent: name, head } of status?.sources ?? []) {
    const agent = await agentNamed(deps.client, { metadata, spec } as Merge, name).catch(noneIfStalled);
    const saved = agent && (await savedHead(agent, spec.team, { deps, repository }));
    if (head !== undefined && saved !== undefined && saved !== head) return true;
  }
  return false;
}

async function savedHead(
  { metadata, spec }: Agent,
  team: string,
  { deps, repository }: Omit<Gathering, 'signal'>,
): Promise<string | undefined> {
  const ref = savedRef(spec.team, shortName(spec.team, metadata.name));
  if (spec.team === team) return repository.resolve(ref);
  const other = await teamNamed(deps.client, metadata.namespace, spec.team);
  return other && (await deps.repositories.find(other.metadata.uid))?.resolve(ref);
}

function noneIfStalled(error: unknown): undefined {
  if (!(error instanceof StalledError)) throw error;
}
