import { describe, expect, it } from 'vitest';
import type { BackendHere, CommandContext, CredentialsHere } from '../command.ts';
import { backendsCommand } from './backends.ts';

const backends: readonly BackendHere[] = [
  { name: 'shell', title: 'Shell', release: '', isInstallable: false, folder: '' },
  { name: 'codex', title: 'Codex', release: '1.0.0', isInstallable: true, folder: '/t/codex@1.0.0', provider: 'openai' },
  { name: 'qwen', title: 'Qwen Code', release: '2.0.0', isInstallable: true, missing: 'not installed', provider: 'openai' },
  { name: 'gemini', title: 'Gemini', release: '3.0.0', isInstallable: true, missing: 'not installed', provider: 'gemini' },
  {
    name: 'acp',
    title: 'Agent Client Protocol',
    release: '',
    isInstallable: false,
    missing: 'not configured: there is no /t/acp/agent.json',
  },
];

const credentials: CredentialsHere = {
  file: '/h/credentials.yaml',
  isDaemon: true,
  providers: [
    { name: 'openai', variables: ['OPENAI_API_KEY'] },
    { name: 'gemini', variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], from: 'environment' },
    // Nobody here needs it.
    { name: 'anthropic', variables: ['ANTHROPIC_API_KEY'] },
  ],
};

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
    inspectCredentials: async (home?: string) => ({ ...credentials, ...(home === '/bad' && { problem: 'its mode is 0644' }) }),
    openBackends: async () => ({
      tools: '/t',
      list: async () => backends,
      prune: async () => [{ folder: '/t/codex@0.1.0' }, { folder: '/t/qwen@0.1.0', usedBy: 7 }],
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
      'NAME     AGENT                   RELEASE   INSTALLED   CREDENTIAL   WHERE, OR WHAT HELPS',
      'shell    Shell                   -         yes         -            part of every workspace',
      'codex    Codex                   1.0.0     yes         no openai    /t/codex@1.0.0',
      'qwen     Qwen Code               2.0.0     no          no openai    agentiso backends install qwen',
      'gemini   Gemini                  3.0.0     no          gemini       agentiso backends install gemini',
      'acp      Agent Client Protocol   -         no          -            not configured: there is no /t/acp/agent.json',
      '',
      'The daemon has no credential for these. Write below providers: in /h/credentials.yaml, mode 0600:',
      '  openai: {apiKey: YOUR-KEY}   # codex, qwen; or OPENAI_API_KEY=YOUR-KEY for agentiso serve',
      '',
    ]);
    expect(JSON.parse((await run([], { output: 'json' })).out)).toEqual({ tools: '/t', backends, credentials });
  });

  it('says why a file of credentials is not used', async () => {
    const { out } = await run([], { home: '/bad' });
    expect(out).toContain('/h/credentials.yaml is not used: its mode is 0644');
  });

  it('installs what is named, or everything', async () => {
    expect(await run(['install', 'qwen', 'codex'])).toMatchObject({
      code: 0,
      installed: ['qwen', 'codex'],
      out: 'qwen installed: /t/qwen\ncodex was installed already: /t/codex\n',
    });
    expect((await run(['install'], { all: true })).installed).toEqual(['codex', 'qwen', 'gemini']);
  });

  it('says what was removed, and what could not be', async () => {
    expect(await run(['prune'])).toMatchObject({ code: 0, out: 'removed /t/codex@0.1.0\n/t/qwen@0.1.0 stays: process 7 uses it\n' });
  });

  it('goes on after a failure, and ends with 1', async () => {
    expect(await run(['install', 'codex', 'qwen'], {}, ['codex'])).toMatchObject({
      code: 1,
      installed: ['qwen'],
      err: expect.stringContaining('agentiso: npm could not install codex\n'),
    });
  });

  it.each([
    [['install'], 'which? agentiso backends install NAME…; there are codex, qwen, gemini'],
    [['install', 'codec'], '"codec" cannot be installed; did you mean codex?'],
    [['install', 'acp'], '"acp" cannot be installed; there are codex, qwen, gemini'],
    [['prune', 'codex'], 'backends prune takes no names'],
    [['remove'], 'unknown action "remove"; agentiso backends install NAME…, prune, or none to list them'],
  ])('refuses %j', async (args, message) => {
    await expect(run(args)).rejects.toThrow(message);
  });
});
