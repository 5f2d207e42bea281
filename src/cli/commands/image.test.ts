import { describe, expect, it } from 'vitest';
import { AgentisoError } from '#lib/errors.ts';
import type { CommandContext } from '../command.ts';
import type { ImagesHere } from '../image/images-here.ts';
import { runCli } from '../index.ts';

const built = { hash: '0123456789abcdef', builtAt: '2026-01-01T00:00:00Z', rootBytes: 300 * 2 ** 20, kernelRelease: '6.1.0' };
const images: ImagesHere = {
  directory: '/images',
  list: async () => [
    { name: 'base', description: 'git', built },
    { name: 'rust', description: 'Rust' },
  ],
  inspect: async (name) => ({ name, description: 'git', packages: [], ...(name === 'base' && details) }),
  verify: async () => false,
  async build(_name, { onProgress }) {
    onProgress({ text: 'downloading' });
    return { hash: built.hash };
  },
  prune: async ({ budgetBytes }) => ({ removed: [{ path: '/x', bytes: 2 ** 20 }], keptBytes: budgetBytes ?? 2 ** 21 }),
};
const details = {
  built,
  files: { kernel: '/k', initrd: '/i', root: '/r' },
  root: { rootSha256: 'ff', node: { version: 'v20' }, packages: [{ name: 'git', version: '1' }] },
};

async function run(args: readonly string[], more: Partial<CommandContext> & { images?: Partial<ImagesHere> } = {}) {
  let [out, err] = ['', ''];
  const code = await runCli(['image', ...args], {
    out: (text) => (out += text),
    err: (text) => (err += text),
    signal: new AbortController().signal,
    version: 'test',
    home: undefined,
    startDaemon: () => Promise.reject(new Error('not here')),
    openImages: async () => ({ ...images, ...more.images }),
    ...more,
  });
  return { code, out, err };
}

describe('agentiso image', () => {
  it('builds base unless another one is named, with its steps on standard error', async () => {
    expect(await run(['build'])).toEqual({ code: 0, out: `image base is ready: ${built.hash}\n`, err: 'downloading\n' });
    expect((await run(['build', 'rust'])).out).toContain('image rust is ready');
  });

  it('says in one line and a hint what is missing', async () => {
    const missing = new AgentisoError('Unavailable', 'mmdebstrap is not there', { hint: 'apt-get install mmdebstrap' });
    const { code, err } = await run(['build'], { images: { build: () => Promise.reject(missing) } });
    expect([code, err]).toEqual([1, 'agentiso: mmdebstrap is not there\n  apt-get install mmdebstrap\n']);
  });

  it('ends with 130 when interrupted', async () => {
    const controller = new AbortController();
    const build: ImagesHere['build'] = async (_name, { signal }) => {
      controller.abort();
      signal.throwIfAborted();
      return { hash: '' };
    };
    expect(await run(['build'], { signal: controller.signal, images: { build } })).toMatchObject({ code: 130, out: '' });
  });

  it('lists what is built and what could be', async () => {
    const { out } = await run(['list']);
    expect(out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['NAME', 'HASH', 'SIZE'],
      ['base', '0123456789ab', '300Mi'],
      ['rust', '<not built>', 'Rust'],
      [''],
    ]);
    expect(JSON.parse((await run(['list', '-o', 'json'])).out)).toHaveLength(2);
  });

  it('tells by its exit code that a root is not what was built', async () => {
    expect(await run(['inspect', 'base'])).toMatchObject({ code: 0, out: expect.stringContaining('SHA-256:') });
    expect(await run(['inspect', 'base', '--verify'])).toMatchObject({ code: 1, out: expect.stringContaining('Intact:') });
    expect(await run(['inspect', 'rust'])).toMatchObject({ code: 0, out: expect.stringContaining('agentiso image build rust') });
    expect((await run(['inspect', 'rust', '--verify'])).code).toBe(1);
  });

  it('says what prune removed, and fails when the budget could not be kept', async () => {
    expect((await run(['prune'])).out).toBe('removed 1Mi, kept 2Mi in /images\n');
    const prune: ImagesHere['prune'] = async () => ({ removed: [], keptBytes: 2 ** 31 });
    expect((await run(['prune', '--budget', '1Gi'], { images: { prune } })).code).toBe(1);
    expect((await run(['prune', '--budget', '2Gi'], { images: { prune } })).code).toBe(0);
  });

  it.each([
    [['frob']],
    [[]],
    [['inspect']],
    [['list', 'x']],
    [['build', 'a', 'b']],
    [['prune', '--budget', 'much']],
    [['build', '--budget', '1Gi']],
  ])('refuses %j as a wrong use', async (args) => {
    expect((await run(args)).code).toBe(2);
  });
});
