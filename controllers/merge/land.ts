/** The last steps of a merge that fits: verified, approved, landed. */
import type { Merge } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import { toSeconds } from '#lib/clock.ts';
import { AgentisoError, messageOf, StalledError, WaitingError } from '#lib/errors.ts';
import type { Result, WithStatus } from '#runtime/controller.ts';
import { chainOn, nextStep, type Step } from './batch.ts';
import { isApproved, passGate } from './gates.ts';
import type { Aimed } from './pass.ts';
import { Order, targetOf } from './queue.ts';
import { branchOf, candidateRef } from './refs.ts';
import { fail, forgetPlace, setReady, startOver, type Verdict, wait } from './status.ts';

/** Each time the target had moved in between, or did not take it. */
const MAX_TRIES = 3;

/** Whose turn it is among those that are verified together follows from their statuses; each does only its own part. */
export async function land(merge: WithStatus<Merge>, means: Aimed): Promise<Result> {
  // Whoever did it may have been ended before it could say so.
  if (await isIn(merge.status.candidate ?? '', means)) return landed(merge, means);
  const chain = chainFor(merge, means);
  const index = chain.indexOf(merge);
  if (index < 0) {
    // While people think about it, the target may move as often as it likes; and a merge before it that was given up is no contest.
    return tryAgain(merge, { ...means, isContest: merge.spec.approval !== 'Required' && merge.status.position === undefined });
  }
  const step = nextStep(chain, ({ metadata: { uid } }) => means.memory.gates.has(uid));
  if (index > 0) merge.status.position = index + 1;
  else delete merge.status.position;
  if (step.is === 'verify' && step.index === index) return passGate(merge, chain, means);
  return index === 0 && step.is !== 'verify' ? finish(merge, { ...means, chain, step }) : follow(merge, { ...means, chain, step });
}

interface Stepping extends Aimed {
  readonly chain: readonly Merge[];
  readonly step: Step;
}

/** The first one of a chain does what concerns the target. */
function finish(merge: WithStatus<Merge>, means: Stepping): Promise<Result> | Result {
  const { step, chain } = means;
  return step.is === 'land' ? moveTarget(merge, chain[step.upTo]?.status?.candidate ?? '', means) : failedGate(merge, means);
}

function follow(merge: WithStatus<Merge>, { step, chain, ctx }: Stepping): Result {
  const [first, last] = [chain[0]?.metadata.name, chain.at(-1)?.metadata.name];
  const message = step.is === 'land' ? `merge ${first}, which it lands with` : `verify of ${first} to ${last} together`;
  wait(merge, { reason: 'Verifying', message }, ctx);
  return {};
}

function isIn(commit: string, { repository, target }: Aimed): Promise<boolean> {
  return target.commit === undefined ? Promise.resolve(false) : repository.isContained(commit, [target.commit]);
}

/** With this one as it is in this pass. */
function chainFor(merge: WithStatus<Merge>, { all, target }: Aimed): Merge[] {
  const others = all.filter(({ metadata }) => metadata.uid !== merge.metadata.uid);
  const same = [...others.filter((other) => targetOf(other) === targetOf(merge)), merge];
  const order = new Order(same);
  return chainOn(target.commit, same, (a, b) => order.compare(a, b));
}

function failedGate(merge: WithStatus<Merge>, { ctx }: Aimed): Result {
  const last = merge.status.verification?.commands?.at(-1);
  const how = last?.exitCode === -1 ? 'did not end well' : `exited with ${last?.exitCode}`;
  const message = `${last?.command} ${how}; nothing has landed, and it is tried again when a source or the target moves`;
  return fail(merge, { reason: 'VerifyFailed', message }, ctx);
}

