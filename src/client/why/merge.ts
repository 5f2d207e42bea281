/** Why a Merge has not landed. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Agent, Merge } from '#api/types.ts';
import { commandOf, describe, edit } from './commands.ts';
import { type Advice, type Finding, fine, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { lookAtUnseen } from './unseen.ts';
import { conditionOf, lastLine, listed, wordsOf } from './words.ts';

export function lookAtMerge(object: KindObject, sight: Sight): Finding {
  const merge = object as Merge;
  const unseen = lookAtUnseen(merge, sight);
  if (unseen) return unseen;
  const says = `is ${merge.status?.phase ?? 'Pending'}`;
  switch (merge.status?.phase) {
    case 'Merged':
      return fine(says, `${merge.status.totalCommitsApplied ?? 0} commits are in ${targetOf(merge)}`);
    case 'Conflicted':
      return stuck(says, wordsOf(conditionOf(merge, 'Ready') ?? {}), conflictAdvice(merge));
    case 'Failed':
      return lookAtFailed(merge, sight, says);
    case 'Queued':
      return lookAtQueued(merge, sight, says);
    case 'Merging':
    case 'Pending':
    case undefined:
      return lookAtOpen(merge, sight, says);
  }
}

function targetOf({ spec: { target } }: Merge): string {
  return target.branch ?? `the repository of ${target.agent}`;
}

function conflictAdvice({ spec, status }: Merge): Advice {
  const sources = listed([...new Set((status?.conflicts ?? []).map(({ source }) => source))]);
  const who =
    spec.onConflict === 'CreateTask'
      ? `${sources} has a task to mend it`
      : `have ${sources} bring the target into its branch, resolve it and commit`;
  return { text: `${who}; it is then tried again by itself` };
}

/** Who is before it says more. */
function lookAtQueued(merge: Merge, { view }: Sight, says: string): Finding {
  const because = `${merge.status?.position ?? '?'} in the queue of ${targetOf(merge)}: it waits for ${merge.status?.waitsFor ?? 'its turn'}`;
  const [, name] = /^merge (\S+),/.exec(merge.status?.waitsFor ?? '') ?? [];
  const before = name === undefined ? undefined : view.find('Merge', name);
  return before ? leadingTo([before], says, because) : waiting(says, because);
}

function lookAtOpen(merge: Merge, { view }: Sight, says: string): Finding {
  const condition = conditionOf(merge, 'Ready');
  const because = wordsOf(condition ?? {});
  switch (condition?.reason) {
    case 'ApprovalNeeded':
      return stuck(says, because, {
        text: 'look at it, and if it is good:',
        command: commandOf(view, 'approve', `merge/${merge.metadata.name}`),
      });
    case 'TeamNotFound':
      return stuck(says, because, { text: 'create the team, or delete the merge', command: commandOf(view, 'get', 'teams') });
    case 'Verifying':
    case 'Batching':
    case undefined:
      return waiting(says, because || 'it has just begun');
    default:
      return stuck(says, because, { text: 'what happened to it:', command: describe(view, merge) });
  }
}

const HELP: Readonly<Record<string, (merge: Merge, sight: Sight) => Advice>> = {
  VerifyFailed: ({ status }) => {
    const last = status?.verification?.commands?.at(-1);
    return { text: `it said: ${lastLine(last?.output) || 'nothing'}; mend it in a source, and it is tried again by itself` };
  },
  UncommittedChanges: (merge, { view }) => ({
    text: 'commit or discard them there, or leave them behind:',
    command: commandOf(view, 'patch', 'merge', merge.metadata.name, '-p', JSON.stringify({ spec: { allowDirty: true } })),
  }),
  TargetDirty: () => ({ text: 'commit or stash what is changed there; it then lands by itself' }),
  NoForkBase: (merge, { view }) => ({ text: 'say where the work began, in spec.sources[].base:', command: edit(view, merge) }),
  BaseNotFound: (merge, { view }) => ({ text: 'name a commit of the repository in spec.sources[].base:', command: edit(view, merge) }),
  MergeCommitInRange: (merge, { view }) => ({
    text: 'a merge cannot be picked; keep it whole:',
    command: commandOf(view, 'patch', 'merge', merge.metadata.name, '-p', JSON.stringify({ spec: { strategy: 'branch-per-source' } })),
  }),
  TargetNotFound: (merge, { view }) => ({ text: 'create the branch, or name another in spec.target:', command: edit(view, merge) }),
  Forbidden: (merge, { view }) => ({
    text: 'take it out of spec.sources, or make the merge in a team above both:',
    command: edit(view, merge),
  }),
};

function lookAtFailed(merge: Merge, sight: Sight, says: string): Finding {
  const because = wordsOf(conditionOf(merge, 'Ready') ?? {}) || merge.status?.reason;
  const { reason = '' } = merge.status ?? {};
  // An agent that cannot be reached has reasons of its own.
  const unwell = UNREACHABLE.includes(reason)
    ? sourcesOf(merge, sight).filter((agent) => conditionOf(agent, 'Ready')?.status !== 'True')
    : [];
  if (unwell.length > 0) return { ...leadingTo(unwell, says, because ?? ''), state: 'stuck' };
  const advice = HELP[reason]?.(merge, sight) ?? {
    text: 'it is tried again by itself when that has changed; what happened to it:',
    command: describe(sight.view, merge),
  };
  return stuck(says, because, advice);
}

const UNREACHABLE = ['AgentUnreachable', 'TargetNotReady', 'Timeout'];

function sourcesOf({ spec }: Merge, { view }: Sight): Agent[] {
  const names = [...spec.sources.map(({ agent }) => agent), ...(spec.target.agent === undefined ? [] : [spec.target.agent])];
  const found = names.map((name) => view.find('Agent', `${spec.team}-${name}`) ?? view.find('Agent', name));
  return found.filter((agent) => agent !== undefined) as unknown as Agent[];
}
