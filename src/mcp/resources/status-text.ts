/** The state of a team on one screen of plain text. Pure. */
import { type Agent, type Merge, shortName, type Task, type Team } from '#api/types.ts';
import { attemptOfCard, type Card, COLUMNS, cardsOf } from '#client/board-cards.ts';
import type { View } from '#client/why/view.ts';
import { conditionOf, wordsOf } from '#client/why/words.ts';
import { toCell } from '#lib/escape.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import { blockersOf, blockerText, partsOf } from './waiting.ts';

/** So that all of it fits on a screen; the board has the rest. */
const MOST_AGENTS = 12;
const MOST_TASKS = 15;
const MOST_BLOCKERS = 5;

export function statusText(team: Team, view: View, now: Date): string {
  const parts = partsOf(team, view);
  const agents = parts.filter((part): part is Agent => part.kind === 'Agent');
  const tasks = parts.filter((part): part is Task => part.kind === 'Task');
  const merges = parts.filter((part): part is Merge => part.kind === 'Merge');
  const blockers = blockersOf(team, view, now);
  const sections = [
    QUOTED,
    headLines(team).join('\n'),
    section(
      `Agents (${agents.length})`,
      agents.map((agent) => agentLine(agent, tasks)),
      MOST_AGENTS,
    ),
    taskSection(team, tasks),
    section(`Merges (${merges.length})`, merges.map(mergeLine), MOST_BLOCKERS),
    blockers.length === 0 ? 'Nothing is stuck.' : section('What is in the way', blockers.map(blockerText), MOST_BLOCKERS),
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
}

function headLines(team: Team): readonly string[] {
  const { metadata, spec, status } = team;
  const ready = conditionOf(team, 'Ready');
  const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Creating') : 'Terminating';
  const unread = status?.messagesPending ?? 0;
  return [
    `Team ${metadata.name} in the namespace ${metadata.namespace}: ${phase}`,
    ...(spec.description ? [`For: ${toCell(spec.description)}`] : []),
    ...(ready ? [`Ready=${ready.status} ${toCell(wordsOf(ready))}`] : []),
    ...(spec.suspend ? ['Suspended: no task is handed out until spec.suspend is false.'] : []),
    ...(spec.parent ? [`Part of team ${spec.parent}`] : []),
    `Agents of at most ${spec.budget.maxAgents}: ${status?.budget?.used ?? 0} used, ${status?.budget?.reserved ?? 0} reserved for sub-teams`,
    ...(unread > 0 ? [`Messages for you that nobody has acknowledged: ${unread} (tool team_receive)`] : []),
  ];
}

function agentLine({ metadata, spec, status }: Agent, tasks: readonly Task[]): string {
  const held = tasks.filter((task) => task.status?.owner === metadata.name && ['Claimed', 'Running'].includes(task.status.phase ?? ''));
  const work = held.map((task) => shortName(spec.team, task.metadata.name)).join(', ');
  const facts = [status?.phase ?? 'Pending', status?.isolation?.driver ?? '', work === '' ? '' : `works on ${work}`];
  return `${shortName(spec.team, metadata.name)}: ${facts.filter((fact) => fact !== '').join(', ')}`;
}

function taskSection(team: Team, tasks: readonly Task[]): string {
  const { cards } = cardsOf([team, ...tasks], { namespace: team.metadata.namespace, team: team.metadata.name });
  const counts = COLUMNS.map((column) => `${cards.filter((card) => card.column === column).length} ${column}`);
  const open = cards.filter(({ column }) => column !== 'done');
  return section(`Tasks (${cards.length}): ${counts.join(', ')}`, open.map(taskLine), MOST_TASKS);
}

function taskLine(card: Card): string {
  const { task, column, owner, reason } = card;
  const facts = [column, owner, attemptOfCard(card) === '' ? '' : `attempt ${attemptOfCard(card)}`, reason];
  return `${task}: ${facts.filter((fact) => fact !== '').join(', ')}`;
}

function mergeLine({ metadata, spec, status }: Merge): string {
  const { phase = 'Pending', reason = '', waitsFor = '' } = status ?? {};
  const facts = [phase, reason, waitsFor].filter((fact) => fact !== '').map(toCell);
  return `${shortName(spec.team, metadata.name)}: ${facts.join(', ')}`;
}

function section(title: string, lines: readonly string[], most: number): string {
  if (lines.length === 0) return title;
  const rest = lines.length - most;
  const shown = [...lines.slice(0, most), ...(rest > 0 ? [`and ${rest} more`] : [])];
  return [title, ...shown.map((text) => text.replace(/^/gm, '  '))].join('\n');
}