async function moveTarget(merge: WithStatus<Merge>, to: string, means: Aimed): Promise<Result> {
  const { target, memory, ctx, signal } = means;
  if (!(await isApproved(merge, means))) return {};
  const tried = memory.tries.get(merge.metadata.uid);
  if (tried && tried.count > MAX_TRIES) {
    memory.tries.delete(merge.metadata.uid);
    return fail(merge, tried.last, ctx);
  }
  try {
    const landing = await target.land({ from: target.commit, to }, signal);
    if (landing.state === 'landed') return landed(merge, means);
    if (landing.state === 'dirty') return isDirty(merge, landing.message, means);
    return tryAgain(merge, { ...means, isContest: true });
  } catch (error) {
    // Whether it has landed all the same is seen at the next look.
    if (!(error instanceof StalledError || error instanceof WaitingError)) count(merge, toVerdict(error), means);
    throw error;
  }
}

function toVerdict(error: unknown): Verdict {
  const isLate = error instanceof AgentisoError && error.code === 'Timeout';
  return { reason: isLate ? 'Timeout' : 'LandingFailed', message: `the target does not take it: ${messageOf(error)}` };
}

function isDirty(merge: WithStatus<Merge>, message: string, { ctx }: Aimed): Result {
  return fail(merge, { reason: 'TargetDirty', message: `${message}; then it lands by itself, within a few seconds` }, ctx);
}

/** Once more for one that failed because of uncommitted changes: nothing is said while they are still there. */
export async function landAfterAll(merge: WithStatus<Merge>, means: Aimed): Promise<'dirty' | Result> {
  const { target, signal } = means;
  if (await isIn(merge.status.candidate ?? '', means)) return landed(merge, means);
  if (target.commit !== merge.status.targetBefore) return startOver(merge);
  const landing = await target.land({ from: target.commit, to: merge.status.candidate ?? '' }, signal);
  if (landing.state === 'landed') return landed(merge, means);
  return landing.state === 'dirty' ? 'dirty' : startOver(merge);
}

/** They say what came from whom, for as long as the Merge is there. */
async function keepBranches({ metadata, spec, status }: WithStatus<Merge>, { repository }: Aimed): Promise<void> {
  if (spec.strategy !== 'branch-per-source') return;
  const sources = status.sources ?? [];
  const nameOf = (agent: string) => branchOf(metadata.name, shortName(spec.team, agent));
  await repository.update(sources.flatMap(({ agent, head }) => (head ? [{ ref: nameOf(agent), to: head }] : [])));
  for (const source of sources) source.branch = nameOf(source.agent).replace('refs/heads/', '');
}

async function landed(merge: WithStatus<Merge>, means: Aimed): Promise<Result> {
  const { repository, deps, memory, ctx } = means;
  const { metadata, status } = merge;
  const commit = status.candidate ?? '';
  await keepBranches(merge, means);
  await deps.mergeVerifier.forget(metadata.uid);
  const kept = (await repository.refs(candidateRef(metadata.uid).replace(/\/candidate$/, ''))).keys();
  await repository.update([...kept].map((ref) => ({ ref, to: undefined })));
  Object.assign(status, { phase: 'Merged', finishedAt: toSeconds(ctx.now()) });
  if (commit !== status.targetBefore) status.targetAfter = commit;
  delete status.reason;
  forgetPlace(merge);
  memory.forget(metadata.uid);
  const message = `${status.totalCommitsApplied ?? 0} commits; the target is at ${commit.slice(0, 12)}`;
  ctx.events.normal(merge, 'Merged', message);
  setReady(merge, 'True', { reason: 'Merged', message }, ctx);
  return {};
}

/** What it was merged onto is not the target any more, and will not be. */
function tryAgain(merge: WithStatus<Merge>, means: Aimed & { readonly isContest: boolean }): Result {
  if (!means.isContest) return startOver(merge);
  const verdict = {
    reason: 'Conflict',
    message: `the target moved ${MAX_TRIES} times while this was merged; it is tried again in a while`,
  };
  if (count(merge, verdict, means) <= MAX_TRIES) return startOver(merge);
  means.memory.tries.delete(merge.metadata.uid);
  return fail(merge, verdict, means.ctx);
}

function count({ metadata: { uid } }: Merge, last: Verdict, { memory }: Aimed): number {
  const before = memory.tries.get(uid)?.count ?? 0;
  memory.tries.set(uid, { count: before + 1, last });
  return before + 1;
}
