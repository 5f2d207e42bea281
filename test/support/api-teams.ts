/** Two teams side by side in one namespace, the second full of a marker that nobody of the first may ever read. */
import type { ApiClient } from './api-client.ts';

export const MARKER = 'xyzzy-secret-of-rivals';
export const OURS = 'crew';
/** Begins like the other's name, as names that are compared badly do. */
export const THEIRS = 'crew-rivals';
export const GROUP_PATH = '/apis/agentiso.dev/v1alpha1/namespaces/default';
export const EVENTS_PATH = '/api/v1/namespaces/default/events';

const MARKED = { labels: { secret: MARKER }, annotations: { secret: MARKER } };

type Draft = Readonly<Record<string, unknown>> & { readonly metadata: { readonly name: string } };

function objectsOf(team: string): readonly (readonly [string, Draft])[] {
  const own = team === THEIRS ? MARKED : { labels: { secret: 'ours' } };
  const text = team === THEIRS ? MARKER : 'nothing special';
  const object = (kind: string, name: string, spec: object): Draft => ({
    apiVersion: 'agentiso.dev/v1alpha1',
    kind,
    metadata: { name, ...own },
    spec,
  });
  return [
    ['teams', object('Team', team, { description: text, roles: [{ name: 'worker' }] })],
    ['agents', object('Agent', `${team}-worker`, { team, description: text })],
    ['tasks', object('Task', `${team}-one`, { team, title: text, prompt: text })],
    ['tasks', object('Task', `${team}-two`, { team, title: text, command: 'true' })],
    ['merges', object('Merge', `${team}-merge`, { team, sources: [{ agent: 'worker' }], target: { branch: 'main' }, commitMessage: text })],
  ];
}

/** Both teams, what belongs to them, and an Event about each object; again for what has gone since. */
export async function createTeams(api: ApiClient): Promise<void> {
  for (const team of [OURS, THEIRS]) {
    for (const [plural, draft] of objectsOf(team)) {
      const { status, text, json } = await api.call('POST', `${GROUP_PATH}/${plural}`, { body: draft });
      if (status === 409) continue;
      if (status !== 201) throw new Error(text);
      const { kind, metadata } = json() as { kind: string; metadata: { name: string; uid: string } };
      const { name, uid } = metadata;
      const involvedObject = { apiVersion: 'agentiso.dev/v1alpha1', kind, name, namespace: 'default', uid };
      const message = team === THEIRS ? MARKER : 'nothing special';
      const event = { metadata: { name: `${name}.1` }, involvedObject, reason: 'Noticed', message, type: 'Normal' };
      const recorded = await api.call('POST', EVENTS_PATH, { body: event });
      if (recorded.status !== 201 && recorded.status !== 409) throw new Error(recorded.text);
    }
  }
  const secret = await api.call('POST', '/api/v1/namespaces/default/configmaps', {
    body: { metadata: { name: 'theirs' }, data: { secret: MARKER } },
  });
  if (secret.status !== 201 && secret.status !== 409) throw new Error(secret.text);
}
