import { describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { conditionOf, newTask, newTeam } from '../../test/support/controllers.ts';
import { ONE, setUp } from './controller.fixture.ts';
import { deadlineOf, halfTimeOf, REQUESTED_ANNOTATION } from './request.ts';

const HELP = { namespace: 'default', team: 'a', description: 'Check the sum\nof all', context: 'it is 42', timeoutSeconds: 30 };
const REQUEST = { ...ONE, task: 'task-001' };

async function asked() {
  const world = setUp();
  for (const name of ['a-boss', 'a-w1', 'a-w2']) await world.readyAgent(name);
  const { requestId } = await world.book.request(world.as('a-boss'), HELP);
  const lookAgain = async () => {
    const result = await world.lookAt('a-task-001');
    await world.lookAt('a-task-001');
    return result;
  };
  const timer = await lookAgain();
  return { ...world, requestId, timer, lookAgain, request: () => world.task('a-task-001') };
}

describe('a request', () => {
  it('goes with the team whose agent asks, and is none of those that the team keeps by its list', async () => {
    const world = setUp();
    await world.readyAgent('a-boss');
    const { apiVersion, kind, metadata } = await world.client.create(newTeam('a', { roles: [{ name: 'boss' }] }));
    await world.book.request(world.as('a-boss'), HELP);
    expect(world.task('a-task-001')?.metadata.ownerReferences).toEqual([{ apiVersion, kind, name: 'a', uid: metadata.uid }]);
  });

  it('is open to everybody but whoever asks, and everybody hears of it once', async () => {
    const { requestId, request, timer, notices, book, as, lookAgain } = await asked();
    expect([requestId, timer]).toEqual(['task-001', { requeueAfterMs: 15_000 }]);
    expect(request()?.spec).toMatchObject({ title: 'Check the sum', prompt: 'Check the sum\nof all\n\nit is 42', request: { by: 'boss' } });
    await lookAgain();
    expect(notices.news()).toEqual(['request *: Check the sum']);
    expect([...notices.told.values()][0]).toMatchObject({
      except: 'boss',
      requestId: 'task-001',
      metadata: { task: 'task-001', from: 'boss' },
    });
    expect(book.openRequests('default', 'a', as('a-boss'), 10)).toEqual([]);
    expect(book.openRequests('default', 'a', as('a-w1'), 10)).toEqual([
      {
        request_id: 'task-001',
        title: 'Check the sum',
        description: 'Check the sum\nof all\n\nit is 42',
        from: 'boss',
        priority: 3,
        created_at: '2026-01-02T03:04:05Z',
        expires_at: '2026-01-02T03:04:35.000Z',
      },
    ]);
    await expect(book.claim(as('a-boss'), REQUEST)).rejects.toMatchObject({ code: 'Forbidden' });
  });

  it('is answered when it is claimed and when it is finished, and by no crash twice', async () => {
    const { notices, book, as, lookAgain, pass, newController, attempts, look, request, client } = await asked();
    notices.news();
    pass(10_000);
    expect(await book.claim(as('a-w1'), REQUEST)).toMatchObject({ claimed: true });
    await lookAgain();
    expect(notices.news()).toEqual(['response boss: claimed by w1']);
    await look(newController(attempts.restart()), client, 'a-task-001');
    expect(notices.news()).toEqual([]);
    pass(25_000);
    await lookAgain();
    expect(request()?.status?.phase).toBe('Claimed');
    await book.complete(as('a-w1'), REQUEST, { result: 'it is right' });
    await lookAgain();
    await look(newController(attempts.restart()), client, 'a-task-001');
    expect(notices.news()).toEqual(['response boss: it is right']);
    expect([...notices.told.values()].at(-1)).toMatchObject({ requestId: 'task-001', metadata: { status: 'completed' } });
    // Long after: the mailboxes have forgotten the key, and nobody says it again.
    notices.told.clear();
    pass(13 * 3_600_000);
    await look(newController(attempts.restart()), client, 'a-task-001');
    expect(notices.told.size).toBe(0);
  });

  it('is remembered to everybody half way, and expires on time', async () => {
    const { notices, lookAgain, pass, request, book, as } = await asked();
    notices.news();
    pass(14_999);
    expect(await lookAgain()).toEqual({ requeueAfterMs: 1 });
    expect(notices.news()).toEqual([]);
    pass(1);
    expect(await lookAgain()).toEqual({ requeueAfterMs: 15_000 });
    await lookAgain();
    expect(notices.news()).toEqual(['nudge *: Nobody has claimed request task-001 yet: Check the sum']);
    pass(15_000);
    await lookAgain();
    expect(request()?.status).toMatchObject({ phase: 'Failed', reason: 'RequestExpired' });
    expect(notices.news()).toEqual(['response boss: RequestExpired: nobody has claimed it within 30 s']);
    expect(await book.claim(as('a-w1'), REQUEST)).toEqual({ claimed: false, message: 'it is over: RequestExpired', task: 'task-001' });
  });

  it('that nobody may claim any more is refused even before the controller has looked', async () => {
    const { pass, book, as } = await asked();
    pass(30_000);
    await expect(book.claim(as('a-w1'), REQUEST)).resolves.toMatchObject({ claimed: false });
  });

  it('of nothing, or of too much, is refused', async () => {
    const { book, as } = await asked();
    await expect(book.request(as('a-boss'), { ...HELP, description: ' ' })).rejects.toMatchObject({ code: 'Invalid' });
    await expect(book.request(as('a-boss'), { ...HELP, description: 'x'.repeat(300_000) })).rejects.toMatchObject({ code: 'TooLarge' });
    expect(await book.request(as('a-boss'), { ...HELP, description: `${'x'.repeat(200_000)}\u0007` })).toEqual({ requestId: 'task-002' });
  });
});

it('a request written by hand lives by its creation time; one that lives for a second has the whole of it', async () => {
  const { client } = setUp();
  const made = await client.create<Task>(newTask('a-one', { prompt: 'x', request: { by: 'boss', timeoutSeconds: 1 } }));
  const createdMs = Date.parse('2026-01-02T03:04:05Z');
  expect([deadlineOf(made), halfTimeOf(made)]).toEqual([createdMs + 1_000, createdMs + 500]);
  const at = (said: string) => deadlineOf({ ...made, metadata: { ...made.metadata, annotations: { [REQUESTED_ANNOTATION]: said } } });
  expect(at('2026-01-02T03:04:05.900Z')).toBe(createdMs + 1_900);
  expect(at('2036-01-02T03:04:05.900Z')).toBe(createdMs + 1_000);
  expect(conditionOf(made, 'Ready')).toBeUndefined();
});
