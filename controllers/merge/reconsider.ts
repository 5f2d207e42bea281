/** Merges that have ended badly: they are tried again when what they failed for is another. */
import type { Merge } from '#api/types.ts';
import { StalledError } from '#lib/errors.ts';
import type { Result, WithStatus } from '#runtime/controller.ts';
import { landAfterAll } from './land.ts';
import type { Pass } from './pass.ts';
import { gatherSources, haveMoved } from './sources.ts';
import { fail, LOOK_AGAIN, lookAgain, startOver } from './status.ts';
import { targetOfMerge } from './target.ts';

/** What the commits themselves are to blame for: others are needed. */
const OF_THE_COMMITS = ['Conflict', 'VerifyFailed', 'MergeCommitInRange', 'UnrelatedHistories', 'BaseNotInHistory'];

export async function reconsider(merge: WithStatus<Merge>, pass: Pass): Promise<Result> {
  if (await haveMoved(merge, pass)) return startOver(merge);
  const soonMs = untilNextLookMs(merge, pass);
  if (soonMs > 0) return { requeueAfterMs: soonMs };
  pass.memory.looks.set(merge.metadata.uid, pass.ctx.now().getTime());
  const { reason = '' } = merge.status;
  try {
    if (reason === 'TargetDirty') return await landOrWait(merge, pass);
    const isOver = OF_THE_COMMITS.includes(reason) ? await hasTargetMoved(merge, pass) : (await obstacleOf(merge, pass)) !== reason;
    return isOver ? startOver(merge) : LOOK_AGAIN;
  } catch (error) {
    if (!(error instanceof StalledError)) throw error;
    return error.reason === reason ? LOOK_AGAIN : fail(merge, { reason: error.reason, message: error.message }, pass.ctx);
  }
}

/** Its agents change all the time, mostly in ways that do not matter here. */
function untilNextLookMs({ metadata: { uid }, status }: Merge, { memory, ctx }: Pass): number {
  const last = memory.looks.get(uid) ?? Date.parse(status?.finishedAt ?? '');
  return Number.isNaN(last) ? 0 : last + (lookAgain(status?.reason).requeueAfterMs ?? 0) - ctx.now().getTime();
}

async function landOrWait(merge: WithStatus<Merge>, pass: Pass): Promise<Result> {
  if (merge.status.candidate === undefined) return startOver(merge);
  const result = await landAfterAll(merge, { ...pass, target: await targetOfMerge(merge, pass) });
  return result === 'dirty' ? lookAgain(merge.status.reason) : result;
}

async function hasTargetMoved(merge: WithStatus<Merge>, pass: Pass): Promise<boolean> {
  const { commit } = await targetOfMerge(merge, pass);
  return commit !== merge.status.targetBefore;
}

/** What would stop it now; found out without a word in the status. */
async function obstacleOf(merge: WithStatus<Merge>, pass: Pass): Promise<string | undefined> {
  const { commit } = await targetOfMerge(merge, pass);
  if (commit === undefined) return 'TargetNotFound';
  return (await gatherSources(merge, pass)).failed[0]?.reason;
}
