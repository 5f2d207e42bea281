/** Objects of two teams in two namespaces, for tests of who may see them. */
import { API_VERSION, type KindObject } from '#api/meta.ts';

export interface Place {
  readonly namespace?: string;
  readonly team?: string;
  readonly name?: string;
}

export function objectOf(kind: string, { namespace = 'default', team = 'sprint', name }: Place = {}): KindObject {
  const isTeam = kind === 'Team';
  const isPod = kind === 'Pod';
  return {
    apiVersion: isPod ? 'v1' : API_VERSION,
    kind,
    metadata: {
      name: name ?? (isTeam ? team : `${team}-${kind.toLowerCase()}`),
      namespace,
      uid: `uid-${namespace}-${team}-${kind}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(isPod ? { labels: { 'agentiso.dev/team': team } } : {}),
    },
    spec: isTeam ? { roles: [] } : { team, prompt: 'help' },
  };
}

export function eventAbout(subject: KindObject, field: 'involvedObject' | 'regarding' = 'involvedObject'): KindObject {
  const { apiVersion, kind, metadata } = subject;
  const { namespace, name, uid } = metadata;
  const event = {
    ...objectOf('Event', { namespace, name: `${name}.1a2b` }),
    apiVersion: 'v1',
    [field]: { apiVersion, kind, namespace, name, uid },
  };
  delete event.spec;
  return event;
}
