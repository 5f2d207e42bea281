/** `/rescue` of our own daemon, typed: work that was not merged when its agent was deleted. */
import { askDesk, deskLines } from './desk.ts';
import type { Asking } from './messages.ts';

export interface Rescued {
  /** The uid of the agent. */
  readonly id: string;
  readonly ref: string;
  readonly commit: string;
  readonly namespace: string;
  readonly team: string;
  readonly agent: string;
  readonly at: string;
  readonly commits: number;
  readonly files: number;
}

export interface RescueRepository {
  readonly teamUid: string;
  readonly namespace: string;
  readonly team: string;
  readonly bytes: number;
  readonly rescued: readonly Rescued[];
}

export interface RescuedDetails extends Omit<Rescued, 'commits'> {
  readonly commits: readonly { readonly id: string; readonly subject: string; readonly author: string; readonly at: string }[];
  readonly stat: string;
}

/** Newest first in each. */
export async function listRescued({ connection, signal }: Asking): Promise<readonly RescueRepository[]> {
  const call = { method: 'GET', path: '/rescue', signal } as const;
  return (await askDesk<{ repositories: readonly RescueRepository[] }>(connection, call)).repositories;
}

/** By the identifier, or the beginning of one. */
export function getRescued({ connection, signal }: Asking, id: string): Promise<RescuedDetails> {
  return askDesk(connection, { method: 'GET', path: `/rescue/${encodeURIComponent(id)}`, signal });
}

/** For good: whoever calls this has asked. */
export function dropRescued({ connection, signal }: Asking, id: string): Promise<Rescued> {
  return askDesk(connection, { method: 'DELETE', path: `/rescue/${encodeURIComponent(id)}`, query: { confirm: true }, signal });
}

/** A bundle of git without what the commits in `have` hold; nothing when they hold all of it. Its refs are below refs/agentiso/outgoing. */
export async function* rescuedBundle({ connection, signal }: Asking, id: string, have: readonly string[]): AsyncIterable<Buffer> {
  const query = { encoding: 'base64', have: have.join(',') };
  const path = `/rescue/${encodeURIComponent(id)}/bundle`;
  for await (const line of deskLines<string>(connection, { method: 'GET', path, query, signal })) yield Buffer.from(line, 'base64');
}
