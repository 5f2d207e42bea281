import { describe, expect, it } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import type { ApiResponse, Connection } from '../connection.ts';
import type { ApiResource } from '../discovery.ts';
import type { ApiObject } from '../resource-api.ts';
import { followObject } from './follow-object.ts';

const resource: ApiResource = {
  group: 'agentiso.dev',
  version: 'v1alpha1',
  plural: 'teams',
  kind: 'Team',
  singular: 'team',
  shortNames: [],
  categories: [],
  verbs: [],
  subresources: [],
  isNamespaced: true,
  isPreferred: true,
};
const target = { resource, namespace: 'default', name: 'x' };

const team = (phase: string) => ({ apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'x' }, status: { phase } });
const event = (type: string, object: object) => JSON.stringify({ type, object });
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

type Scripted = { list: object[]; at: string } | { watch: string[]; isOpen?: boolean } | { error: Error };

/** Answers what the test says, in its order, and notes what it was asked. */
function scripted(script: readonly Scripted[]): { connection: Connection; asked: string[] } {
  const asked: string[] = [];
  const rest = [...script];
  const connection: Connection = {
    name: 'scripted',
    close: () => {},
    async request({ path, signal }): Promise<ApiResponse> {
      const query = new URL(path, 'http://x').searchParams;
      asked.push(query.get('watch') ? `watch ${query.get('resourceVersion')}` : `list ${query.get('fieldSelector')}`);
      const next = rest.shift();
      if (!next) throw new Error('asked too often');
      if ('error' in next) throw next.error;
      const text =
        'list' in next
          ? JSON.stringify({ kind: 'TeamList', apiVersion: 'v1', metadata: { resourceVersion: next.at }, items: next.list })
          : '';
      return {
        status: 200,
        headers: {},
        text: async () => text,
        async *lines() {
          if (!('watch' in next)) return;
          yield* next.watch;
          if (next.isOpen && !signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        },
        async *chunks() {},
      };
    },
  };
  return { connection, asked };
}

const isReady = (object: ApiObject | undefined) => (object?.['status'] as { phase?: string } | undefined)?.phase === 'Ready';
const never = new AbortController().signal;

describe('followObject', () => {
  it('is done at once when it is true already', async () => {
    const { connection, asked } = scripted([{ list: [team('Ready')], at: '5' }]);
    expect(await followObject({ connection, target, signal: never, isDone: isReady })).toMatchObject({ status: { phase: 'Ready' } });
    expect(asked).toEqual(['list metadata.name=x']);
  });

  it('watches from the version of the list', async () => {
    const bookmark = event('BOOKMARK', { metadata: { resourceVersion: '6' } });
    const watch = [event('MODIFIED', team('Creating')), bookmark, event('MODIFIED', team('Ready'))];
    const { connection, asked } = scripted([
      { list: [team('Creating')], at: '5' },
      { watch, isOpen: true },
    ]);
    await followObject({ connection, target, signal: never, isDone: isReady });
    expect(asked).toEqual(['list metadata.name=x', 'watch 5']);
  });

  it('takes a deletion for the absence of the object', async () => {
    const { connection } = scripted([
      { list: [team('Ready')], at: '5' },
      { watch: [event('DELETED', team('Ready'))], isOpen: true },
    ]);
    expect(await followObject({ connection, target, signal: never, isDone: (object) => object === undefined })).toBeUndefined();
  });

  it('lists again when the version is too old, when the watch ends, and when nobody answers', async () => {
    const { connection, asked } = scripted([
      { list: [], at: '5' },
      { watch: [event('ERROR', gone)] },
      { list: [], at: '7' },
      { watch: [] },
      { error: new UnavailableError('nobody there') },
      { list: [team('Ready')], at: '9' },
    ]);
    await followObject({ connection, target, signal: never, isDone: isReady });
    expect(asked.filter((each) => each.startsWith('watch'))).toEqual(['watch 5', 'watch 7']);
  });

  it('says so when nobody has answered for too long', async () => {
    const { connection } = scripted([{ list: [], at: '5' }, { error: new UnavailableError('nobody there') }]);
    await expect(followObject({ connection, target, signal: never, isDone: isReady, patienceMs: -1 })).rejects.toThrow('nobody there');
  });

  it('throws what will not pass', async () => {
    const { connection } = scripted([{ error: new Error('a bug') }]);
    await expect(followObject({ connection, target, signal: never, isDone: isReady })).rejects.toThrow('a bug');
  });

  it('ends when it is told to', async () => {
    const stop = new AbortController();
    const { connection } = scripted([
      { list: [team('Creating')], at: '5' },
      { watch: [event('MODIFIED', team('Creating'))], isOpen: true },
    ]);
    const isDone = (object: ApiObject | undefined) => {
      // The second look comes from the watch.
      if (isDone.looks++ > 0) stop.abort();
      return isReady(object);
    };
    isDone.looks = 0;
    await expect(followObject({ connection, target, signal: stop.signal, isDone })).rejects.toThrow('abort');
  });
});
