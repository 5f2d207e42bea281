/** Agents that rest, wait for a snapshot or are about to be taken back, and Snapshots that are not there. Pure. */
import { goldenOf } from '#api/golden.ts';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import { commandOf, describe, edit } from './commands.ts';
import { type Finding, fine, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { lookAtUnseen } from './unseen.ts';
import { findAgent, findTeam } from './view.ts';
import { conditionOf, since, wordsOf } from './words.ts';

export function lookAtSuspended({ metadata: { name } }: Agent, { view }: Sight): Finding {
  const because = 'a person suspended it (spec.desiredState is Suspended); messages wait';
  return {
    ...stuck('is Suspended', because, { text: 'let it go on where it was:', command: commandOf(view, 'resume', name) }),
    isWished: true,
  };
}

const PENDING: Readonly<Record<string, string>> = {
  RestorePending: 'is about to be taken back',
  SuspendPending: 'is about to be suspended',
};

/** What it runs towards, and takes no new tasks for. Undefined: nothing of the kind. */
export function lookAtPending(agent: Agent, { view }: Sight): Finding | undefined {
  for (const [type, says] of Object.entries(PENDING)) {
    const pending = conditionOf(agent, type);
    if (pending?.status !== 'True') continue;
    const held = view.heldBy(agent);
    if (held.length > 0) return leadingTo(held, 'gets no new tasks', pending.message);
    if (pending.reason === 'Restoring' || pending.reason === 'Suspending' || pending.reason === 'TaskRunning')
      return waiting(says, pending.message);
    if (pending.reason === 'SnapshotPending') return towards(agent.spec.restore?.snapshot, says, { view, because: pending.message });
    const command = type === 'SuspendPending' ? commandOf(view, 'resume', agent.metadata.name) : takeOut(view, agent);
    return stuck(`${says}, and cannot be`, wordsOf(pending), { text: 'it runs on; to take the wish back:', command });
  }
  return undefined;
}

/** A fork, or a member of a team with a golden snapshot, that cannot begin. */
export function lookAtFork(agent: Agent, condition: { readonly reason: string; readonly message: string }, sight: Sight): Finding {
  const { view } = sight;
  const says = 'is not Ready';
  if (agent.spec.source === undefined) return lookAtMember(agent, condition, sight);
  if (condition.reason === 'SnapshotPending') return towards(agent.spec.source?.snapshot, says, { view, because: condition.message });
  const command = commandOf(view, 'delete', 'agent', agent.metadata.name);
  return stuck(says, wordsOf(condition), {
    text: 'what it began as cannot change; delete it, and fork from a snapshot that is there:',
    command,
  });
}

function lookAtMember(agent: Agent, condition: { readonly reason: string; readonly message: string }, { view }: Sight): Finding {
  const says = 'is not Ready';
  const team = findTeam(view, agent.spec.team);
  const snapshot = team && goldenOf(team, (name) => view.find('Snapshot', name) as Snapshot | undefined);
  // What is wrong with one that is there is said there.
  if (snapshot && condition.reason !== 'SnapshotUnusable') return leadingTo([snapshot], says, wordsOf(condition));
  if (condition.reason === 'GoldenPreparing') return waiting(says, wordsOf(condition), { text: 'patience: it starts by itself' });
  const advice = { text: 'create that snapshot, or name one that is there:', command: edit(view, team ?? agent) };
  return stuck(says, wordsOf(condition), advice);
}

function takeOut(view: Sight['view'], { metadata: { name } }: Agent): string {
  return commandOf(view, 'patch', 'agent', name, '-p', JSON.stringify({ spec: { restore: null } }));
}

function towards(name = '', says: string, { view, because }: Pick<Sight, 'view'> & { readonly because: string }): Finding {
  const snapshot = view.find('Snapshot', name);
  return snapshot ? leadingTo([snapshot], says, because) : waiting(says, because);
}

export function lookAtSnapshot(object: KindObject, sight: Sight): Finding {
  const snapshot = object as Snapshot;
  const { view, now } = sight;
  const { phase = 'Pending', takenAt } = snapshot.status ?? {};
  if (phase === 'Ready') return fine('is Ready', `it shows ${contentOf(snapshot)} ${since(takenAt, now)} ago`);
  const unseen = lookAtUnseen(snapshot, sight);
  if (unseen) return unseen;
  const because = wordsOf(conditionOf(snapshot, 'Ready') ?? {});
  if (snapshot.spec.golden !== undefined && phase === 'Failed') return lookAtFailedGolden(snapshot, because, sight);
  const agent = findAgent(view, snapshot.spec.agent ?? '');
  if (conditionOf(snapshot, 'Ready')?.reason === 'TooLargeToHold' && agent)
    return stuck(`is ${phase}`, because, {
      text: 'it is taken once the agent rests:',
      command: commandOf(view, 'suspend', agent.metadata.name),
    });
  if (phase === 'Pending') return agent ? leadingTo([agent], 'is Pending', because) : waiting('is Pending', because);
  return stuck(`is ${phase}`, because, { text: 'what happened to it:', command: describe(view, snapshot) });
}

function contentOf({ spec: { agent, golden, team } }: Snapshot): string {
  return golden === undefined ? `${agent} as it was` : `what members of team ${team} begin with, prepared`;
}

function lookAtFailedGolden({ metadata }: Snapshot, because: string, { view }: Sight): Finding {
  const command = commandOf(view, 'delete', 'snapshot', metadata.name);
  return stuck('is Failed', because, { text: 'mend spec.golden of the team; to try the same again:', command });
}
