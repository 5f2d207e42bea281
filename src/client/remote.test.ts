import { describe, expect, it } from 'vitest';
import { API_VERSION } from '#api/meta.ts';
import { UnavailableError } from '#lib/errors.ts';
import type { ApiRequest, Connection } from './connection.ts';
import { remoteClient } from './remote.ts';

interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly lines?: readonly unknown[];
}

/** Answers each request with the next of these; after the last nobody answers. */
function connectionOf(...answers: readonly Answer[]) {
  const requests: ApiRequest[] = [];
  const connection: Connection = {
    name: 'test',
    async request(request) {
      const answer = answers[requests.length];
      requests.push(request);
      if (!answer) throw new UnavailableError('nobody answers');
      return {
        status: answer.status ?? 200,
        headers: {},
        text: async () => JSON.stringify(answer.body),
        async *lines() {
          for (const line of answer.lines ?? []) yield JSON.stringify(line);
        },
        async *chunks() {},
      };
    },
    close() {},
  };
  return { client: remoteClient(connection), requests };
}

const task = (name: string, resourceVersion: string) => ({
  apiVersion: API_VERSION,
  kind: 'Task',
  metadata: { name, namespace: 'default', resourceVersion },
});
const list = (resourceVersion: string, ...items: unknown[]) => ({
  body: { apiVersion: API_VERSION, kind: 'TaskList', metadata: { resourceVersion }, items },
});
const bookmark = (resourceVersion: string) => ({ type: 'BOOKMARK', object: { kind: 'Task', metadata: { resourceVersion } } });
const versionOf = ({ path }: ApiRequest) => new URL(path, 'http://x').searchParams.get('resourceVersion');

describe('watch', () => {
  it('goes on where the server ended the stream, bookmarks counted, and tells when nobody answers any more', async () => {
    const { client, requests } = connectionOf(
      list('5', task('a', '3')),
      { lines: [{ type: 'MODIFIED', object: task('a', '7') }, bookmark('9')] },
      { lines: [{ type: 'DELETED', object: task('a', '12') }] },
    );
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { type, object } of client.watch('Task', { namespace: 'default', signal: new AbortController().signal })) {
        seen.push(`${type} ${object.metadata.resourceVersion}`);
      }
    })();
    await expect(watching).rejects.toThrow('nobody answers');
    expect(seen).toEqual(['ADDED 3', 'MODIFIED 7', 'DELETED 12']);
    expect(requests.map(versionOf)).toEqual([null, '5', '9', '12']);
  });

  it('throws what the server says in the middle of a stream', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    const { client } = connectionOf({ lines: [{ type: 'ERROR', object: status }] });
    const first = client.watch('Task', { resourceVersion: '1', signal: new AbortController().signal })[Symbol.asyncIterator]().next();
    await expect(first).rejects.toMatchObject({ name: 'ExpiredError', code: 'Expired', message: 'too old resource version' });
  });

  it('does not ask again at once when the server ends what it began, and can be ended meanwhile', async () => {
    const stop = new AbortController();
    const { client, requests } = connectionOf({ lines: [] }, { lines: [] });
    const first = client.watch('Task', { resourceVersion: '1', signal: stop.signal })[Symbol.asyncIterator]().next();
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    expect(await first).toEqual({ done: true, value: undefined });
    expect(requests).toHaveLength(1);
  });
});

describe('requests', () => {
  it('are what the API wants', async () => {
    const { client, requests } = connectionOf({ body: task('a', '1') }, { body: task('a', '1') }, { body: {} });
    await client.apply({ ...task('a', '1'), spec: {} }, { fieldManager: 'me', force: true });
    await client.updateStatus(task('a', '1') as never);
    await client.delete(
      { kind: 'Task', namespace: 'default', name: 'a' },
      { preconditions: { uid: 'u' }, propagationPolicy: 'Foreground' },
    );
    const folder = '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks';
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `PATCH ${folder}/a?fieldValidation=Strict&fieldManager=me&force=true`,
      `PUT ${folder}/a/status?fieldValidation=Strict`,
      `DELETE ${folder}/a`,
    ]);
    expect(requests[0]?.headers).toEqual({ 'content-type': 'application/apply-patch+yaml' });
    expect(JSON.parse(requests[2]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'u' },
      propagationPolicy: 'Foreground',
    });
  });

  it('that a server forbids fail with its words', async () => {
    const { client } = connectionOf({ status: 403, body: { kind: 'Status', reason: 'Forbidden', message: 'tasks is forbidden' } });
    await expect(client.list('Task')).rejects.toMatchObject({ code: 'Forbidden', message: 'tasks is forbidden' });
  });
});
