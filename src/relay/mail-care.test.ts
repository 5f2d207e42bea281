/** What happens to mail over time: notices that are said twice, letters that die, mailboxes whose owners are gone, what is counted. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { removeTeamMail } from './mail-sweep.ts';
import { relayWorld } from './relay.fixture.ts';

const HOUR_MS = 60 * 60 * 1_000;
const notice = { namespace: 'default', team: 'a', type: 'task_update' as const, content: 'plan?', key: 'k' };

it('says a notice once, however often it is said, also to somebody who comes later', async () => {
  const { relay, inbox, hints, addAgent } = await relayWorld();
  for (let i = 0; i < 3; i++) await relay.notices.tell({ ...notice, to: '*', except: 'lead' });
  expect(hints).toHaveLength(2);
  await addAgent('a', 'late');
  await relay.notices.tell({ ...notice, to: '*', except: 'lead' });
  for (const name of ['a/coder', 'a/tester', 'a/late']) expect(await inbox(name)).toEqual(['system -> * task_update: plan?']);
  expect([await inbox('a/lead'), await inbox('a-b/coder')]).toEqual([[], []]);
});

it('tells nobody in vain: no agent of that name, a full inbox, a text that is too long', async () => {
  const { relay, write, inbox } = await relayWorld();
  await relay.notices.tell({ ...notice, to: 'nobody' });
  await relay.notices.tell({ ...notice, team: 'nowhere', to: 'lead' });
  await relay.notices.tell({ ...notice, to: 'coder', content: 'x'.repeat(300_000) });
  for (let i = 0; i < 100; i++) await write('coder', { content: `${i}` });
  await relay.notices.tell({ ...notice, to: 'coder' });
  expect(await inbox('a/coder')).toHaveLength(100);
});

it('rejects when the disk does not take a notice', async () => {
  const { relay, mail } = await relayWorld();
  await mail.close();
  await expect(relay.notices.tell({ ...notice, to: 'coder' })).rejects.toMatchObject({ code: 'Unavailable' });
});

it('takes a notice back that nobody has acknowledged', async () => {
  const { relay, inbox } = await relayWorld();
  await relay.notices.tell({ ...notice, to: 'coder' });
  await relay.notices.withdraw({ ...notice, to: 'coder' });
  await relay.notices.withdraw({ ...notice, to: 'coder' });
  expect(await inbox('a/coder')).toEqual([]);
});

it('gives up what nobody has seen for a day, with an Event and word to the sender', async () => {
  const { send, mail, pass, warnings, inbox, mailbox, relay } = await relayWorld();
  const { messageId } = await send('child/coder', { to: 'a/coder', content: 'hello?', requestId: 'r' });
  await send('a/coder', { to: 'orchestrator', content: 'help' });
  await relay.notices.tell({ ...notice, to: 'coder' });
  pass(24 * HOUR_MS);
  await mail.sweep();
  await vi.waitFor(async () => expect(await inbox('child/coder')).toHaveLength(1));
  expect((await mailbox('child/coder')).read({ after: 0, limit: 9 })).toMatchObject([
    {
      from: 'system',
      message_type: 'response',
      reply_to: messageId,
      request_id: 'r',
      metadata: { state: 'DeadLetter', reason: 'Unacked' },
    },
  ]);
  await vi.waitFor(async () => expect(await inbox('a/coder')).toEqual([expect.stringContaining('your text to orchestrator was given up')]));
  expect(warnings).toEqual([
    'Agent a-coder DeadLetter: a text from child/coder was given up: nobody acknowledged it for 24 hours',
    'Agent a-coder DeadLetter: a task_update from system was given up: nobody acknowledged it for 24 hours',
    'Team a DeadLetter: a text from coder was given up: nobody acknowledged it for 24 hours',
  ]);
});

it('tells the senders when a recipient goes, and itself when it is the sender only if it stays', async () => {
  const { send, mail, client, ownerOf, inbox, agent, mailbox } = await relayWorld();
  await send('a/lead', { to: 'coder', content: 'one' });
  await send('a/coder', { to: 'coder', content: 'to myself' });
  const owner = ownerOf('a/coder');
  await client.update({ ...agent('a/coder'), metadata: { ...agent('a/coder').metadata, finalizers: ['x/y'] } });
  await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-coder' });
  await mail.remove(owner);
  await vi.waitFor(async () => expect(await inbox('a/lead')).toHaveLength(1));
  expect((await mailbox('a/lead')).read({ after: 0, limit: 9 })).toMatchObject([{ metadata: { reason: 'RecipientGone' } }]);
  expect(await mail.owners()).not.toContain(owner);
});

it('removes mailboxes whose owner is gone, and only those: a team whose name begins alike keeps every byte', async () => {
  const { send, relay, client, mail, folder, ownerOf, team } = await relayWorld();
  await send('a/coder', { to: 'orchestrator', content: 'for a' });
  await send('a-b/coder', { to: 'orchestrator', content: 'for a-b' });
  await send('a-b/coder', { to: 'lead', content: 'for the lead of a-b' });
  const [ofA, ofAB, leadOfAB] = ['a/orchestrator', 'a-b/orchestrator', 'a-b/lead'].map(ownerOf) as [string, string, string];
  const bytes = (owner: string) => readFileSync(join(folder, 'mail', `${owner}.jsonl`), 'utf8');
  const before = [bytes(ofAB), bytes(leadOfAB)];
  await relay.sweep.sweep();
  expect(await mail.owners()).toContain(ofA);
  const draft = { namespace: 'default', team: 'x', from: 'nobody', to: 'y', message_type: 'text' as const, content: 'x' };
  await (await mail.open('somebody-long-gone')).append(draft);
  const gone = team('a');
  await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-coder' });
  await client.delete({ kind: 'Team', namespace: 'default', name: 'a' });
  await relay.sweep.sweep();
  expect((await mail.owners()).sort()).toEqual([ofAB, leadOfAB].sort());
  expect([bytes(ofAB), bytes(leadOfAB)]).toEqual(before);
  await (await mail.open(gone.metadata.uid)).append(draft);
  await removeTeamMail(mail, gone);
  // Whoever still asks for it brings nothing back.
  expect(await (await mail.open(gone.metadata.uid)).withdraw('a key')).toBe(false);
  expect(existsSync(join(folder, 'mail', `${ofA}.jsonl`))).toBe(false);
  expect(readdirSync(join(folder, 'mail'))).toHaveLength(2);
});

it('counts messages by what became of them', async () => {
  const { send, mailbox, mail, pass, metrics } = await relayWorld();
  const { messageId } = await send('a/lead', { to: 'coder' });
  await send('a/lead', { to: 'coder' });
  const coder = await mailbox('a/coder');
  await coder.markDelivered(2);
  await coder.ack([messageId]);
  await expect(send('a/coder', { to: 'a-b/coder' })).rejects.toThrow();
  pass(24 * HOUR_MS);
  await mail.sweep();
  const text = metrics.render();
  for (const line of [
    'agentiso_messages_total{state="Delivered"} 2',
    'agentiso_messages_total{state="Seen"} 1',
    'agentiso_messages_total{state="DeadLetter"} 1',
    'agentiso_messages_rejected_total{reason="Forbidden"} 1',
    'agentiso_messages_deadletter_total 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  await vi.waitFor(() => expect(metrics.render()).toContain('agentiso_messages_total{state="Accepted"} 3\n'));
});
