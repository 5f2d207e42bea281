/** Every launch as a file beside this one: what is started, in which environment, with which configuration. */
import { describe, expect, it } from 'vitest';
import { allBackends, installableBackends } from './all-backends.ts';
import { type AcpContext, type Backend, type McpServer, PLACEHOLDER_KEY } from './backend.ts';

const context: AcpContext = {
  tools: '/opt/agentiso/tools',
  home: '/home/agent',
  workspace: '/workspace',
  baseUrl: 'http://127.0.0.1:3128/agentiso/providers/some',
  model: 'some-model',
  permissions: 'allow',
};
const team: McpServer = { name: 'team', command: '/run/bin/team', args: ['mcp'], env: { AGENTISO_SOCKET: '/run/agentiso/agent.sock' } };
const prompt = '--yolo is what this prompt begins with, and "it" has\nlines.';

function launchesOf({ acp, oneShot }: Backend) {
  return {
    session: acp && { ...acp.launch(context), mode: acp.mode(context) },
    sessionThatAsks: acp && { ...acp.launch({ ...context, permissions: 'ask' }), mode: acp.mode({ ...context, permissions: 'ask' }) },
    oneShot: oneShot?.launch({ ...context, prompt, mcpServers: [team] }),
  };
}

it.each(installableBackends)('$name is started as written down', async (backend) => {
  await expect(`${JSON.stringify(launchesOf(backend), undefined, 2)}\n`).toMatchFileSnapshot(`golden/${backend.name}.golden`);
});

describe.each(installableBackends)('$name', (backend) => {
  const { session, oneShot } = launchesOf(backend);

  it('has an exact version for every package', () => {
    for (const { version } of backend.packages) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('starts a program of its own folder, which it lists', () => {
    const folder = `/opt/agentiso/tools/${backend.name}@${backend.packages.map(({ version }) => version).join('+')}/node_modules/.bin/`;
    for (const launch of [session, oneShot]) {
      const [program = ''] = launch?.argv ?? [];
      expect(program.startsWith(folder)).toBe(true);
      expect(backend.binaries).toContain(program.slice(folder.length));
    }
  });

  it('gives the prompt on standard input, where nothing of it can be an option or be cut off', () => {
    expect(oneShot?.stdin).toBe(prompt);
    expect(JSON.stringify(oneShot?.argv)).not.toContain('is what this prompt begins with');
    expect(session?.stdin).toBeUndefined();
  });

  it('carries no key but the placeholder', () => {
    const text = JSON.stringify([session, oneShot]);
    expect(text).toContain(PLACEHOLDER_KEY);
    expect(text.match(/\b(?:sk|fk)-[\w-]+/g)?.filter((key) => !key.endsWith('-agentiso-placeholder'))).toEqual([]);
  });

  it('reaches its model at the given place, by the given name', () => {
    for (const launch of [session, oneShot]) {
      expect(JSON.stringify(launch)).toContain(context.baseUrl);
      expect(JSON.stringify(launch)).toContain('some-model');
    }
  });

  it('knows the servers of MCP by its configuration in one shot, and by session/new otherwise', () => {
    expect(JSON.stringify(oneShot)).toContain('/run/bin/team');
    expect(JSON.stringify(session)).not.toContain('/run/bin/team');
  });

  it('writes below its home and nowhere else', () => {
    for (const { path } of [...(session?.files ?? []), ...(oneShot?.files ?? [])]) expect(path).toMatch(/^\.[\w./-]+$/);
  });

  it('leaves the choice of a model to the agent where it has one', () => {
    const { model, ...rest } = context;
    const without = backend.oneShot?.launch({ ...rest, prompt, mcpServers: [] });
    expect(backend.model?.mustBeNamed || !JSON.stringify(without).includes(`${model}`)).toBe(true);
  });
});

it('has one backend per name', () => {
  expect(new Set(allBackends.map(({ name }) => name)).size).toBe(allBackends.length);
});
