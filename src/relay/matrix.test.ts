/** The whole table of who may say what to whom. */
import { expect, it } from 'vitest';
import { AgentisoError } from '#lib/errors.ts';
import { MESSAGE_TYPES, type MessageType } from '#protocol/relay.ts';
import { refuseSaying, type Saying } from './matrix.ts';

type Target = 'agent' | 'lead' | 'people' | 'everybody';
const SPEAKERS = ['agent', 'lead', 'operator', 'system'] as const;
const TARGETS: readonly Target[] = ['agent', 'lead', 'people', 'everybody'];

function answer(type: MessageType, by: Saying['by'], target: Target, isWithinTeam = true): string {
  const to = target === 'lead' ? 'agent' : target;
  try {
    refuseSaying({ type, by, to, isToLead: target === 'lead', isWithinTeam });
    return 'ok';
  } catch (error) {
    expect(error).toBeInstanceOf(AgentisoError);
    expect((error as AgentisoError).hint).not.toBe('');
    return (error as AgentisoError).code;
  }
}

/** Per speaker: to an agent, the lead, people, everybody. */
const EVERYWHERE = ['ok ok ok ok', 'ok ok ok ok', 'ok ok ok ok', 'ok ok ok ok'];
const NOT_TO_EVERYBODY = Array(4).fill('ok ok ok Invalid');
const BY_AGENTS_TO_LEAD = [
  'Invalid ok Invalid Invalid',
  'Invalid ok Invalid Invalid',
  'Forbidden Forbidden Forbidden Invalid',
  'Forbidden Forbidden Forbidden Invalid',
];
const TABLE: Readonly<Record<MessageType, readonly string[]>> = {
  text: NOT_TO_EVERYBODY,
  task_update: NOT_TO_EVERYBODY,
  request: EVERYWHERE,
  response: NOT_TO_EVERYBODY,
  nudge: EVERYWHERE,
  broadcast: Array(4).fill('Invalid Invalid Invalid ok'),
  status_update: [
    'Invalid ok Invalid ok',
    'Invalid ok Invalid ok',
    'Forbidden Forbidden Forbidden Forbidden',
    'Forbidden Forbidden Forbidden Forbidden',
  ],
  shutdown_request: ['Forbidden Forbidden Forbidden Forbidden', ...Array(3).fill('ok ok Invalid ok')],
  shutdown_response: BY_AGENTS_TO_LEAD,
  plan_submission: BY_AGENTS_TO_LEAD,
  plan_approval: ['Forbidden Forbidden Forbidden Invalid', ...Array(3).fill('ok ok Invalid Invalid')],
  task_assignment: [...Array(3).fill('Forbidden Forbidden Forbidden Invalid'), 'ok ok ok Invalid'],
};

it.each(MESSAGE_TYPES)('%s', (type) => {
  const found = SPEAKERS.map((by) => TARGETS.map((target) => answer(type, by, target)).join(' '));
  expect(found).toEqual(TABLE[type]);
});

it('keeps orders within the team', () => {
  expect(answer('shutdown_request', 'lead', 'agent', false)).toBe('Forbidden');
  expect(answer('plan_approval', 'lead', 'lead', false)).toBe('Forbidden');
  expect(answer('text', 'agent', 'agent', false)).toBe('ok');
});
