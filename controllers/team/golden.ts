/**
 * The golden Snapshot of a team: there while spec.golden asks for it, another one when that changes. It is prepared by the Snapshot's own
 * controller, and one that is no longer wanted stays, by its finalizer, until nobody is about to begin with it.
 */
import { preparedGolden } from '#api/golden.ts';
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Snapshot, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { ownedBy, setControllerOwner } from '#runtime/owner.ts';
import { nameTaken } from './children.ts';

export async function ensureGolden(client: Client, team: Team): Promise<void> {
  const wanted = preparedGolden(team);
  const { namespace, name } = team.metadata;
  const { items } = await client.list<Snapshot>('Snapshot', { namespace, fieldSelector: `spec.team=${name}` });
  const old = items.filter((snapshot) => ownedBy(snapshot, team) && snapshot.metadata.name !== wanted?.name);
  for (const { kind, metadata } of old) {
    if (metadata.deletionTimestamp !== undefined) continue;
    await ignoreNotFound(client.delete({ kind, namespace, name: metadata.name }, { preconditions: { uid: metadata.uid } }));
  }
  // Nobody begins while the team is held.
  if (wanted === undefined || team.spec.suspend) return;
  const existing = await ignoreNotFound(client.get<Snapshot>({ kind: 'Snapshot', namespace, name: wanted.name }));
  if (existing && !ownedBy(existing, team)) throw nameTaken('Snapshot', wanted.name);
  if (!existing) await client.create<Snapshot>(draftOf(team, wanted));
}

function draftOf(team: Team, { name, hash }: { readonly name: string; readonly hash: string }): Draft<Snapshot> {
  const draft = {
    apiVersion: API_VERSION,
    kind: 'Snapshot',
    metadata: { name, namespace: team.metadata.namespace },
    spec: { team: team.metadata.name, golden: hash },
  } as Draft<Snapshot>;
  setControllerOwner(draft, team);
  return draft;
}
