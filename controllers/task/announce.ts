/**
 * What others are told about a Task, read off its status as it is on disk: whoever crashes between a change and the word about it says it
 * afterwards, and whoever has said it says it again under the same key, which changes nothing.
 */
import { shortName, type Task } from '#api/types.ts';
import type { Notice } from '#relay/notices.ts';
import { getCondition, isTrue } from '#runtime/conditions.ts';
import type { ReconcileContext } from '#runtime/controller.ts';
import { isAtStandstill, isHeld } from './card.ts';
import { ofPlan } from './plan-notices.ts';
import { ofRequest } from './request-notices.ts';
import { said, type Teller } from './tell.ts';

/** False: not all of it could be said. */
export async function announce(task: Task, teller: Teller, ctx: ReconcileContext): Promise<boolean> {
  try {
    for (const notice of noticesFor(task, ctx.now())) await teller.tell(task.metadata.uid, notice);
    return true;
  } catch (error) {
    ctx.log.warn({ err: error }, 'a notice was not accepted; trying again');
    return false;
  }
}

export function noticesFor(task: Task, now: Date): Notice[] {
  return [...ofRequest(task, now), ...ofPlan(task, now), ...ofStuck(task), ...ofStandstill(task)];
}

/** Several agents got nowhere with it. */
function ofStandstill(task: Task): Notice[] {
  if (!isAtStandstill(task)) return [];
  const { attempt = 0 } = task.status ?? {};
  const name = shortName(task.spec.team, task.metadata.name);
  const content = `Task ${name} has got nowhere, with another agent neither. Look at it (agentiso transcript ${task.metadata.name}), change what it asks for, then: agentiso retry ${task.metadata.name}`;
  return [said(task, { to: 'orchestrator', type: 'request', content, key: `no-progress/${attempt}` })];
}

function ofStuck(task: Task): Notice[] {
  if (!isHeld(task) || !isTrue(task, 'Stuck')) return [];
  const { owner = '', attempt = 0 } = task.status ?? {};
  const name = shortName(task.spec.team, task.metadata.name);
  const short = shortName(task.spec.team, owner);
  const { message = '', lastTransitionTime: since = '' } = getCondition(task, 'Stuck') ?? {};
  const when = `${attempt}/${since}`;
  return [
    said(task, {
      to: 'lead',
      type: 'task_update',
      content: `Task ${name} on ${short} seems to be stuck: ${message}.`,
      key: `stuck-lead/${when}`,
    }),
    said(task, { to: short, type: 'nudge', content: `How is task ${name} getting on? ${message}.`, key: `stuck/${when}` }),
  ];
}
