/** What stands between a merged commit and the target: commands that must pass, and people. */
import type { Merge } from '#api/types.ts';
import type { Result, WithStatus } from '#runtime/controller.ts';
import { commandsUpTo, joins } from './batch.ts';
import type { Aimed } from './pass.ts';
import { AT_ONCE, wait } from './status.ts';

/** So long the first one waits for others that could be verified with it. */
const JOIN_MS = 30_000;

/** The result is written down before anything follows from it. */
export async function passGate(merge: WithStatus<Merge>, chain: readonly Merge[], means: Aimed): Promise<Result> {
  const { deps, memory, repository, ctx } = means;
  const { uid } = merge.metadata;
  const commit = merge.status.candidate ?? '';
  const joining = memory.gates.has(uid) ? undefined : joiningAfter(merge, chain, means);
  if (joining) {
    wait(merge, { reason: 'Batching', message: `merge ${joining.name}, to be verified together` }, ctx);
    return { requeueAfterMs: joining.afterMs };
  }
  memory.gates.add(uid);
  const result = await deps.mergeVerifier
    .verify(merge, commit, commandsUpTo(chain, chain.indexOf(merge)), repository)
    .catch((error: unknown) => {
      memory.gates.delete(uid);
      throw error;
    });
  if (!result) {
    const others = chain.length > 1 ? `, for ${chain.map(({ metadata }) => metadata.name).join(', ')} together` : '';
    wait(merge, { reason: 'Verifying', message: `verify at ${commit.slice(0, 12)}${others}` }, ctx);
    return {};
  }
  memory.gates.delete(uid);
  merge.status.verification = {
    commit: result.commit,
    passed: result.passed,
    commands: result.commands.map((command) => ({ ...command })),
  };
  await deps.mergeVerifier.forget(uid);
  return AT_ONCE;
}

/** The next in the queue, if it is about to be put on top of this one. */
function joiningAfter(merge: WithStatus<Merge>, chain: readonly Merge[], { all, memory, ctx }: Aimed) {
  const isFresh = chain.every(({ status }) => status?.verification?.commit !== status?.candidate);
  const afterMs = Date.parse(merge.status.startedAt ?? '') + JOIN_MS - ctx.now().getTime();
  if (!isFresh || !(afterMs > 0)) return undefined;
  const known = [...all.filter(({ metadata }) => metadata.uid !== merge.metadata.uid), merge];
  const isRunning = ({ metadata: { uid } }: Merge) => memory.gates.has(uid);
  const next = known.find(
    (other) =>
      other.status?.candidate === undefined &&
      memory.unfit.get(other.metadata.uid) !== merge.status.candidate &&
      joins(other, known, { isRunning }) === merge.status.candidate,
  );
  return next && { name: next.metadata.name, afterMs };
}

/** By somebody who wrote none of it, for this very commit. */
export async function isApproved(merge: WithStatus<Merge>, { deps, ctx }: Aimed): Promise<boolean> {
  const { metadata, spec, status } = merge;
  const commit = status.candidate ?? '';
  if (spec.approval !== 'Required' || status.approval?.commit === commit) return true;
  const how = `agentiso approve merge/${metadata.name}`;
  await deps.notices.tell({
    namespace: metadata.namespace,
    team: spec.team,
    to: 'orchestrator',
    type: 'request',
    content: `Merge ${metadata.name} into ${spec.target.branch ?? spec.target.agent} is ready at ${commit} and waits for an approval: ${how}`,
    metadata: { merge: metadata.name },
    key: `merge/${metadata.uid}/approve/${commit}`,
  });
  wait(merge, { reason: 'ApprovalNeeded', message: `approval of ${commit.slice(0, 12)} by somebody who wrote none of it: ${how}` }, ctx);
  return false;
}
