/** Why a Team is not ready, or what of its work stands still. Pure. */
import type { Condition } from '#api/meta.ts';
import type { Task, Team } from '#api/types.ts';
import { describe } from './commands.ts';
import { type Finding, fine, leadingTo, type Sight, stuck, waiting } from './finding.ts';
import { lookAtStalled } from './team-reasons.ts';
import { isPatient, lookAtUnseen } from './unseen.ts';
import { conditionOf, idOf, listed, wordsOf } from './words.ts';

const SAYS = 'is not Ready';

export function lookAtTeam(team: Team, sight: Sight): Finding {
  const unseen = lookAtUnseen(team, sight);
  if (unseen) return unseen;
  const condition = conditionOf(team, 'Ready');
  if (condition?.status === 'True') return lookAtWork(team, sight);
  if (!condition) return waiting(`is ${team.status?.phase ?? 'Creating'}`, 'it has not reported yet');
  const stalled = lookAtStalled(team, condition, sight.view);
  if (stalled) return stalled;
  const unready = sight.view.agentsOf(team.metadata.name).filter((agent) => conditionOf(agent, 'Ready')?.status !== 'True');
  if (unready.length > 0) return leadingTo(unready, SAYS, `it waits for ${listed(unready.map(idOf))}`);
  return lookAtRest(team, condition, sight);
}

function lookAtRest(team: Team, condition: Condition, { view, now }: Sight): Finding {
  const isOnTheWay = condition.reason === 'Creating' && isPatient(condition.lastTransitionTime, now);
  if (isOnTheWay) return waiting(SAYS, wordsOf(condition));
  // Its agents are well: what it says was true a moment ago.
  const isOld = condition.message.startsWith('agent ');
  if (isOld) return waiting(SAYS, wordsOf(condition));
  return stuck(SAYS, wordsOf(condition), { text: 'what happened to it:', command: describe(view, team) });
}

/** The agents are there; then it is about the tasks. */
function lookAtWork(team: Team, { view }: Sight): Finding {
  const tasks = view.tasksOf(team.metadata.name);
  const done = tasks.filter(isOver);
  const phase = `is ${team.status?.phase ?? 'Ready'}`;
  const agents = view.agentsOf(team.metadata.name).length;
  const ready = `${agents === 1 ? 'its agent is' : `its ${agents} agents are`} ready`;
  if (tasks.length === 0) return fine(phase, `${ready} and there are no tasks`);
  const because = `${ready}, ${done.length} of ${tasks.length} tasks are done`;
  const open = tasks.filter((task) => !isOver(task));
  return open.length === 0 ? fine(phase, because) : { ...fine(phase, because), leads: open };
}

function isOver({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || (status?.phase === 'Failed' && status.reason === 'Cancelled');
}
