/** `agentiso board`: the tasks of a team, or of all, in columns by how far they are. */
import type { KindObject } from '#api/meta.ts';
import { type Card, type Cards, COLUMNS, cardsOf } from '#client/board-cards.ts';
import { systemClock } from '#lib/clock.ts';
import { NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import { apiCommand, type Session } from '../api-command.ts';
import { followBoard, listBoard } from '../board/follow.ts';
import { boardTable } from '../board/table.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { toJson } from '../print/json.ts';

export const boardCommand = apiCommand({
  name: 'board',
  args: '[team]',
  summary: 'show the task board of a team, or of all',
  description:
    'Shows tasks in columns: pending, blocked, working, done, failed. On a terminal it is drawn anew whenever something changes, until q or Ctrl-C; --watch=false shows it once. In a pipe it is a table; the age is that of the task, of its attempt when it is working, and of its end when it is over.',
  options: [
    { flags: '-o, --output <format>', description: 'json', choices: ['json'] },
    { flags: '-w, --watch', description: 'then show every change (auto: on a terminal)' },
    { flags: '--no-headers', description: 'without the line of headers' },
  ],
  async run([team], options, session) {
    const objects = await listBoard(session);
    checkTeam(team, objects, session.namespace);
    const selection = { namespace: session.namespace, team };
    const isLive = session.environment?.isTerminal === true && options['watch'] !== false && options['output'] !== 'json';
    if (isLive) return showLive(session, selection);
    const board = cardsOf(objects, selection);
    if (options['watch'] === true) return showChanges(session, selection, options);
    if (options['output'] === 'json') session.out(toJson(asJson(board)));
    else if (board.cards.length > 0) session.out(boardTable(tableOptions(team, options))(board.cards, new Date()));
    else session.err(`No tasks found in ${session.namespace} namespace.\n`);
    return EXIT.ok;
  },
});

interface Selection {
  readonly namespace: string;
  readonly team: string | undefined;
}

function checkTeam(team: string | undefined, objects: readonly KindObject[], namespace: string): void {
  const { teams, cards } = cardsOf(objects, { namespace });
  const names = [...new Set([...teams.map(({ name }) => name), ...cards.map((card) => card.team)])];
  if (team === undefined || names.includes(team)) return;
  const meant = nearest(team, names);
  throw new NotFoundError(`there is no team ${team} in the namespace ${namespace}${meant ? `; did you mean ${meant}?` : ''}`);
}

function tableOptions(team: string | undefined, options: OptionValues) {
  return { withTeam: team === undefined, withHeaders: options['headers'] !== false };
}

function asJson({ namespace, teams, cards }: Cards) {
  const columns = COLUMNS.map((column) => [column, cards.filter((card) => card.column === column)] as const);
  return { namespace, teams, columns: Object.fromEntries(columns) };
}

async function showLive(session: Session, selection: Selection): Promise<number> {
  const { out, environment, connection, namespace } = session;
  const [{ liveBoard }, { standardTerminal }, { onLeave }, { standardStreams }] = await Promise.all([
    import('../board/live.ts'),
    import('../live/terminal.ts'),
    import('../board/keys.ts'),
    import('../streams/standard.ts'),
  ]);
  const left = new AbortController();
  const signal = AbortSignal.any([session.signal, left.signal]);
  const live = liveBoard({ out, terminal: standardTerminal, clock: systemClock, hasColour: environment?.hasColour === true });
  const giveBack = onLeave(standardStreams(), () => left.abort());
  try {
    await followBoard({ connection, namespace, signal }, (objects) => live.show(cardsOf(objects, selection)));
  } finally {
    giveBack();
    live.close();
  }
  return EXIT.ok;
}

/** A row for each card that is not as it was. */
async function showChanges(session: Session, selection: Selection, options: OptionValues): Promise<number> {
  const print = boardTable(tableOptions(selection.team, options));
  const isJson = options['output'] === 'json';
  let known = new Map<string, string>();
  await followBoard(session, (objects) => {
    const { cards } = cardsOf(objects, selection);
    const now = new Map(cards.map((card) => [idOf(card), JSON.stringify(card)]));
    const changed = cards.filter((card) => known.get(idOf(card)) !== now.get(idOf(card)));
    known = now;
    if (changed.length === 0) return;
    session.out(isJson ? changed.map((card) => `${JSON.stringify(card)}\n`).join('') : print(changed, new Date()));
  });
  return EXIT.ok;
}

function idOf({ team, task }: Card): string {
  return `${team}/${task}`;
}
