/** `agentiso://teams/{team}/board`: the Tasks of a team as Markdown, column by column. */
import { shortName, type Task, type Team } from '#api/types.ts';
import { attemptOfCard, type Card, COLUMNS, type Column, cardsOf } from '#client/board-cards.ts';
import { toCell } from '#lib/escape.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import { named, watched } from './changes.ts';
import { membersOf } from './find.ts';
import { teamTemplate, uriIn } from './place.ts';
import { teamPart } from './team-part.ts';

const TITLES: Readonly<Record<Column, string>> = {
  pending: 'Open',
  blocked: 'Blocked',
  working: 'In work',
  done: 'Done',
  failed: 'Failed',
};

export const boardResource = teamPart({
  below: '/board',
  name: 'board',
  title: 'Board of team',
  description:
    'The task board of a team as Markdown: open, blocked, in work, done and failed Tasks, with owner, attempt and the reason why one is not further.',
  mimeType: 'text/markdown',
  async read(team, { client }) {
    const { namespace, name } = team.metadata;
    const { items } = await client.list<Task>('Task', membersOf(namespace, name));
    return boardText(team, items);
  },
  sources: ({ metadata: { namespace, name } }) => [named('Team', namespace, name), watched('Task', membersOf(namespace, name))],
});

export function boardText(team: Team, tasks: readonly Task[]): string {
  const { name, namespace } = team.metadata;
  const { cards } = cardsOf([team, ...tasks], { namespace, team: name });
  const byName = new Map(tasks.map((task) => [shortName(name, task.metadata.name), task]));
  const counts = COLUMNS.map((column) => `${cards.filter((card) => card.column === column).length} ${TITLES[column].toLowerCase()}`);
  const sections = COLUMNS.flatMap((column) => {
    const inIt = cards.filter((card) => card.column === column);
    return inIt.length === 0 ? [] : [`## ${TITLES[column]} (${inIt.length})`, inIt.map((card) => line(card, byName, namespace)).join('\n')];
  });
  return `${[`# Board of ${name}`, `> ${QUOTED}`, cards.length === 0 ? 'No tasks yet.' : counts.join(', '), ...sections].join('\n\n')}\n`;
}

function line(card: Card, byName: ReadonlyMap<string, Task>, namespace: string): string {
  const { team, task, owner, since, reason, column } = card;
  const { title, priority, dependsOn = [] } = byName.get(task)?.spec ?? {};
  const facts = [
    `priority ${priority}`,
    ...(owner === '' ? [] : [`owner ${owner}`]),
    ...(card.attempt === 0 ? [] : [`attempt ${attemptOfCard(card)}`]),
    ...(dependsOn.length === 0 || column === 'done' ? [] : [`after ${dependsOn.map((each) => shortName(team, each)).join(', ')}`]),
    `since ${since}`,
  ];
  const uri = uriIn(teamTemplate('/tasks/{task}'), namespace, { team, task });
  return `- [${task}](${uri})${title ? `: ${toCell(title)}` : ''} (${facts.join('; ')})${reason === '' ? '' : `\n  ${reason}`}`;
}
