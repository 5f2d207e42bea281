import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { backendNamed } from '#backends/all-backends.ts';
import { programOf } from '#backends/tool-places.ts';
import { chooseBackend, refuseUnknownModel } from './choose-backend.ts';

let tools: string;
beforeAll(() => {
  tools = mkdtempSync(join(tmpdir(), 'agentiso-tools-'));
  for (const name of ['codex', 'qwen'] as const) {
    for (const binary of backendNamed(name).binaries) {
      const program = programOf(tools, backendNamed(name), binary);
      mkdirSync(dirname(program), { recursive: true });
      writeFileSync(program, '');
    }
  }
});
afterAll(() => rmSync(tools, { recursive: true }));

const choose = (spec: Partial<Agent['spec']>) => chooseBackend({ spec } as Agent, tools);

it('takes the backend that is asked for', async () => {
  expect(await choose({ backend: 'codex' })).toEqual({ backend: 'codex', tools, toolFolder: 'codex@0.166.0+2.6.0' });
  expect(await choose({ backend: 'qwen', model: 'm' })).toEqual({ backend: 'qwen', tools, toolFolder: 'qwen@0.24.4' });
});

it('needs no tools for the shell', async () => {
  expect(await choose({ backend: 'shell' })).toEqual({ backend: 'shell' });
  expect(await chooseBackend({ spec: { backend: 'shell' } } as Agent, undefined)).toEqual({ backend: 'shell' });
});

it('takes the fallback where the first is missing, and only where one is named', async () => {
  expect(await choose({ backend: 'gemini', fallback: 'codex' })).toEqual({ backend: 'codex', tools, toolFolder: 'codex@0.166.0+2.6.0' });
  expect(await choose({ backend: 'gemini', fallback: 'shell' })).toEqual({ backend: 'shell' });
  await expect(choose({ backend: 'gemini', fallback: null })).rejects.toMatchObject({
    reason: 'BackendMissing',
    message: 'gemini: not installed; this helps: agentiso backends install gemini',
  });
  await expect(choose({ backend: 'gemini', fallback: 'droid' })).rejects.toThrow(
    'gemini: not installed; droid: not installed; this helps:',
  );
  await expect(choose({ backend: 'acp' })).rejects.toThrow(
    /^acp: not configured: there is no .*agent\.json; this helps: agentiso backends$/,
  );
});

it('asks for a model where the agent has no choice of its own', async () => {
  await expect(choose({ backend: 'qwen' })).rejects.toMatchObject({ reason: 'ModelMissing' });
});

it('takes no model that the provider of the backend in use is known not to have', () => {
  const models = (provider: string) => (provider === 'openai' ? ['gpt-x'] : undefined);
  const refuse = (spec: Partial<Agent['spec']>, backend: 'codex' | 'gemini') => refuseUnknownModel({ spec } as Agent, { backend }, models);
  expect(() => refuse({ backend: 'codex', model: 'gtp-x' }, 'codex')).toThrow(
    'model "gtp-x": provider openai has gpt-x; did you mean gpt-x?',
  );
  refuse({ backend: 'codex', model: 'gpt-x' }, 'codex');
  // Its fallback has stepped in.
  refuse({ backend: 'codex', fallback: 'gemini', model: 'gtp-x' }, 'gemini');
});

it('does not start an agent that would not keep the rules it is given', async () => {
  const permissions = { rules: [{ action: 'deny' as const, kind: 'execute' as const }], askSeconds: 300 };
  await expect(choose({ backend: 'codex', permissions })).rejects.toMatchObject({ reason: 'PermissionsUnsupported' });
  expect(await choose({ backend: 'qwen', model: 'm', permissions })).toEqual({ backend: 'qwen', tools, toolFolder: 'qwen@0.24.4' });
});

it('says so when there is no directory at all', async () => {
  await expect(chooseBackend({ spec: { backend: 'codex' } } as Agent, undefined)).rejects.toThrow(
    /^codex: this daemon has no tool directory/,
  );
});
