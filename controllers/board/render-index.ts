/** The board of a team as Markdown: how many tasks there are of each kind, and which. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { inline } from './markdown.ts';
import { editCommand, MARKS, type Phase, phaseOf, WORDS } from './words.ts';

/** What the index says of one Task; made again only when the Task changes. */
export interface IndexLine {
  readonly phase: Phase;
  /** Sorts within its section: urgent first, then old. */
  readonly order: string;
  readonly text: string;
}

const SECTIONS: readonly { readonly title: string; readonly phases: readonly Phase[] }[] = [
  { title: 'In work', phases: ['Running', 'Claimed'] },
  { title: 'Open', phases: ['Pending'] },
  { title: 'Blocked', phases: ['Blocked'] },
  { title: 'Failed', phases: ['Failed'] },
  { title: 'Done', phases: ['Succeeded'] },
];

export function indexLineOf(task: Task, file: string): IndexLine {
  const { metadata, spec, status } = task;
  const phase = phaseOf(task);
  const details = [
    WORDS[phase],
    `priority ${spec.priority}`,
    ...(status?.owner ? [`owner ${shortName(spec.team, status.owner)}`] : []),
    ...(status?.reason && MARKS[phase] === '!' ? [inline(status.reason)] : []),
  ];
  const title = inline(spec.title ?? '');
  return {
    phase,
    order: `${spec.priority} ${metadata.creationTimestamp} ${metadata.name}`,
    text: `- [${MARKS[phase]}] [${shortName(spec.team, metadata.name)}](${file})${title === '' ? '' : `: ${title}`} (${details.join(', ')})\n`,
  };
}

export function renderIndex(team: { readonly namespace: string; readonly name: string }, lines: readonly IndexLine[]): string {
  const byPhase = new Map<Phase, IndexLine[]>();
  for (const line of lines) {
    const same = byPhase.get(line.phase);
    if (same) same.push(line);
    else byPhase.set(line.phase, [line]);
  }
  const counts = (Object.keys(WORDS) as Phase[]).map((phase) => `- ${WORDS[phase]}: ${byPhase.get(phase)?.length ?? 0}\n`);
  const sections = SECTIONS.flatMap(({ title, phases }) => {
    const shown = phases.flatMap((phase) => byPhase.get(phase) ?? []).sort((a, b) => (a.order < b.order ? -1 : 1));
    return shown.length === 0 ? [] : [`## ${title} (${shown.length})\n`, shown.map(({ text }) => text).join('')];
  });
  return [
    `<!-- Generated from the Tasks of ${team.name}. What is changed here is put back; to change it: ${editCommand('team', team)} -->\n`,
    `# Tasks of ${team.name}\n`,
    `${lines.length} ${lines.length === 1 ? 'task' : 'tasks'}\n`,
    counts.join(''),
    ...sections,
  ].join('\n');
}
