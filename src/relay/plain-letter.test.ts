import { describe, expect, it } from 'vitest';
import { createPost } from './create-post.ts';
import type { Letter } from './post.ts';
import { type RelayWorld, relayWorld } from './relay.fixture.ts';

const LETTERS: readonly (Partial<Letter> & { readonly to: string })[] = [
  { to: 'tester' },
  { to: 'a-tester' },
  { to: 'tester', content: '' },
  { to: 'tester', type: 'text', metadata: { n: '1' }, requestId: 'r' },
  { to: 'tester', type: 'nudge' },
  { to: 'tester', type: 'shutdown_request' },
  { to: 'tester', type: 'task_assignment' },
  { to: 'tester', replyTo: 'nothing' },
  { to: 'coder' },
  { to: 'tester', from: 'lead' },
  { to: 'lead' },
  { to: 'orchestrator' },
  { to: 'a/tester' },
  { to: 'child/tester' },
  { to: 'child-tester' },
  { to: 'a-b/coder' },
  { to: 'b-coder' },
  { to: 'nobody' },
];

/** What becomes of a letter: the refusal, or who has it and what stands there. */
async function outcome(world: RelayWorld, isAtHand: boolean, letter: Letter): Promise<unknown> {
  const { client, mail } = world;
  const objectOf = isAtHand && { objectOf: (key: Parameters<typeof world.store.get>[0]) => world.store.get(key) };
  const agentByUid = (uid: string) => world.store.list('Agent').items.find(({ metadata }) => metadata.uid === uid) as never;
  const post = createPost({ client, mail, agentByUid, ...objectOf });
  try {
    const { messageId, ...receipt } = await post.send(world.as(`${letter.team}/coder`), letter);
    const copies = await post.read({ kind: 'system' }, { namespace: 'default', limit: 1_000 });
    const found = copies.filter(({ message }) => message.message_id === messageId);
    return {
      receipt,
      copies: found.map(({ inbox, message: { message_id: _, seq: __, timestamp: ___, ...words } }) => ({ inbox, ...words })),
    };
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint?: string };
    return { code, message, hint };
  }
}

async function compare(world: RelayWorld, team: string): Promise<void> {
  // With every mailbox open, as the ones are that are written to.
  for (const agent of world.store.list('Agent').items) await world.mail.open(agent.metadata.uid);
  for (const letter of LETTERS) {
    const whole = { namespace: 'default', team, content: 'x', ...letter };
    expect(await outcome(world, true, whole), JSON.stringify(letter)).toEqual(await outcome(world, false, whole));
  }
}

describe('a letter that is decided from what is in memory', () => {
  it.each(['a', 'child', 'a-b'])('goes where the closer look would have sent it: team %s', async (team) => {
    await compare(await relayWorld(), team);
  });

  it('is refused alike where messages are turned off', async () => {
    const world = await relayWorld();
    await world.setMessaging('a', { enabled: false });
    await compare(world, 'a');
    await compare(world, 'child');
  });

  it('does not reach an agent on its way out', async () => {
    const world = await relayWorld();
    const tester = world.agent('a/tester');
    await world.client.update({ ...tester, metadata: { ...tester.metadata, finalizers: ['agentiso.dev/test'] } });
    await world.client.delete({ kind: 'Agent', namespace: 'default', name: 'a-tester' });
    await compare(world, 'a');
  });

  it('waits behind an earlier one of the same sender that takes a closer look', async () => {
    const world = await relayWorld();
    await world.mailbox('a/tester');
    const sent = Promise.all([
      world.send('a/coder', { to: 'a/tester', content: '1' }),
      world.send('a/coder', { to: 'tester', content: '2' }),
      world.send('a/coder', { to: 'a/tester', content: '3' }),
    ]);
    await sent;
    expect(await world.inbox('a/tester')).toEqual(['1', '2', '3'].map((content) => `coder -> tester text: ${content}`));
  });
});
