/** The daemon's part of the way: mailboxes on disk, the relay room's post and desk, and sessions with the guests. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { admission, kinds } from '#api/kinds.ts';
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { createSessions } from '#guest/create-sessions.ts';
import type { Sessions } from '#guest/sessions.ts';
import { NotFoundError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { openMail } from '#mail/open-mail.ts';
import { openRelay } from '#relay/open-relay.ts';
import { tellGuest } from '../../../src/daemon/agents/tell-guest.ts';
import { memoryStore } from '../../support/memory-store.ts';
import { MEMBERS, socketOf, TEAM } from './team.ts';

/** Resolves when all guests are connected. */
export async function serveOurs(dir: string): Promise<void> {
  const { store, client, uids } = await makeObjects();
  const members = new Map(MEMBERS.map((member) => [uids.get(member.name) ?? '', member]));
  const agents = new Map((await client.list<Agent>('Agent')).items.map((agent) => [agent.metadata.uid, agent]));
  const relay = openRelay({
    client,
    log: silentLogger,
    metrics: new Metrics(),
    mail: openMail({ directory: join(dir, 'mail'), log: silentLogger, onAppended: (appended) => tellGuest(sessions, appended) }),
    objectOf: (key) => store.get(key),
    agentByUid: (uid) => agents.get(uid),
    teamByUid: () => undefined,
    incarnationOf: (uid) => sessions.get(uid)?.incarnation,
    warn: () => {},
  });
  // The team has neither tasks nor a vault: nobody asks for them.
  const nobody = {} as never;
  const sessions: Sessions = createSessions({
    desk: relay.deskFor({ book: nobody, vault: nobody }),
    version: '0.0.0',
    async dial(uid, port) {
      const member = members.get(uid);
      if (!member) throw new NotFoundError(`there is no agent ${uid}`);
      const socket = connect(socketOf(dir, member, port));
      await once(socket, 'connect');
      return socket;
    },
  });
  const all = [...members].map(([uid, { incarnation }]) => sessions.ensure(uid, incarnation));
  while (!all.every(({ state }) => state.isRelayOpen)) await new Promise((resolve) => sessions.onChange(resolve));
}

async function makeObjects() {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  await client.create<Team>(draft('Team', TEAM, { budget: { maxAgents: 2 * MEMBERS.length }, roles: [{ name: 'reader' }] }));
  const uids = new Map<string, string>();
  for (const { name } of MEMBERS) {
    const agent = await client.create<Agent>(draft('Agent', `${TEAM}-${name}`, { team: TEAM }));
    uids.set(name, agent.metadata.uid);
  }
  return { store, client, uids };
}

function draft<T extends Agent | Team>(kind: string, name: string, spec: object): Draft<T> {
  return { apiVersion: API_VERSION, kind, metadata: { name, namespace: 'default' }, spec } as unknown as Draft<T>;
}
