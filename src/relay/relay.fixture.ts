/** Teams on paper with real mail on disk: `a` with a lead, its sub-teams `child` and `twin` without one, and `a-b`, which only sounds related. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import { silentLogger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import type { Envelope } from '#mail/mail.ts';
import { type OpenMail, openMail } from '#mail/open-mail.ts';
import type { Vault } from '#vault/vault.ts';
import { bench, newAgent, newTeam } from '../../test/support/controllers.ts';
import { openRelay } from './open-relay.ts';
import type { Letter } from './post.ts';
import type { Principal } from './principal.ts';
import type { TaskBook } from './task-book.ts';

export const OPERATOR_OF: Principal = { kind: 'operator', user: 'admin' };
const TEAMS: Readonly<Record<string, { readonly agents: readonly string[]; readonly parent?: string }>> = {
  a: { agents: ['coder', 'tester', 'lead'] },
  'a-b': { agents: ['coder', 'lead'] },
  child: { agents: ['coder', 'tester'], parent: 'a' },
  twin: { agents: ['coder'], parent: 'a' },
};

export async function relayWorld() {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-relay-'));
  const world = bench();
  const { client, store } = world;
  const metrics = new Metrics();
  const clock = { now: () => world.ctx.now() };
  const hints: [uid: string, nextSeq: number][] = [];
  const carried: Envelope[] = [];
  const mail: OpenMail = openMail({
    directory: join(folder, 'mail'),
    log: silentLogger,
    clock,
    onAppended({ owner, nextSeq, messages }) {
      hints.push([owner, nextSeq]);
      carried.push(...messages);
    },
  });
  const warnings: string[] = [];
  const runs = new Map<string, string>();
  const byUid = <T extends KindObject>(kind: string, uid: string) =>
    store.list(kind).items.find(({ metadata }) => metadata.uid === uid) as T | undefined;
  const waiting = new Set<string>();
  const relay = openRelay({
    client,
    mail,
    objectOf: (key) => store.get(key),
    log: silentLogger,
    metrics,
    clock,
    agentByUid: (uid) => byUid<Agent>('Agent', uid),
    teamByUid: (uid) => byUid<Team>('Team', uid),
    incarnationOf: (uid) => runs.get(uid),
    isWaiting: (uid) => waiting.has(uid),
    warn: ({ kind, metadata }, reason, message) => void warnings.push(`${kind} ${metadata.name} ${reason}: ${message}`),
  });
  onTestFinished(async () => {
    relay.close();
    await mail.close();
    rmSync(folder, { recursive: true });
  });

  const addTeam = (name: string, spec: Parameters<typeof newTeam>[1] = {}) =>
    client.create<Team>(newTeam(name, { roles: [{ name: 'worker' }], budget: { maxAgents: 20 }, ...spec }));
  const addAgent = async (team: string, name: string) => {
    const agent = await client.create<Agent>(newAgent(`${team}-${name}`, { team }));
    return setStatus(agent, { phase: 'Ready', incarnation: `run-of-${team}/${name}` });
  };
  const setStatus = (agent: Agent, status: Agent['status']) =>
    client.updateStatus<Agent>({ ...agent, status: { ...agent.status, ...status } });
  for (const [team, { agents, parent }] of Object.entries(TEAMS)) {
    await addTeam(team, { roles: agents.map((name) => ({ name })), ...(parent && { parent }) });
    for (const name of agents) await addAgent(team, name);
  }

  const agent = (address: string): Agent => world.get<Agent>('Agent', address.replace('/', '-')) as Agent;
  const team = (name: string): Team => world.get<Team>('Team', name) as Team;
  const as = (address: string): Principal => ({
    kind: 'agent',
    agent: agent(address),
    incarnation: agent(address).status?.incarnation ?? '',
  });
  const send = (address: string, letter: Partial<Letter> & { readonly to: string }) =>
    relay.post.send(as(address), { namespace: 'default', team: address.split('/')[0] ?? '', content: 'x', ...letter });
  const write = (to: string, letter: Partial<Letter> = {}) =>
    relay.post.send(OPERATOR_OF, { namespace: 'default', team: 'a', to, content: 'x', ...letter });
  const ownerOf = (address: string): string => {
    const [name = '', inbox = ''] = address.split('/');
    return inbox === 'orchestrator' ? team(name).metadata.uid : agent(address).metadata.uid;
  };
  const mailbox = (address: string) => mail.open(ownerOf(address));
  /** `from -> to type: content` of everything in an inbox. */
  const inbox = async (address: string) =>
    (await mailbox(address))
      .read({ after: 0, limit: 1_000 })
      .map(({ from, to, message_type, content }) => `${from} -> ${to} ${message_type}: ${content}`);
  const setMessaging = async (name: string, messaging: object) => {
    const now = team(name);
    await client.update<Team>({ ...now, spec: { ...now.spec, messaging: { ...now.spec.messaging, ...messaging } } });
  };
  const desk = (others: { readonly book?: Partial<TaskBook>; readonly vault?: Partial<Vault> } = {}) =>
    relay.deskFor({ book: (others.book ?? {}) as TaskBook, vault: (others.vault ?? {}) as Vault });
  return {
    ...world,
    folder,
    mail,
    metrics,
    relay,
    post: relay.post,
    hints,
    carried,
    warnings,
    runs,
    waiting,
    agent,
    team,
    as,
    send,
    write,
    mailbox,
    inbox,
    ownerOf,
    addTeam,
    addAgent,
    setStatus,
    setMessaging,
    desk,
  };
}

export type RelayWorld = Awaited<ReturnType<typeof relayWorld>>;
