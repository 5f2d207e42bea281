/** The public conformance suite of MCP against our servers: the code of the protocol, the daemon over both transports, an agent's own server. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../support/cli.ts';
import { type Daemon, startDaemon, temporaryFolder } from '../../support/daemon.ts';
import { stdioTransport } from '../../support/mcp-client.ts';
import { type Door, openDoor } from './door.ts';
import { type Exceptions, OF_AGENT, OF_DAEMON, OF_FIXTURE, OF_STDIO } from './exceptions.ts';
import { startFixtureServer } from './fixture-server.ts';
import { type RealNames, translation } from './names.ts';
import { openStdioDoor } from './stdio-door.ts';
import { type Check, runSuite, serverScenarios } from './suite.ts';

const SCENARIOS = await serverScenarios();
const WAIT = { timeout: 30_000, interval: 50 };
const TEAM = {
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  metadata: { name: 'team-123' },
  spec: { isolation: { driver: 'process' }, roles: [{ name: 'dev' }] },
};
const OPERATOR: RealNames = {
  tools: {
    test_simple_text: { name: 'team_list', arguments: {} },
    test_error_handling: { name: 'get', arguments: { kind: 'Team', name: 'nobody' } },
  },
  uris: {
    'test://static-text': 'agentiso://teams',
    'test://watched-resource': 'agentiso://teams',
    'test://template/123/data': 'agentiso://teams/team-123/status',
  },
  prompts: {
    test_simple_prompt: { name: 'create_team_for_repository', values: { repository: '/srv/shop' } },
    test_prompt_with_arguments: {
      name: 'create_team_for_repository',
      names: { arg1: 'goal', arg2: 'repository' },
      values: { repository: '/srv/testValue2' },
    },
  },
};
const AGENT: RealNames = {
  tools: {
    test_simple_text: { name: 'list_agents', arguments: {} },
    test_error_handling: { name: 'claim_request', arguments: { request_id: 'nobody' } },
  },
};

function conforms(title: string, open: () => Promise<Door>, exceptions: Exceptions): void {
  describe(title, () => {
    let checked: ReadonlyMap<string, readonly Check[]>;

    beforeAll(async () => {
      const door = await open();
      try {
        checked = await runSuite(door.url);
      } finally {
        await door.close();
      }
    }, 120_000);

    it.each(SCENARIOS.filter((name) => !Object.hasOwn(exceptions, name)))('%s', (name) => {
      expect(problemsOf(checked.get(name))).toEqual([]);
    });

    it.each(Object.entries(exceptions))('not %s: %s', (name) => {
      expect(SCENARIOS).toContain(name);
      expect(problemsOf(checked.get(name))).not.toEqual([]);
    });
  });
}

/** What keeps a scenario from being passed. */
function problemsOf(checks: readonly Check[] = []): readonly string[] {
  const problems = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  if (problems.length === 0 && !checks.some(({ status }) => status === 'SUCCESS')) return ['nothing was shown'];
  return problems.map(({ id, status, errorMessage }) => `${id}: ${status} ${errorMessage}`);
}

conforms('our sessions and our HTTP', startFixtureServer, OF_FIXTURE);

describe('a real daemon', () => {
  const place = temporaryFolder();
  const home = join(place.folder, 'home');
  let daemon: Daemon;

  beforeAll(async () => {
    daemon = await startDaemon(home);
    const made = await daemon.api.call('POST', '/apis/agentiso.dev/v1alpha1/namespaces/default/teams', { body: TEAM });
    expect(made.status).toBe(201);
  });

  afterAll(async () => {
    expect(await daemon.stop()).toMatchObject({ code: 0, stderr: '' });
    place.remove();
  });

  const inAgent = async (variable: string): Promise<string> => {
    const argv = ['exec', '--home', home, 'team-123-dev', '--', 'sh', '-c', `printf %s "$${variable}"`];
    const { code, stdout, stderr } = await runCli(argv);
    expect([code, stderr]).toEqual([0, '']);
    return stdout;
  };

  conforms(
    'over HTTPS with a token',
    () => openDoor({ ...daemon.server, url: `${daemon.server.url}/mcp`, translate: translation(OPERATOR) }),
    OF_DAEMON,
  );

  conforms('over stdio', () => openStdioDoor(() => stdioTransport(home), translation(OPERATOR)), OF_STDIO);

  conforms(
    'the server of an agent',
    async () => {
      const token = await vi.waitFor(() => inAgent('AGENTISO_AGENT_TOKEN'), WAIT);
      return openDoor({ url: `${await inAgent('AGENTISO_HTTP_URL')}/mcp`, token, translate: translation(AGENT) });
    },
    OF_AGENT,
  );
});
