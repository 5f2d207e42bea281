/** What is said about an open request: to the team that it is there, to whoever asked what became of it. Pure. */
import { shortName, type Task } from '#api/types.ts';
import type { Notice } from '#relay/notices.ts';
import { getCondition } from '#runtime/conditions.ts';
import { isFinished, isHeld } from './card.ts';
import { halfTimeOf } from './request.ts';
import { isFresh, said } from './tell.ts';

export function ofRequest(task: Task, now: Date): Notice[] {
  if (!task.spec.request) return [];
  if (isFinished(task)) return isFresh(task.status?.finishedAt, now) ? [finished(task)] : [];
  if (isHeld(task)) return isFresh(task.status?.lease?.renewTime, now) ? [claimed(task)] : [];
  // Others have to know that it is there before they are reminded of it.
  if (task.status?.reason !== 'OpenForClaim') return [];
  const isLate = now.getTime() >= (halfTimeOf(task) ?? Number.POSITIVE_INFINITY);
  return isLate ? [asked(task), reminder(task)] : [asked(task)];
}

function requestId({ metadata, spec }: Task): string {
  return shortName(spec.team, metadata.name);
}

function response(task: Task, key: string, content: string, status: string): Notice {
  return said(task, { to: task.spec.request?.by ?? '', type: 'response', content, requestId: requestId(task), key, metadata: { status } });
}

function claimed(task: Task): Notice {
  const { owner = '', attempt = 0 } = task.status ?? {};
  return response(task, `claimed/${attempt}`, `claimed by ${shortName(task.spec.team, owner)}`, 'claimed');
}

function finished(task: Task): Notice {
  const { phase, reason, attempt = 0, retries = 0, owner = '', result } = task.status ?? {};
  const key = `finished/${attempt}/${retries}`;
  if (phase === 'Succeeded') return response(task, key, result?.stdout || `done by ${shortName(task.spec.team, owner)}`, 'completed');
  const content = `${reason}: ${getCondition(task, 'Ready')?.message ?? ''}`;
  return response(task, key, content, reason === 'RequestExpired' ? 'expired' : 'failed');
}

function toEverybodyElse(task: Task, type: 'request' | 'nudge', content: string): Notice {
  const by = task.spec.request?.by ?? '';
  const key = `${type}/${task.status?.attempt ?? 0}`;
  return said(task, { to: '*', except: by, type, content, requestId: requestId(task), key, metadata: { from: by } });
}

function asked(task: Task): Notice {
  return toEverybodyElse(task, 'request', task.spec.description ?? task.spec.prompt ?? task.spec.title ?? '');
}

function reminder(task: Task): Notice {
  return toEverybodyElse(task, 'nudge', `Nobody has claimed request ${requestId(task)} yet: ${task.spec.title ?? ''}`);
}
