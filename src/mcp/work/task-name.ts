/** A name for a task that was given none: task-001, task-002, … in its team, never one that was used before. */
import type { Draft } from '#api/meta.ts';
import { shortName, type Task, type Team } from '#api/types.ts';
import { listObjects, type ResourceName } from '#client/resource-api.ts';
import { isCode } from '#lib/errors.ts';
import type { ToolCall } from '../tool.ts';

/** On the Team: the highest number of a task that is gone. */
const LAST_TASK_ANNOTATION = 'agentiso.dev/last-task';
const TASKS: ResourceName = { group: 'agentiso.dev', version: 'v1alpha1', plural: 'tasks', isNamespaced: true };
/** Only names are needed, and results may be large. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
/** Others may take the same number at the same moment. */
const TRIES = 20;

type Call = Pick<ToolCall, 'client' | 'connection' | 'signal'>;
type Nameless = Omit<Draft<Task>, 'metadata'> & { readonly metadata: { readonly namespace: string } & Partial<Draft<Task>['metadata']> };

export async function createNumbered(call: Call, team: Team, draft: Nameless): Promise<Task> {
  const first = lastNumber(team, await namesIn(call, team)) + 1;
  for (let attempt = 0; ; attempt++) {
    const metadata = { ...draft.metadata, name: nameOf(team.metadata.name, first + attempt) };
    try {
      return await call.client.create<Task>({ ...draft, metadata });
    } catch (error) {
      if (!isCode(error, 'AlreadyExists') || attempt === TRIES) throw error;
    }
  }
}

async function namesIn({ connection, signal }: Call, { metadata: { namespace, name } }: Team): Promise<string[]> {
  const location = { namespace, query: { fieldSelector: `spec.team=${name}` } };
  const { items } = await listObjects(connection, { resource: TASKS, location, accept: METADATA_ONLY, signal });
  return items.map(({ metadata }) => metadata.name ?? '');
}

/** The highest that a task of the team has or had; 0 for none. */
export function lastNumber({ metadata }: Pick<Team, 'metadata'>, tasks: readonly string[]): number {
  const remembered = Number(metadata.annotations?.[LAST_TASK_ANNOTATION] ?? 0);
  const numbers = tasks.map((task) => Number(/^task-(\d{3,9})$/.exec(shortName(metadata.name, task))?.[1] ?? 0));
  return Math.max(0, Number.isSafeInteger(remembered) ? remembered : 0, ...numbers);
}

function nameOf(team: string, number: number): string {
  return `${team}-task-${String(number).padStart(3, '0')}`;
}
