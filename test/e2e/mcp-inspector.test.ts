/** The inspector of the MCP project, in its mode for the command line, on a real daemon over both transports. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** It finds its own package.json only from here. */
const INSPECTOR = join(ROOT, 'node_modules/@modelcontextprotocol/inspector-cli/build');
const PROGRAM = join(ROOT, 'dist/agentiso.js');
const TIMEOUT_MS = 60_000;
const TEAM = {
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  metadata: { name: 'shop' },
  spec: { description: 'sells things', isolation: { driver: 'process' }, roles: [{ name: 'dev' }] },
};

const place = temporaryFolder();
const home = join(place.folder, 'home');
const caFile = join(place.folder, 'ca.pem');
let daemon: Daemon;

beforeAll(async () => {
  daemon = await startDaemon(home);
  writeFileSync(caFile, daemon.server.ca);
  const made = await daemon.api.call('POST', '/apis/agentiso.dev/v1alpha1/namespaces/default/teams', { body: TEAM });
  expect(made.status).toBe(201);
});

afterAll(async () => {
  expect(await daemon.stop()).toMatchObject({ code: 0, stderr: '' });
  place.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every method, looked at by assertions
type Any = any;

interface Inspected {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function inspector(...args: readonly string[]): Promise<Inspected> {
  const options = { cwd: INSPECTOR, env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile }, timeout: TIMEOUT_MS };
  return new Promise((resolve) => {
    execFile(process.execPath, ['cli.js', '--cli', ...args], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

const WAYS: readonly [string, () => readonly string[]][] = [
  ['stdio', () => [process.execPath, PROGRAM, 'mcp', '--home', home]],
  ['HTTPS', () => [`${daemon.server.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${daemon.server.token}`]],
];

describe.each(WAYS)('over %s', (_, target) => {
  const asked = async (...args: readonly string[]): Promise<Any> => {
    const { code, stdout, stderr } = await inspector(...target(), ...args);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  it('lists tools with schemas of what they take and give', async () => {
    const { tools } = await asked('--method', 'tools/list');
    expect(tools.find(({ name }: Any) => name === 'get')).toMatchObject({
      inputSchema: { type: 'object', properties: { kind: { type: 'string' } }, required: expect.arrayContaining(['kind']) },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    });
  });

  it('calls a tool with arguments', async () => {
    const args = ['--tool-name', 'get', '--tool-arg', 'kind=team', 'name=shop'];
    const { structuredContent } = await asked('--method', 'tools/call', ...args);
    expect(structuredContent.object).toMatchObject({ metadata: { name: 'shop' }, spec: { description: 'sells things' } });
  });

  it('lists resources and reads one', async () => {
    const { resources } = await asked('--method', 'resources/list');
    expect(resources.map(({ uri }: Any) => uri)).toEqual(expect.arrayContaining(['agentiso://teams', 'agentiso://teams/shop/status']));
    const { contents } = await asked('--method', 'resources/read', '--uri', 'agentiso://teams');
    expect(contents).toMatchObject([{ uri: 'agentiso://teams', mimeType: 'text/markdown', text: expect.stringContaining('| shop |') }]);
  });

  it('lists prompts', async () => {
    const { prompts } = await asked('--method', 'prompts/list');
    expect(prompts.map(({ name }: Any) => name)).toContain('plan_sprint');
  });
});
