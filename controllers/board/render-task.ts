/** One Task as Markdown. The same object always gives the same bytes. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { emitYaml } from '#lib/emit-yaml.ts';
import { fenced, inline, quoted } from './markdown.ts';
import { editCommand, phaseOf, WORDS } from './words.ts';

/** Tells files that were generated from those that somebody put beside them. */
export const TASK_MARK = '<!-- Generated from the Task ';

type Status = NonNullable<Task['status']>;

export function renderTask(task: Task): string {
  const { metadata, spec } = task;
  const short = shortName(spec.team, metadata.name);
  const parts = [
    `---\n${emitYaml(frontmatterOf(task))}---\n`,
    `${TASK_MARK}${metadata.name}. What is changed here is put back; to change it: ${editCommand('task', metadata)} -->\n`,
    `# ${inline(spec.title ?? '') || short}\n`,
    ...section('Description', quotedIf(spec.description ?? spec.prompt ?? '')),
    ...section('Acceptance Criteria', criteriaOf(task)),
    ...section('Notes', notesOf(task)),
    ...outcomeOf(task),
  ];
  return parts.join('\n');
}

function frontmatterOf(task: Task): object {
  const { metadata, spec, status = {} } = task;
  const short = (name: string) => shortName(spec.team, name);
  return {
    id: metadata.name,
    status: WORDS[phaseOf(task)],
    owner: status.owner === undefined || status.owner === '' ? null : short(status.owner),
    priority: spec.priority,
    depends_on: (spec.dependsOn ?? []).map(short),
    blocked_by: (status.blockedBy ?? []).map(short),
    created_by: status.createdBy ?? spec.request?.by ?? null,
    created_at: toMilliseconds(metadata.creationTimestamp),
    updated_at: lastTimeOf(task),
    tags: spec.tags ?? [],
  };
}

/** The latest time that the object itself tells. */
function lastTimeOf({ metadata, status = {} }: Task): string {
  const { startedAt, finishedAt, progress, plan, notes = [], conditions = [] } = status;
  const times = [
    metadata.creationTimestamp,
    startedAt,
    finishedAt,
    progress?.time,
    plan?.submittedAt,
    ...notes.map(({ time }) => time),
    ...conditions.map(({ lastTransitionTime }) => lastTransitionTime),
  ];
  const latest = Math.max(...times.map((time) => Date.parse(time ?? '')).filter((time) => !Number.isNaN(time)));
  return toMilliseconds(new Date(latest));
}

function toMilliseconds(time: string | Date): string {
  return new Date(time).toISOString();
}

function section(title: string, body: string): string[] {
  return body === '' ? [] : [`## ${title}\n`, body];
}

function quotedIf(text: string): string {
  return text.trim() === '' ? '' : quoted(text);
}

function criteriaOf(task: Task): string {
  const box = phaseOf(task) === 'Succeeded' ? '[x]' : '[ ]';
  return (task.spec.acceptanceCriteria ?? []).map((criterion) => `- ${box} ${inline(criterion)}\n`).join('');
}

function notesOf({ status }: Task): string {
  const notes = (status?.notes ?? []).map(({ author = 'somebody', time, text }) => {
    const when = time === undefined ? '' : `, ${inline(time)}`;
    return `**${inline(author)}**${when}\n\n${quoted(text)}`;
  });
  return notes.join('\n');
}

function outcomeOf(task: Task): string[] {
  const { status = {} } = task;
  switch (phaseOf(task)) {
    case 'Succeeded':
      return section('Result', [factsOf(status), outputOf(status)].filter(Boolean).join('\n') || 'Done.\n');
    case 'Failed':
      return section('Failure', [whyOf(status), factsOf(status), outputOf(status)].filter(Boolean).join('\n'));
    default:
      return [];
  }
}

function whyOf({ reason = 'Failed', conditions = [] }: Status): string {
  const message = conditions.find((condition) => condition.reason === reason && condition.message !== '')?.message;
  return `Reason: ${inline(reason)}\n${message === undefined ? '' : `\n${quoted(message)}`}`;
}

function factsOf({ result }: Status): string {
  const { exitCode, elapsedSeconds, commit, truncated, artifacts = [] } = result ?? {};
  const facts = [
    exitCode === undefined ? '' : `- exit code ${exitCode}\n`,
    elapsedSeconds === undefined ? '' : `- took ${elapsedSeconds} seconds\n`,
    commit === undefined ? '' : `- commit ${inline(commit)}\n`,
    ...artifacts.map(({ name, path }) => `- artifact ${inline(path ?? name)}\n`),
    truncated ? '- the output is cut\n' : '',
  ];
  return facts.join('');
}

function outputOf({ result }: Status): string {
  const { stdout = '', stderr = '' } = result ?? {};
  const shown = [stdout, stderr].filter((text) => text.trim() !== '').map(fenced);
  return shown.join('\n');
}
