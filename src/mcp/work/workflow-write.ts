/**
 * Writes the Tasks of a workflow, all or none. The API is asked first what it would say to each; then those that others wait for come last,
 * so that nothing starts before all is written, and what was written goes again when something is refused after all. A daemon that dies in
 * between leaves a part that has not begun: the same call again completes it.
 */

import { inOrderOfNeed } from '#api/task-graph.ts';
import type { Task } from '#api/types.ts';
import { toClientError } from '#client/remote-errors.ts';
import { type ResourceName, resourcePath, send } from '#client/resource-api.ts';
import { AlreadyExistsError, ignoreNotFound } from '#lib/errors.ts';
import { equalJson, isObject } from '#lib/json.ts';
import type { ToolCall } from '../tool.ts';
import type { PlannedStep, StepDraft } from './workflow-plan.ts';

const TASKS: ResourceName = { group: 'agentiso.dev', version: 'v1alpha1', plural: 'tasks', isNamespaced: true };

/** The Tasks in the order of the steps. */
export async function writeWorkflow(call: ToolCall, steps: readonly PlannedStep[]): Promise<readonly Task[]> {
  const there = new Map<string, Task>();
  for (const { draft } of steps) {
    const { namespace, name } = draft.metadata;
    const found = await ignoreNotFound(call.client.get<Task>({ kind: 'Task', namespace, name }));
    if (found) there.set(name, sameAs(found, draft));
  }
  const missing = steps.filter(({ draft }) => !there.has(draft.metadata.name));
  for (const { draft } of missing) await tryOut(call, draft);
  const made = await createAll(call, lastFirst(missing));
  return steps.flatMap(({ draft: { metadata } }) => there.get(metadata.name) ?? made.get(metadata.name) ?? []);
}

/** From an earlier call that said the same. */
function sameAs(task: Task, { metadata, spec }: StepDraft): Task {
  const { labels = {}, name, deletionTimestamp } = task.metadata;
  const isSame =
    deletionTimestamp === undefined &&
    Object.entries(metadata.labels).every(([label, value]) => labels[label] === value) &&
    isObject(task.spec) &&
    Object.entries(spec).every(([field, value]) => equalJson((task.spec as unknown as StepDraft['spec'])[field], value));
  if (isSame) return task;
  throw new AlreadyExistsError(`there is a task ${name} already, and it is another one`, {
    hint: 'choose another name for the workflow, or delete its tasks first',
  });
}

async function tryOut({ connection, signal }: ToolCall, draft: StepDraft): Promise<void> {
  const query = { dryRun: 'All', fieldValidation: 'Strict' };
  const path = resourcePath(TASKS, { namespace: draft.metadata.namespace, query });
  const headers = { 'content-type': 'application/json' };
  try {
    await (await send(connection, { method: 'POST', path, headers, body: JSON.stringify(draft), signal })).text();
  } catch (error) {
    throw toClientError(error);
  }
}

/** Those that can start at once come at the very end. */
function lastFirst(steps: readonly PlannedStep[]): PlannedStep[] {
  const byName = new Map(steps.map((step) => [step.step, step]));
  const ordered = inOrderOfNeed(steps, ({ dependsOn }) => dependsOn.flatMap((name) => byName.get(name) ?? [])).reverse();
  return [...ordered.filter(({ dependsOn }) => dependsOn.length > 0), ...ordered.filter(({ dependsOn }) => dependsOn.length === 0)];
}

async function createAll({ client }: ToolCall, steps: readonly PlannedStep[]): Promise<ReadonlyMap<string, Task>> {
  const made = new Map<string, Task>();
  try {
    for (const { draft } of steps) made.set(draft.metadata.name, await client.create<Task>(draft as never));
    return made;
  } catch (error) {
    for (const { metadata } of made.values()) {
      const { namespace, name, uid } = metadata;
      await ignoreNotFound(client.delete({ kind: 'Task', namespace, name }, { preconditions: { uid } }));
    }
    throw error;
  }
}
