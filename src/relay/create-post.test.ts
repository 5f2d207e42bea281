/** Who reaches whom, with real mail on disk. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { newTask } from '../../test/support/controllers.ts';
import { OPERATOR_OF, relayWorld } from './relay.fixture.ts';

const code = (wanted: string) => expect.objectContaining({ code: wanted });

it('takes mail for a team mate by either name; the sender and its run are who asks', async () => {
  const { send, inbox, mailbox, hints, ownerOf } = await relayWorld();
  await send('a/coder', { to: 'tester', content: 'one' });
  await send('a/coder', { to: 'a-tester', content: 'two', team: 'a-b', namespace: 'other' });
  expect(await inbox('a/tester')).toEqual(['coder -> tester text: one', 'coder -> tester text: two']);
  const [first] = (await mailbox('a/tester')).read({ after: 0, limit: 1 });
  expect(first).toMatchObject({ namespace: 'default', team: 'a', from_incarnation: 'run-of-a/coder' });
  expect(hints).toEqual([
    [ownerOf('a/tester'), 2],
    [ownerOf('a/tester'), 3],
  ]);
});

it('takes several letters of one sender in their order; one that is refused keeps no other back', async () => {
  const { post, as, inbox, mail, metrics, ownerOf } = await relayWorld();
  await mail.open(ownerOf('a/tester'));
  const letter = (to: string, content: string, more: object = {}) => ({ namespace: 'default', team: 'a', to, content, ...more });
  // Plain ones, and some that have to be looked at more closely: their order is that of the list all the same.
  const letters = [
    letter('tester', 'one'),
    letter('nobody', 'two'),
    letter('tester', 'three'),
    letter('tester', 'four', { type: 'request', requestId: 'r' }),
    letter('tester', 'five'),
    letter('tester', 'x'.repeat(300 * 1024)),
    letter('lead', 'seven'),
  ];
  const posted = await post.sendAll(as('a/coder'), letters);
  const refusals = posted.map((each) => ('error' in each ? (each.error as { code: string }).code : 'accepted'));
  expect(refusals).toEqual(['accepted', 'NotFound', 'accepted', 'accepted', 'accepted', 'TooLarge', 'accepted']);
  expect(await inbox('a/tester')).toEqual([
    'coder -> tester text: one',
    'coder -> tester text: three',
    'coder -> tester request: four',
    'coder -> tester text: five',
  ]);
  expect(await inbox('a/lead')).toEqual(['coder -> lead text: seven']);
  expect(metrics.render()).toContain('agentiso_messages_rejected_total{reason="TooLarge"} 1');
  expect(await post.sendAll(as('a/coder'), [])).toEqual([]);
});

it('of more letters than an inbox holds, those are refused that are over it', async () => {
  const { post, as, inbox, mail, ownerOf } = await relayWorld();
  await mail.open(ownerOf('a/tester'));
  const letters = Array.from({ length: 105 }, (_, at) => ({ namespace: 'default', team: 'a', to: 'tester', content: `${at}` }));
  const posted = await post.sendAll(as('a/coder'), letters);
  const refused = posted.flatMap((each, at) => ('error' in each ? [[at, (each.error as { code: string }).code]] : []));
  expect(refused).toEqual([100, 101, 102, 103, 104].map((at) => [at, 'InboxFull']));
  expect(await inbox('a/tester')).toHaveLength(100);
});

it('takes no letters at all of a run that is over', async () => {
  const { post, as, inbox } = await relayWorld();
  const former = { ...as('a/coder'), incarnation: 'former' } as ReturnType<typeof as>;
  const letters = [{ namespace: 'default', team: 'a', to: 'tester', content: 'x' }];
  await expect(post.sendAll(former, letters)).rejects.toEqual(code('FenceLost'));
  expect(await inbox('a/tester')).toEqual([]);
});

it('never mixes agents of the same name in teams whose names begin alike', async () => {
  const { send, inbox } = await relayWorld();
  await send('a/lead', { to: 'coder', content: 'for a' });
  await send('a-b/lead', { to: 'coder', content: 'for a-b' });
  expect([await inbox('a/coder'), await inbox('a-b/coder'), await inbox('child/coder')]).toEqual([
    ['lead -> coder text: for a'],
    ['lead -> coder text: for a-b'],
    [],
  ]);
});

it('lets a team and its direct sub-team talk, and sisters and strangers not', async () => {
  const { send, inbox } = await relayWorld();
  await send('a/coder', { to: 'child/coder', content: 'down' });
  await send('child/coder', { to: 'a/coder', content: 'up' });
  await send('child/coder', { to: 'a/lead', content: 'to the lead' });
  expect(await inbox('child/coder')).toEqual(['a/coder -> coder text: down']);
  expect(await inbox('a/coder')).toEqual(['child/coder -> coder text: up']);
  expect(await inbox('a/lead')).toEqual(['child/coder -> lead text: to the lead']);
  for (const to of ['twin/coder', 'a-b/coder', 'twin/lead', 'nowhere/coder']) {
    await expect(send('child/coder', { to }), to).rejects.toEqual(code('Forbidden'));
  }
  await expect(send('a/coder', { to: 'child/*' })).rejects.toEqual(code('Invalid'));
});

it.each(['nobody', 'b-coder', 'child/nobody', '', 'a/'])('knows no agent %j', async (to) => {
  const { send } = await relayWorld();
  await expect(send('a/coder', { to })).rejects.toEqual(code('NotFound'));
});

it('takes `lead` for the agent of that name, or for the people where there is none or the lead itself writes', async () => {
  const { send, inbox, write } = await relayWorld();
  await send('a/coder', { to: 'lead', content: 'one' });
  await send('child/coder', { to: 'lead', content: 'two' });
  await send('a/lead', { to: 'lead', content: 'three' });
  await send('a/coder', { to: 'orchestrator', content: 'four' });
  await write('lead', { content: 'five' });
  expect(await inbox('a/lead')).toEqual(['coder -> lead text: one', 'orchestrator -> lead text: five']);
  expect(await inbox('child/orchestrator')).toEqual(['coder -> lead text: two']);
  expect(await inbox('a/orchestrator')).toEqual(['lead -> lead text: three', 'coder -> orchestrator text: four']);
});

it('refuses mail in another name, but for what a peer handed in to the agent itself, and says who handed it on', async () => {
  const { send, mailbox } = await relayWorld();
  await expect(send('a/coder', { to: 'tester', from: 'lead' })).rejects.toEqual(code('Forbidden'));
  await expect(send('a/coder', { to: '*', from: 'lead' })).rejects.toEqual(code('Forbidden'));
  await expect(send('a/coder', { to: 'coder', from: 'a-b/lead' })).rejects.toEqual(code('Forbidden'));
  await expect(send('a/coder', { to: 'coder', from: 'lead', type: 'shutdown_request' })).rejects.toEqual(code('Forbidden'));
  await send('a/coder', { to: 'coder', from: 'lead' });
  await send('a/lead', { to: 'lead', from: 'coder' });
  expect((await mailbox('a/coder')).read({ after: 0, limit: 9 })).toMatchObject([{ from: 'lead', metadata: { relayed_by: 'coder' } }]);
  expect((await mailbox('a/lead')).read({ after: 0, limit: 9 })).toMatchObject([{ from: 'coder', metadata: { relayed_by: 'lead' } }]);
});

it('hears no agent that is gone, and no run that is over', async () => {
  const { post, as, agent, client, runs, ownerOf } = await relayWorld();
  const letter = { namespace: 'default', team: 'a', to: 'tester', content: 'x' };
  const former = { kind: 'agent', agent: agent('a/coder'), incarnation: 'an-older-run' } as const;
  await expect(post.send(former, letter)).rejects.toEqual(code('FenceLost'));
  runs.set(ownerOf('a/coder'), 'the-next-run');
  await expect(post.send(as('a/coder'), letter)).rejects.toEqual(code('FenceLost'));
  const gone = as('a/lead');
  await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-lead' });
  await expect(post.send(gone, letter)).rejects.toEqual(code('FenceLost'));
  await expect(post.read(gone, { namespace: 'default', limit: 1 })).rejects.toEqual(code('FenceLost'));
});

it('gives a broadcast one id and each copy its own number, to everybody but the sender', async () => {
  const { send, write, mailbox, inbox } = await relayWorld();
  await write('coder');
  const { messageId, accepted, failed, delivered } = await send('a/lead', { to: '*', content: 'all' });
  expect([accepted, failed, delivered]).toEqual([['coder', 'tester'], [], false]);
  const copies = await Promise.all(['a/coder', 'a/tester'].map(async (name) => (await mailbox(name)).read({ after: 0, limit: 9 }).at(-1)));
  expect(copies.map((copy) => [copy?.message_id, copy?.to, copy?.message_type, copy?.seq])).toEqual([
    [messageId, '*', 'broadcast', 2],
    [messageId, '*', 'broadcast', 1],
  ]);
  expect([await inbox('a/lead'), await inbox('a-b/coder'), await inbox('child/coder')]).toEqual([[], [], []]);
});

it('accepts a broadcast in a team of one, for nobody', async () => {
  const { addTeam, addAgent, send } = await relayWorld();
  await addTeam('solo', { messaging: { broadcast: 'Any' } });
  await addAgent('solo', 'worker');
  expect(await send('solo/worker', { to: '*' })).toMatchObject({ accepted: [], failed: [], messageId: expect.any(String) });
});

it('says which copies of a broadcast were not taken, and fails when none was', async () => {
  const { write, send } = await relayWorld();
  for (let i = 0; i < 100; i++) await write('coder', { content: `${i}` });
  const full = { agent: 'coder', code: 'InboxFull', message: expect.stringContaining('full') };
  expect(await send('a/lead', { to: '*' })).toMatchObject({ accepted: ['tester'], failed: [full] });
  for (let i = 0; i < 100; i++) await write('tester', { content: `${i}` }).catch(() => {});
  await expect(send('a/lead', { to: '*' })).rejects.toMatchObject({
    code: 'InboxFull',
    message: expect.stringContaining('tester InboxFull'),
  });
});

it('asks the policy of the team and of its parents who may write to everybody', async () => {
  const { send, setMessaging, write, client, team } = await relayWorld();
  await expect(send('a/coder', { to: '*' })).rejects.toEqual(code('Forbidden'));
  await expect(send('a/coder', { to: '*', type: 'status_update' })).rejects.toEqual(code('Forbidden'));
  expect(await write('*')).toMatchObject({ accepted: ['coder', 'lead', 'tester'] });
  await setMessaging('a', { broadcast: 'Any' });
  await setMessaging('child', { broadcast: 'Any' });
  expect(await send('a/coder', { to: '*' })).toMatchObject({ accepted: ['lead', 'tester'] });
  expect(await send('child/coder', { to: '*' })).toMatchObject({ accepted: ['tester'] });
  await client.update({ ...team('a'), spec: { ...team('a').spec, messaging: { enabled: true, broadcast: 'Lead' } } });
  await expect(send('child/coder', { to: '*' })).rejects.toEqual(code('Forbidden'));
});

it('is silent in a team that is turned off, below it and towards it; the system still speaks', async () => {
  const { send, write, setMessaging, relay, inbox } = await relayWorld();
  await setMessaging('a', { enabled: false });
  const off = { code: 'Unavailable', message: expect.stringContaining('team a') };
  await expect(send('a/coder', { to: 'lead' })).rejects.toMatchObject(off);
  await expect(write('coder')).rejects.toMatchObject(off);
  await expect(send('child/coder', { to: 'tester' })).rejects.toMatchObject({ code: 'Unavailable' });
  await send('a-b/coder', { to: 'lead' });
  await relay.notices.tell({ namespace: 'default', team: 'a', to: 'coder', type: 'text', content: 'all the same', key: 'k' });
  expect(await inbox('a/coder')).toEqual(['system -> coder text: all the same']);
});

it('takes a nudge for an own open request whatever the policy, and for no other', async () => {
  const { send, client, inbox } = await relayWorld();
  const task = await client.create<Task>(newTask('a-help', { prompt: 'help', request: { by: 'coder', timeoutSeconds: 60 } }));
  const nudge = { to: '*', type: 'nudge' as const, requestId: 'help' };
  expect(await send('a/coder', nudge)).toMatchObject({ accepted: ['lead', 'tester'] });
  expect(await inbox('a/tester')).toEqual(['coder -> * nudge: x']);
  await expect(send('a/tester', nudge)).rejects.toEqual(code('Forbidden'));
  await expect(send('a/coder', { ...nudge, requestId: 'other' })).rejects.toEqual(code('NotFound'));
  await expect(send('a/coder', { to: '*', type: 'nudge' })).rejects.toEqual(code('Forbidden'));
  await client.updateStatus<Task>({ ...task, status: { phase: 'Claimed' } });
  await expect(send('a/coder', nudge)).rejects.toEqual(code('Conflict'));
});

it('knows what is replied to from the own inbox or the other one, and nothing else', async () => {
  const { send, write, mailbox } = await relayWorld();
  const { messageId } = await send('a/coder', { to: 'tester' });
  await send('a/tester', { to: 'coder', replyTo: messageId });
  await send('a/coder', { to: 'tester', replyTo: messageId });
  const { messageId: question } = await send('a/coder', { to: 'orchestrator' });
  await write('coder', { replyTo: question });
  await write('*', { replyTo: question });
  await expect(write('coder', { team: 'a-b', replyTo: question })).rejects.toEqual(code('NotFound'));
  await expect(send('a/coder', { to: 'lead', replyTo: messageId })).rejects.toEqual(code('NotFound'));
  await expect(send('a/tester', { to: 'coder', replyTo: 'no-such-id' })).rejects.toEqual(code('NotFound'));
  expect((await mailbox('a/coder')).read({ after: 0, limit: 9 }).map(({ reply_to }) => reply_to)).toEqual([messageId, question, question]);
});

it('refuses the 101st unacked message, keeps the hundred, and takes the next after one ack', async () => {
  const { send, mailbox } = await relayWorld();
  const sends = await Promise.allSettled(Array.from({ length: 105 }, (_, i) => send('a/coder', { to: 'tester', content: `msg-${i}` })));
  const refused = sends.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused.map((error) => [error.code, error.retryAfterMs])).toEqual(Array(5).fill(['InboxFull', 1_000]));
  const inbox = await mailbox('a/tester');
  const kept = inbox.read({ after: 0, limit: 1_000 });
  expect(kept.map(({ content }) => content)).toEqual(Array.from({ length: 100 }, (_, i) => `msg-${i}`));
  await inbox.ack([kept[0]?.message_id ?? '']);
  await send('a/coder', { to: 'tester' });
  await expect(send('a/coder', { to: 'tester' })).rejects.toEqual(code('InboxFull'));
});

it('keeps the messages of one sender in order, however different the looks at them are', async () => {
  const { send, inbox } = await relayWorld();
  const { messageId } = await send('a/coder', { to: 'tester', content: '0' });
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      send('a/lead', { to: i % 3 === 0 ? '*' : 'tester', content: `${i + 1}`, ...(i % 5 === 1 && { replyTo: messageId }) }),
    ),
  );
  expect((await inbox('a/tester')).map((line) => line.split(': ')[1])).toEqual(Array.from({ length: 31 }, (_, i) => `${i}`));
});

it('is on disk under the true sender before it is answered', async () => {
  const { send, ownerOf, folder } = await relayWorld();
  const { messageId } = await send('a/coder', { to: 'tester', metadata: { from: 'lead' } });
  const line = JSON.parse(readFileSync(join(folder, 'mail', `${ownerOf('a/tester')}.jsonl`), 'utf8'));
  expect(line.message).toMatchObject({ message_id: messageId, from: 'coder' });
});

it('refuses what is too large or empty', async () => {
  const { send } = await relayWorld();
  await expect(send('a/coder', { to: 'tester', content: 'x'.repeat(262_145) })).rejects.toEqual(code('TooLarge'));
  await expect(send('a/lead', { to: '*', content: 'x'.repeat(262_145) })).rejects.toEqual(code('TooLarge'));
  await expect(send('a/coder', { to: 'tester', content: '' })).rejects.toEqual(code('Invalid'));
});

it('never keeps an agent from asking people for help: old news give way, at ten thousand', { timeout: 60_000 }, async () => {
  const { send, mailbox, relay } = await relayWorld();
  const people = await mailbox('a/orchestrator');
  const draft = { namespace: 'default', team: 'a', from: 'coder', to: 'orchestrator', content: 'x' };
  const types = ['text', 'status_update', 'text'] as const;
  const limit = { maxUnacked: 10_000 };
  await Promise.all(Array.from({ length: 10_000 }, (_, i) => people.append({ ...draft, message_type: types[i] ?? 'text' }, limit)));
  await send('a/coder', { to: 'orchestrator', content: 'help' });
  expect(people.state).toMatchObject({ unacked: 10_000, deadLetters: 1 });
  const read = await relay.post.read(OPERATOR_OF, { namespace: 'default', team: 'a', inbox: 'orchestrator', limit: 1 });
  expect(read).toMatchObject([{ message: { content: 'help' }, state: 'Accepted', inbox: 'a/orchestrator' }]);
  await expect(send('a/coder', { to: 'orchestrator' })).rejects.toEqual(code('InboxFull'));
});

it('brings the message along with the hint', async () => {
  const { send, mailbox, carried } = await relayWorld();
  await send('a/coder', { to: 'tester', content: 'one' });
  expect(carried).toEqual((await mailbox('a/tester')).read({ after: 0, limit: 10 }));
});

it('looks for no lead that nobody has written to', async () => {
  const { client, send, inbox } = await relayWorld();
  const looked = vi.spyOn(client, 'get');
  await send('child/coder', { to: 'tester', content: 'one' });
  expect(looked.mock.calls.map(([{ name }]) => name)).not.toContain('child-lead');
  await send('child/coder', { to: 'lead', type: 'status_update', content: 'two' });
  expect(await inbox('child/orchestrator')).toEqual(['coder -> lead status_update: two']);
  expect(await inbox('child/tester')).toEqual(['coder -> tester text: one']);
});
