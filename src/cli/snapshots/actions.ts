/** What `agentiso snapshot` and `agentiso fork` write and follow, and how the answers look. */
import type { Agent, Snapshot } from '#api/types.ts';
import { remoteClient } from '#client/remote.ts';
import { deleteSnapshot, findSnapshot, forkAgent, requestRestore, takeSnapshot, untilRestored } from '#client/snapshots.ts';
import type { Session } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { findNamed } from '../named.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';

export interface Named {
  readonly agent: string;
  readonly name: string;
}

export async function createSnapshot({ agent: word, name }: Named, session: Session): Promise<number> {
  const agent = await agentCalled(session, word);
  const { metadata, status } = await takeSnapshot(remoteClient(session.connection), agent, name, session.signal);
  session.out(`snapshot/${metadata.name} taken, ${inMiB(status?.bytes)}\n`);
  return EXIT.ok;
}

export async function listSnapshots(word: string | undefined, session: Session): Promise<number> {
  const { connection, namespace, out, err } = session;
  const agent = word === undefined ? undefined : await agentCalled(session, word);
  const fieldSelector = agent && `spec.agent=${agent.metadata.name}`;
  const { items } = await remoteClient(connection).list<Snapshot>('Snapshot', { namespace, ...(fieldSelector && { fieldSelector }) });
  if (items.length === 0) err(`There are no snapshots${agent ? ` of ${agent.metadata.name}` : ''}.\n`);
  else out(alignLines([['NAME', 'TEAM', 'AGENT', 'PHASE', 'SIZE', 'TAKEN'], ...items.map(toRow)], TABLE_STYLE));
  return EXIT.ok;
}

function toRow({ metadata, spec, status }: Snapshot): string[] {
  const { phase = 'Pending', bytes, takenAt = '-' } = status ?? {};
  return [metadata.name, spec.team, spec.agent ?? '(golden)', phase, bytes === undefined ? '-' : inMiB(bytes), takenAt];
}

export async function restoreSnapshot({ agent: word, name }: Named, session: Session): Promise<number> {
  const client = remoteClient(session.connection);
  const agent = await agentCalled(session, word);
  const snapshot = await findSnapshot(client, agent, name);
  const asked = await requestRestore(session, agent, snapshot, new Date());
  if (asked.spec.desiredState !== 'Running') {
    session.out(
      `agent/${agent.metadata.name} is ${asked.spec.desiredState}; it is taken back to ${snapshot.metadata.name} when it starts\n`,
    );
    return EXIT.ok;
  }
  await untilRestored(client, asked, session.signal);
  session.out(`agent/${agent.metadata.name} is back at snapshot ${snapshot.metadata.name}\n`);
  return EXIT.ok;
}

export async function removeSnapshot({ agent: word, name }: Named, session: Session): Promise<number> {
  const client = remoteClient(session.connection);
  const snapshot = await findSnapshot(client, await agentCalled(session, word), name);
  await deleteSnapshot(client, snapshot);
  session.out(`snapshot/${snapshot.metadata.name} deleted\n`);
  return EXIT.ok;
}

export interface Forking {
  readonly count: number;
  readonly prefix: string;
  /** Absent: as it is now. */
  readonly snapshot: string | undefined;
}

export async function forkNamed(word: string, { count, prefix, snapshot: name }: Forking, session: Session): Promise<number> {
  const client = remoteClient(session.connection);
  const agent = await agentCalled(session, word);
  const of = agent.metadata.name;
  const snapshot =
    name === undefined ? await takeSnapshot(client, agent, undefined, session.signal) : await findSnapshot(client, agent, name);
  const results = await forkAgent(client, agent, { count, prefix, snapshot });
  // It goes when the last of them has begun.
  if (name === undefined) await client.delete({ kind: 'Snapshot', namespace: session.namespace, name: snapshot.metadata.name });
  for (const { agent: fork, error } of results) {
    if (error) session.err(`agent/${fork}: ${error.message}\n`);
    else session.out(`agent/${fork} forked from ${of}${name === undefined ? '' : ` at snapshot ${snapshot.metadata.name}`}\n`);
  }
  return results.some(({ error }) => error) ? EXIT.failure : EXIT.ok;
}

async function agentCalled(session: Session, word: string): Promise<Agent> {
  return (await findNamed(session, 'agent', word)) as unknown as Agent;
}

function inMiB(bytes = 0): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
