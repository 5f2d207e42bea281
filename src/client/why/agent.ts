/** Why an Agent is not ready. Pure. */
import type { Condition } from '#api/meta.ts';
import { DRAINING_ANNOTATION } from '#api/team-rules.ts';
import { type Agent, shortName } from '#api/types.ts';
import { lookAtReason } from './agent-reasons.ts';
import { lookAtExhausted } from './budget.ts';
import { commandOf, startAgent } from './commands.ts';
import { lookAtCrowded } from './crowded.ts';
import { type Finding, fine, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { lookAtPending, lookAtSuspended } from './rest.ts';
import { lookAtUnseen } from './unseen.ts';
import { findTeam } from './view.ts';
import { conditionOf, idOf, listed, since } from './words.ts';

export function lookAtAgent(agent: Agent, sight: Sight): Finding {
  const unseen = lookAtUnseen(agent, sight);
  if (unseen) return unseen;
  if (agent.metadata.annotations?.[DRAINING_ANNOTATION] !== undefined) return lookAtSurplus(agent, sight);
  if (agent.status?.phase === 'Suspended') return lookAtSuspended(agent, sight);
  const pending = lookAtPending(agent, sight);
  if (pending) return pending;
  const condition = deepest(agent);
  if (condition?.status === 'True') return lookAtReady(agent, sight);
  if (agent.spec.desiredState === 'Stopped') return lookAtStopped(agent, sight);
  if (!condition) return waiting(`is ${agent.status?.phase ?? 'Pending'}`, 'it has not reported yet');
  return lookAtReason(agent, condition, sight);
}

function lookAtReady(agent: Agent, sight: Sight): Finding {
  const { phase, startedAt, isolation } = agent.status ?? {};
  if (conditionOf(agent, 'InboxFull')?.status === 'True') return lookAtFullInbox(agent, sight);
  const crowded = lookAtCrowded(agent, 'can start nothing more');
  if (crowded) return crowded;
  const exhausted = lookAtExhausted(agent, sight);
  if (exhausted) return exhausted;
  const held = sight.view.heldBy(agent);
  const pending = conditionOf(agent, 'ReplacePending');
  // It takes no more until then, and whoever waits for it wants to know for what.
  if (pending?.status === 'True') {
    return held.length > 0 ? leadingTo(held, 'gets no new tasks', pending.message) : waiting('is about to be replaced', pending.message);
  }
  const isStill = held.length > 0 && held.every((task) => conditionOf(task, 'Frozen')?.status === 'True');
  if (isStill) return leadingTo(held, 'is Working', `on ${listed(held.map(idOf))}, and nothing of it goes on`);
  if (held.length > 0) return fine('is Working', `on ${listed(held.map(idOf))}`);
  return fine(
    `is ${phase ?? 'Ready'}`,
    `it has run ${since(startedAt, sight.now)}${isolation?.driver ? ` (${isolation.driver})` : ''} and waits for tasks`,
  );
}

/** What Ready only passes on is read where it is said. */
function deepest(agent: Agent): Condition | undefined {
  const ready = conditionOf(agent, 'Ready');
  const network = conditionOf(agent, 'NetworkReady');
  return ready?.reason === 'NetworkNotReady' && network?.status === 'False' ? network : ready;
}

/** It works, but nobody can tell it anything. */
function lookAtFullInbox(agent: Agent, { view, now }: Sight): Finding {
  const { unacked, oldestUnackedAt } = agent.status?.mailbox ?? {};
  const old = oldestUnackedAt === undefined ? '' : `, the oldest there ${since(oldestUnackedAt, now)}`;
  const address = `${agent.spec.team}/${shortName(agent.spec.team, agent.metadata.name)}`;
  return stuck('has a full inbox', `it has not acknowledged ${unacked ?? 100} messages${old}; more are refused until it reads them`, {
    text: `see what it was told (${commandOf(view, 'messages', address, '--unseen')}) and what it does (${commandOf(view, 'logs', agent.metadata.name)}); a new start does not empty the inbox, deleting the agent does:`,
    command: commandOf(view, 'delete', 'agent', agent.metadata.name),
  });
}

function lookAtSurplus(agent: Agent, { view }: Sight): Finding {
  const held = view.heldBy(agent);
  const tasks = held.length > 0 ? `; ${listed(held.map(idOf))} may end first` : '';
  return waiting('is on its way out', `team ${agent.spec.team} does not ask for it any more${tasks}`);
}

function lookAtStopped(agent: Agent, { view }: Sight): Finding {
  const team = findTeam(view, agent.spec.team);
  if (team?.spec.suspend) return leadingTo([team], `is ${agent.status?.phase ?? 'Stopped'}`, 'its team is suspended');
  const command = startAgent(view, agent);
  if (agent.status?.phase === 'Stopped') {
    const because = 'a person stopped it (spec.desiredState is Stopped)';
    return { ...stuck('is Stopped', because, { text: 'let it run again:', command }), isWished: true };
  }
  const held = view.heldBy(agent);
  const tasks = held.length > 0 ? `; ${listed(held.map(idOf))} may go on for the grace period of the team` : '';
  return waiting('is Stopping', `a person stopped it (spec.desiredState is Stopped)${tasks}`, { text: 'if it should go on:', command });
}
