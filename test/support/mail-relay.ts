/**
 * A process with a home of its own: a team on disk, its mail, and the relay over both, as the daemon has them. `FOLDER SEED NEXT COUNT CURSOR`:
 * fifty agents write to the lead at once, each COUNT messages from NEXT on, and the lead's guest reads and acknowledges from CURSOR on;
 * every step is said on stdout, until all is read or the process is killed.
 */
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { Draft, KindObject } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { AgentisoError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { openMail } from '#mail/open-mail.ts';
import { createRates } from '#relay/create-rates.ts';
import { openRelay } from '#relay/open-relay.ts';
import type { TaskBook } from '#relay/task-book.ts';
import type { Store } from '#store/store.ts';
import type { Vault } from '#vault/vault.ts';
import { seededRandom } from '../bench/harness/random.ts';
import { sayLine } from './mail-say.ts';
import { openStore } from './store-home.ts';

export type RelayLine =
  | { readonly is: 'open'; readonly problems: readonly string[] }
  | { readonly is: 'accepted'; readonly name: string; readonly id: string }
  | { readonly is: 'refused'; readonly code: 'InboxFull' | 'RateLimited' }
  | { readonly is: 'read'; readonly seq: number; readonly id: string; readonly from: string; readonly name: string }
  | { readonly is: 'acked'; readonly seq: number }
  | { readonly is: 'done' };

const say = (line: RelayLine) => sayLine(line);
const TEAM = 'crew';
const object = (kind: string, name: string, spec: object) =>
  ({ apiVersion: 'agentiso.dev/v1alpha1', kind, metadata: { name, namespace: 'default' }, spec }) as unknown as Draft;

async function ensureTeam(store: Store, senders: number): Promise<void> {
  const names = ['lead', ...Array.from({ length: senders }, (_, i) => `s${i}`)];
  const wanted = [
    object('Team', TEAM, { roles: [{ name: 'lead' }], budget: { maxAgents: 100 } }),
    ...names.map((name) => object('Agent', `${TEAM}-${name}`, { team: TEAM })),
  ];
  for (const draft of wanted) {
    const key = { kind: draft.kind, namespace: 'default', name: draft.metadata.name ?? '' };
    if (!store.get(key)) await store.create(draft);
  }
}

async function relayUnderFire(folder: string, seed: number, next: readonly number[], count: number, after: number): Promise<void> {
  const { directory, store } = await openStore(join(folder, 'home'));
  await ensureTeam(store, next.length);
  const problems: string[] = [];
  const byUid =
    <T extends KindObject>(kind: string) =>
    (uid: string) =>
      store.list(kind).items.find(({ metadata }) => metadata.uid === uid) as T | undefined;
  const mail = openMail({
    directory: join(folder, 'mail'),
    log: silentLogger,
    onProblem: ({ message }) => problems.push(message),
    onDeadLetter: ({ message }) => problems.push(`given up: ${message.metadata?.['name']}`),
  });
  const relay = openRelay({
    client: localClient(store),
    mail,
    objectOf: (key) => store.get(key),
    log: silentLogger,
    metrics: new Metrics(),
    agentByUid: byUid<Agent>('Agent'),
    teamByUid: byUid<Team>('Team'),
    incarnationOf: () => undefined,
    warn: () => {},
    rates: createRates(),
  });
  await relay.sweep.sweep();
  const desk = relay.deskFor({ book: {} as TaskBook, vault: {} as Vault });
  const agent = (name: string) => store.get({ kind: 'Agent', namespace: 'default', name: `${TEAM}-${name}` }) as Agent;
  const context = { signal: new AbortController().signal };
  say({ is: 'open', problems });
  let sending = next.length;

  const sender = async (number: number) => {
    const random = seededRandom(seed * 31 + number);
    const { uid } = agent(`s${number}`).metadata;
    for (let n = next[number] ?? 0; n < count; ) {
      const name = `s${number}/${n}`;
      // A forged name: the mail says who it was.
      const params = { to: 'lead', content: 'x'.repeat(1 + Math.floor(random() * 3_000)), metadata: { name, from: 'lead' } };
      try {
        const { message_id: id } = await desk.teamMessage(uid, params, context);
        say({ is: 'accepted', name, id });
        n++;
      } catch (error) {
        if (!(error instanceof AgentisoError)) throw error;
        const { code, retryAfterMs } = error;
        if (code !== 'InboxFull' && code !== 'RateLimited') throw error;
        say({ is: 'refused', code });
        // The reader makes room sooner than anybody could promise.
        if (code === 'InboxFull') await turn();
        else await delay(retryAfterMs);
      }
    }
    sending--;
  };

  const reader = async () => {
    const { uid } = agent('lead').metadata;
    const random = seededRandom(seed);
    for (let cursor = after; ; await turn()) {
      // Asked first: what is sent after this look belongs to the next.
      const isLast = sending === 0;
      const { messages, nextSeq } = await desk.teamReceive(uid, { after: cursor, limit: 1 + Math.floor(random() * 60) }, context);
      for (const { seq, message_id: id, from, metadata } of messages) say({ is: 'read', seq, id, from, name: metadata?.['name'] ?? '' });
      cursor = messages.at(-1)?.seq ?? cursor;
      await desk.teamAck(uid, { storedSeq: cursor, seen: messages.map(({ message_id }) => message_id) }, context);
      if (messages.length > 0) say({ is: 'acked', seq: cursor });
      if (isLast && cursor === nextSeq - 1) return;
    }
  };
  await Promise.all([...next.map((_, number) => sender(number)), reader()]);
  relay.close();
  await mail.close();
  await directory.close();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  say({ is: 'done' });
}

const [folder = '', seed, next = '[]', count, cursor] = process.argv.slice(2);
await relayUnderFire(folder, Number(seed), JSON.parse(next), Number(count), Number(cursor));
