import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from '../api-server.fixture.ts';
import type { CommandContext } from '../command.ts';
import { scaleCommand } from './scale.ts';

const PATH = '/apis/agentiso.dev/v1alpha1/namespaces/default/teams/shop';
let server: ApiServer;
let roles: object[];

beforeEach(async () => {
  server = await startApiServer({
    [PATH]: () => ({ json: { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', metadata: { name: 'shop' }, spec: { roles } } }),
  });
});
afterEach(() => server.close());

async function scale(options: Record<string, string>) {
  const said = { out: '', err: '' };
  const context = {
    out: (text: string) => {
      said.out += text;
    },
    err: (text: string) => {
      said.err += text;
    },
    signal: new AbortController().signal,
    home: server.home,
  } as unknown as CommandContext;
  const code = await scaleCommand.run(['team', 'shop'], { fieldManager: 'me', dryRun: 'none', ...options }, context);
  return { code, ...said };
}

describe('scale', () => {
  it('changes the count of the only role there can be several of, and nothing else', async () => {
    roles = [{ name: 'lead' }, { name: 'dev', count: 2 }];
    expect(await scale({ replicas: '4' })).toEqual({ code: 0, out: 'team.agentiso.dev/shop scaled\n', err: '' });
    const { method, body } = server.asked.at(-1) ?? { method: '', body: '[]' };
    expect([method, JSON.parse(body)]).toEqual([
      'PATCH',
      [
        { op: 'test', path: '/spec/roles/1/name', value: 'dev' },
        { op: 'add', path: '/spec/roles/1/count', value: 4 },
      ],
    ]);
  });

  it('asks which role is meant where there are several', async () => {
    roles = [{ name: 'dev' }, { name: 'qa', count: 2 }];
    expect(await scale({ replicas: '4' })).toEqual({
      code: 1,
      out: '',
      err: 'error: the team has several roles: dev (1), qa (2)\n  say which one with --role\n',
    });
    expect(await scale({ replicas: '4', role: 'qa' })).toMatchObject({ code: 0, err: '' });
  });

  it.each(['0', '-1', 'many', ''])('refuses %j as a number of agents', async (replicas) => {
    await expect(scale({ replicas })).rejects.toThrow('--replicas is required: a number from 1 on');
  });
});
