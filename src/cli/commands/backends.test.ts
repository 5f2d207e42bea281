import { describe, expect, it } from 'vitest';
import type { BackendHere, CommandContext } from '../command.ts';
import { backendsCommand } from './backends.ts';

const backends: readonly BackendHere[] = [
  { name: 'shell', title: 'Shell', release: '', isInstallable: false, folder: '' },
  { name: 'codex', title: 'Codex', release: '1.0.0', isInstallable: true, folder: '/t/codex@1.0.0' },
  { name: 'qwen', title: 'Qwen Code', release: '2.0.0', isInstallable: true, missing: 'not installed' },
  {
    name: 'acp',
    title: 'Agent Client Protocol',
    release: '',
    isInstallable: false,
    missing: 'not configured: there is no /t/acp/agent.json',
  },
];

async function run(args: readonly string[], options = {}, fail: readonly string[] = []) {
  const said = { out: '', err: '', installed: [] as string[] };
  const context = {
    out(text: string) {
      said.out += text;
    },
    err(text: string) {
      said.err += text;
    },
    signal: new AbortController().signal,
    openBackends: async () => ({
      tools: '/t',
      list: async () => backends,
      async install(name: string) {
        if (fail.includes(name)) throw new Error(`npm could not install ${name}`);
        said.installed.push(name);
        return { folder: `/t/${name}`, isNew: name !== 'codex' };
      },
    }),
  } as unknown as CommandContext;
  return { code: await backendsCommand.run(args, options, context), ...said };
}

describe('agentiso backends', () => {
  it('says what is installed where, and what helps with the rest', async () => {
    const { code, out } = await run([]);
    expect(code).toBe(0);
    expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
      'NAME    AGENT                   RELEASE   INSTALLED   WHERE, OR WHAT HELPS',
      'shell   Shell                   -         yes         part of every workspace',
      'codex   Codex                   1.0.0     yes         /t/codex@1.0.0',
      'qwen    Qwen Code               2.0.0     no          agentiso backends install qwen',
      'acp     Agent Client Protocol   -         no          not configured: there is no /t/acp/agent.json',
      '',
    ]);
    expect(JSON.parse((await run([], { output: 'json' })).out)).toEqual({ tools: '/t', backends });
  });

  it('installs what is named, or everything', async () => {
    expect(await run(['install', 'qwen', 'codex'])).toMatchObject({
      code: 0,
      installed: ['qwen', 'codex'],
      out: 'qwen installed: /t/qwen\ncodex was installed already: /t/codex\n',
    });
    expect((await run(['install'], { all: true })).installed).toEqual(['codex', 'qwen']);
  });

  it('goes on after a failure, and ends with 1', async () => {
    expect(await run(['install', 'codex', 'qwen'], {}, ['codex'])).toMatchObject({
      code: 1,
      installed: ['qwen'],
      err: expect.stringContaining('agentiso: npm could not install codex\n'),
    });
  });

  it.each([
    [['install'], 'which? agentiso backends install NAME…; there are codex, qwen'],
    [['install', 'codec'], '"codec" cannot be installed; did you mean codex?'],
    [['install', 'acp'], '"acp" cannot be installed; there are codex, qwen'],
    [['remove'], 'unknown action "remove"; agentiso backends install NAME…, or none to list them'],
  ])('refuses %j', async (args, message) => {
    await expect(run(args)).rejects.toThrow(message);
  });
});
