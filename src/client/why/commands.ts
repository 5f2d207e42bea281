/**
 * The command that would help, for the place where it counts: what a Team has made is changed in the Team, which would set it back
 * otherwise. Pure.
 */
import { eachAmount, toAmounts, toWritten } from '#api/amounts.ts';
import type { KindObject } from '#api/meta.ts';
import { type Agent, shortName, type Task } from '#api/types.ts';
import { shellWord } from '../shell-word.ts';
import { makerOf, type View } from './view.ts';

type Fields = Readonly<Record<string, unknown>>;

export function commandOf(view: View, ...words: readonly string[]): string {
  return ['agentiso', ...words, ...view.flags].map(shellWord).join(' ');
}

export function patch(view: View, { kind, metadata }: KindObject, change: Fields): string {
  return commandOf(view, 'patch', kind.toLowerCase(), metadata.name, '-p', JSON.stringify(change));
}

/** Undefined takes a field away. */
export function changeTask(view: View, task: Task, fields: Fields): string {
  const team = makerOf(view, task);
  const short = team && shortName(team.metadata.name, task.metadata.name);
  const at = team?.spec.tasks?.findIndex(({ name }) => name === short) ?? -1;
  return team && at >= 0 ? patchEntry(view, team, `/spec/tasks/${at}`, fields) : patch(view, task, { spec: nulled(fields) });
}

export function changeIsolation(view: View, agent: Agent, isolation: Fields): string {
  return patch(view, makerOf(view, agent) ?? agent, { spec: { isolation } });
}

/** To twice what it is, where it is written: in the role of the team that has made the agent. */
export function raiseBudget(view: View, agent: Agent, dimension: string): string {
  const more = toWritten(eachAmount((each) => (each === dimension ? 2 * (toAmounts(agent.spec.budget)[each] ?? 0) : undefined)));
  const team = makerOf(view, agent);
  const at = team?.kind === 'Team' ? team.spec.roles.findIndex(({ name }) => name === agent.spec.roleName) : -1;
  return team && at >= 0 ? patchEntry(view, team, `/spec/roles/${at}/budget`, more) : patch(view, agent, { spec: { budget: more } });
}

function patchEntry(view: View, { kind, metadata }: KindObject, path: string, fields: Fields): string {
  const operations = Object.entries(fields).map(([field, value]) =>
    value === undefined ? { op: 'remove', path: `${path}/${field}` } : { op: 'add', path: `${path}/${field}`, value },
  );
  return commandOf(view, 'patch', kind.toLowerCase(), metadata.name, '--type', 'json', '-p', JSON.stringify(operations));
}

function nulled(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, value ?? null]));
}

/** For a task that has failed, also one that was given up. */
export function runAgain(view: View, { metadata }: Task): string {
  return commandOf(view, 'retry', metadata.name);
}

export function startAgent(view: View, agent: Agent): string {
  return commandOf(view, 'start', agent.metadata.name);
}

/** Stopped and started by a person, an agent begins anew, whatever has been counted against it. */
export function restartAgent(view: View, agent: Agent): string {
  const { name } = agent.metadata;
  return [
    commandOf(view, 'stop', name),
    commandOf(view, 'wait', `agent/${name}`, '--for=jsonpath={.status.phase}=Stopped', '--timeout=60s'),
    startAgent(view, agent),
  ].join(' && ');
}

export function edit(view: View, { kind, metadata }: KindObject): string {
  return commandOf(view, 'edit', kind.toLowerCase(), metadata.name);
}

export function describe(view: View, { kind, metadata }: KindObject): string {
  return commandOf(view, 'describe', kind.toLowerCase(), metadata.name);
}
