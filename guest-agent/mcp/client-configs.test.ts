import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { clientConfigs } from './client-configs.ts';
import { hasConfigs, writeConfigs } from './write-configs.ts';

const CONFIGS = clientConfigs({ command: '/run/bin/team', socket: '/run/agentiso/agent.sock', node: '/usr/bin/node' });
const ENV = { AGENTISO_SOCKET: '/run/agentiso/agent.sock', AGENTISO_NODE: '/usr/bin/node' };
const textOf = (client: string) => CONFIGS.find((config) => config.client === client)?.text ?? '';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'agentiso-home-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

it.each(['claude', 'gemini', 'qwen', 'droid', 'cursor', 'others'])('tells %s what to start', (client) => {
  const { agentiso } = JSON.parse(textOf(client)).mcpServers;
  expect(agentiso).toMatchObject({ command: '/run/bin/team', args: ['mcp'], env: ENV });
});

it('tells opencode and codex in their own words', () => {
  expect(JSON.parse(textOf('opencode')).mcp.agentiso).toEqual({
    type: 'local',
    command: ['/run/bin/team', 'mcp'],
    environment: ENV,
    enabled: true,
  });
  expect(textOf('codex')).toBe(`[mcp_servers.agentiso]
command = "/run/bin/team"
args = ["mcp"]
tool_timeout_sec = 150

[mcp_servers.agentiso.env]
AGENTISO_SOCKET = "/run/agentiso/agent.sock"
AGENTISO_NODE = "/usr/bin/node"
`);
});

it('is written where nothing is, for the agent alone, and leaves what is there', () => {
  writeFileSync(join(home, '.claude.json'), 'mine');
  expect(hasConfigs(home, CONFIGS)).toBe(false);
  const first = writeConfigs(home, CONFIGS);
  expect(first.filter(({ isNew }) => !isNew).map(({ client }) => client)).toEqual(['claude']);
  expect(readFileSync(join(home, '.claude.json'), 'utf8')).toBe('mine');
  for (const { client, path, text } of CONFIGS.filter((config) => config.client !== 'claude')) {
    expect(readFileSync(join(home, path), 'utf8'), client).toBe(text);
    expect(statSync(join(home, path)).mode & 0o777, client).toBe(0o600);
  }
  expect(writeConfigs(home, CONFIGS).some(({ isNew }) => isNew)).toBe(false);
  expect(hasConfigs(home, CONFIGS)).toBe(true);
  const left = readdirSync(home, { recursive: true }).filter((name) => String(name).endsWith('.new'));
  expect(left).toEqual([]);
});

it('does not follow a link into somebody else’s file', () => {
  const other = join(home, 'other');
  symlinkSync(other, join(home, '.claude.json'));
  writeConfigs(home, CONFIGS);
  expect(readdirSync(home)).not.toContain('other');
});
