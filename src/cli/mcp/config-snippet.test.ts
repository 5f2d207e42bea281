import { expect, it } from 'vitest';
import { CONFIG_CLIENTS, configFor } from './config-snippet.ts';

it.each(CONFIG_CLIENTS.filter((client) => client !== 'codex'))('%s takes JSON', (client) => {
  const servers = Object.values(JSON.parse(configFor(client, '/srv', '.agentiso')) as object);
  expect(servers).toEqual([{ agentiso: { command: 'agentiso', args: ['mcp', '--home', '/srv/.agentiso'] } }]);
});

it('codex takes TOML', () => {
  expect(configFor('codex', '/srv', '/home/me')).toBe('[mcp_servers.agentiso]\ncommand = "agentiso"\nargs = ["mcp","--home","/home/me"]\n');
});
