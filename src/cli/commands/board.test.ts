import { afterEach, describe, expect, it } from 'vitest';
import { type ApiServer, DISCOVERY, listOf, startApiServer, TASKS, TEAMS, team } from '../api-server.fixture.ts';

let server: ApiServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const task = (name: string, phase: string, more: object = {}) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Task',
  metadata: { name: `hello-${name}`, namespace: 'default', uid: name, resourceVersion: '8', creationTimestamp: '2024-01-01T00:00:00Z' },
  spec: { team: 'hello', maxAttempts: 3 },
  status: { phase, ...more },
});

const isWatch = (query: URLSearchParams) => query.get('watch') === 'true';

describe('agentiso board -w in a pipe', () => {
  it('shows a row for each card that changed, lists again what expired, and ends with 0', async () => {
    let lists = 0;
    let watches = 0;
    const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } };
    const same = { type: 'MODIFIED', object: task('x', 'Pending') };
    const started = { type: 'MODIFIED', object: task('x', 'Running', { owner: 'hello-w', attempt: 1 }) };
    server = await startApiServer({
      ...DISCOVERY,
      [TEAMS]: ({ query }) => (isWatch(query) ? { lines: [], isOpen: true } : { json: listOf([team('hello')]) }),
      [TASKS]: ({ query }) => {
        if (isWatch(query)) return watches++ === 0 ? { lines: [same, started, expired] } : { lines: [], isOpen: true };
        return { json: listOf(lists++ < 2 ? [task('x', 'Pending')] : [task('y', 'Succeeded')], 'TaskList') };
      },
    });
    const ended = new AbortController();
    let said = '';
    const onOut = (text: string) => {
      said += text;
      if (said.includes('done')) ended.abort();
    };
    const { code, out, err } = await server.run(['board', 'hello', '-w'], { signal: ended.signal, onOut });
    expect([code, err]).toEqual([0, '']);
    const lines = out.trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ +/).slice(0, 3))).toEqual([
      ['COLUMN', 'TASK', 'OWNER'],
      ['pending', 'x', expect.any(String)],
      ['working', 'x', 'w'],
      ['done', 'y', expect.any(String)],
    ]);
  });

  it('fails when the server is gone', async () => {
    server = await startApiServer({
      ...DISCOVERY,
      [TEAMS]: ({ query }) => (isWatch(query) ? { lines: [], isOpen: true } : { json: listOf([team('hello')]) }),
      [TASKS]: ({ query }) =>
        isWatch(query)
          ? { status: 403, json: { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no watch' } }
          : { json: listOf([], 'TaskList') },
    });
    expect(await server.run(['board', '-w'])).toEqual({ code: 1, out: '', err: 'Error from server (Forbidden): no watch\n' });
  });
});
