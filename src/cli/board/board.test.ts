import { describe, expect, it } from 'vitest';
import { cardsOf } from '#client/board-cards.ts';
import type { JsonObject } from '#lib/json.ts';
import { taskOf, teamNamed } from '../live/board.fixture.ts';
import { widthOf } from '../live/width.ts';
import { renderCards } from './render.ts';
import { boardTable } from './table.ts';

const now = new Date('2026-01-02T03:04:05Z');
const ready = (message: string) => ({ conditions: [{ type: 'Ready', status: 'False', reason: 'R', message }] });
const task = (name: string, status: JsonObject) => taskOf('a', name, status);

const OBJECTS = [
  teamNamed('a', { phase: 'Working' }),
  task('wait', { phase: 'Pending', reason: 'AgentNotReady', ...ready('no suitable agent is ready: a-dev') }),
  task('new', {}),
  task('dep', { phase: 'Blocked', reason: 'DependenciesPending', ...ready('waits for wait') }),
  task('run', { phase: 'Running', owner: 'a-dev', attempt: 2, failures: 1, startedAt: '2026-01-02T03:04:00Z' }),
  task('cut', { phase: 'Claimed', owner: 'a-dev', attempt: 5, failures: 1 }),
  task('old', { phase: 'Succeeded', owner: 'a-dev', attempt: 1, finishedAt: '2026-01-02T03:03:00Z' }),
  task('young', { phase: 'Succeeded', owner: 'a-dev', attempt: 1, finishedAt: '2026-01-02T03:04:00Z' }),
  task('bad', {
    phase: 'Failed',
    owner: 'a-dev',
    attempt: 3,
    failures: 3,
    reason: 'MaxAttempts',
    finishedAt: '2026-01-02T03:04:00Z',
    ...ready('exited with\n7'),
  }),
];

describe('cardsOf', () => {
  it('puts each task into its column, with owner, attempt, age and reason', () => {
    const { cards } = cardsOf(OBJECTS, {});
    expect(boardTable({ withTeam: false, withHeaders: true })(cards, now)).toBe(
      [
        'COLUMN    TASK    OWNER   ATTEMPT   AGE    REASON',
        'pending   new                       4m5s   ',
        'pending   wait                      4m5s   AgentNotReady: no suitable agent is ready: a-dev',
        'blocked   dep                       4m5s   DependenciesPending: waits for wait',
        'working   cut     dev     5/6       4m5s   ',
        'working   run     dev     2/3       5s     ',
        'done      young   dev     1/3       5s     ',
        'done      old     dev     1/3       65s    ',
        'failed    bad     dev     3/3       5s     MaxAttempts: exited with...',
        '',
      ].join('\n'),
    );
  });

  it('shows one team or all', () => {
    const objects = [...OBJECTS, teamNamed('b'), taskOf('b', 'x')];
    expect(cardsOf(objects, { team: 'b' })).toMatchObject({ teams: [{ name: 'b' }], cards: [{ team: 'b', task: 'x' }] });
    expect(boardTable({ withTeam: true, withHeaders: false })(cardsOf(objects, { team: 'b' }).cards, now)).toBe(
      'b     pending   x                 4m5s   \n',
    );
  });
});

describe('renderCards', () => {
  const plain = { columns: 100, rows: 24, now, hasColour: false };

  it('shows columns side by side', () => {
    const text = renderCards(cardsOf(OBJECTS, {}), plain).join('\n');
    expect(text).toMatch(/^team a Working: 2 of 8 tasks done\nPENDING 2 +BLOCKED 1 +WORKING 2 +DONE 2 +FAILED 1/);
    expect(text).toMatch(/\nnew +dep +cut +young +bad\n/);
    expect(text).toMatch(/\n {2}4m5s +4m5s +dev 5\/6 4m5s +dev 1\/3 5s +dev 3\/3 5s\n/);
    expect(text.endsWith('\nq leaves')).toBe(true);
  });

  it('shows a line per task where there is no room for columns', () => {
    expect(renderCards(cardsOf(OBJECTS, { team: 'a' }), { ...plain, columns: 40 })).toEqual([
      'team a Working: 2 of 8 tasks done',
      'pending  new    4m5s',
      'pending  wait   4m5s AgentNotReady: no…',
      'blocked  dep    4m5s DependenciesPendi…',
      'working  cut    dev 5/6 4m5s',
      'working  run    dev 2/3 5s',
      'done     young  dev 1/3 5s',
      'done     old    dev 1/3 65s',
      'failed   bad    dev 3/3 5s MaxAttempts…',
      'q leaves',
    ]);
  });

  const many = [
    teamNamed('a'),
    teamNamed('b'),
    ...Array.from({ length: 500 }, (_, at) => task(`t${at}`, { phase: at % 2 ? 'Blocked' : 'Succeeded' })),
  ];
  it.each([
    [1, 2],
    [2, 5],
    [20, 3],
    [40, 10],
    [80, 24],
    [81, 4],
    [120, 40],
    [300, 24],
  ])('never fills %i columns or %i rows', (columns, rows) => {
    for (const objects of [OBJECTS, many]) {
      const lines = renderCards(cardsOf(objects, {}), { ...plain, columns, rows });
      expect(lines.length).toBeLessThan(rows);
      for (const line of lines) expect(widthOf(line)).toBeLessThan(Math.max(columns, 2));
    }
  });

  it('says how many do not fit, and of which team each is', () => {
    const text = renderCards(cardsOf(many, {}), plain).join('\n');
    expect(text).toMatch(/^2 teams in default: 250 of 500 tasks done\n/);
    expect(text).toContain('+ 24');
    expect(text).toContain('a/t1 ');
  });

  it('paints only the titles of columns', () => {
    const [, head = '', first = ''] = renderCards(cardsOf(OBJECTS, {}), { ...plain, hasColour: true });
    expect(head).toContain('\u001b[31mFAILED 1');
    expect(first).not.toContain('\u001b');
  });
});
