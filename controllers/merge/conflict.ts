/** Who hears of a conflict, and the Task that may follow from it. Said once for each state of the sources. */
import { createHash } from 'node:crypto';
import { API_VERSION } from '#api/meta.ts';
import { type Agent, type Merge, shortName, type Task } from '#api/types.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import type { ReconcileContext } from '#runtime/controller.ts';
import type { MergeDeps } from './deps.ts';
import { type ConflictStatus, describeConflict } from './report.ts';
import { agentNamed } from './teams.ts';

export async function tellConflict(merge: Merge, deps: MergeDeps, ctx: ReconcileContext): Promise<void> {
  const conflicts = merge.status?.conflicts ?? [];
  const state = stateOf(merge);
  const summary = conflicts.map(describeConflict).join('; ');
  ctx.events.warning(merge, 'Conflict', summary);
  const said = {
    deps,
    state,
    content: `Merge ${merge.metadata.name} into ${nameOfTarget(merge)} has conflicts and changed nothing: ${summary}`,
  };
  for (const conflict of conflicts) {
    const agent = await agentNamed(deps.client, merge, conflict.source);
    await tell(merge, { team: agent.spec.team, to: shortName(agent.spec.team, agent.metadata.name) }, said);
    if (merge.spec.onConflict === 'CreateTask') await createTask(merge, { conflict, agent }, { deps, state });
  }
  await tell(merge, { team: merge.spec.team, to: 'lead' }, said);
}

function nameOfTarget({ spec: { target } }: Merge): string {
  return target.branch ?? target.agent ?? '';
}

/** Changes with what was merged: the same conflict is not told twice, the next one is. */
function stateOf({ status }: Merge): string {
  const heads = (status?.sources ?? []).map(({ agent, head }) => `${agent} ${head}`);
  return createHash('sha256')
    .update([status?.targetBefore, ...heads].join('\n'))
    .digest('hex')
    .slice(0, 12);
}

async function tell(
  { metadata }: Merge,
  { team, to }: { readonly team: string; readonly to: string },
  { deps, state, content }: { readonly deps: MergeDeps; readonly state: string; readonly content: string },
): Promise<void> {
  await deps.notices.tell({
    namespace: metadata.namespace,
    team,
    to,
    type: 'task_update',
    content,
    metadata: { merge: metadata.name },
    key: `merge/${metadata.uid}/${state}/${to}`,
  });
}

async function createTask(
  merge: Merge,
  { conflict, agent }: { readonly conflict: ConflictStatus; readonly agent: Agent },
  { deps, state }: { readonly deps: MergeDeps; readonly state: string },
): Promise<void> {
  const { metadata } = merge;
  const { team } = agent.spec;
  const name = shortName(team, agent.metadata.name);
  const tasks = await Promise.all((conflict.tasks ?? []).slice(0, MAX_TASKS).map((each) => describeTask(each, merge, deps)));
  const prompt = [
    `Your commits do not fit into ${nameOfTarget(merge)} (Merge ${metadata.name}): ${describeConflict(conflict)}.`,
    ...(tasks.length > 0 ? ['They come from these tasks, on both sides:', ...tasks] : []),
    'Bring the target into your branch, resolve the conflict so that the aims of both sides are met, and commit. The merge is then tried again by itself.',
  ].join('\n');
  const task = {
    apiVersion: API_VERSION,
    kind: 'Task',
    metadata: {
      name: `${team}-fix-${state}-${name}`.slice(0, 63).replace(/-+$/, ''),
      namespace: metadata.namespace,
      labels: { 'agentiso.dev/merge': metadata.name },
    },
    spec: { team, title: `Resolve conflicts of ${metadata.name}`, assignTo: name, priority: 2, prompt },
  };
  try {
    await deps.client.create<Task>(task as never);
  } catch (error) {
    if (!isCode(error, 'AlreadyExists')) throw error;
  }
}

const MAX_TASKS = 10;
const MAX_TEXT = 1_000;

/** What it was for, as far as it is still known: the names come from commits, which anybody can write. */
async function describeTask(name: string, { metadata: { namespace } }: Merge, { client }: MergeDeps): Promise<string> {
  const isName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name) && name.length <= 63;
  const task = isName ? await ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name })) : undefined;
  const text = [task?.spec.title, task?.spec.prompt ?? task?.spec.command].filter(Boolean).join(': ');
  return `- ${name.slice(0, 63)}${text === '' ? '' : `: ${text.slice(0, MAX_TEXT)}`}`;
}
