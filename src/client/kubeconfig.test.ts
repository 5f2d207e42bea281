import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inlineOrFile, kubeconfigFiles, type Named, readKubeconfig, selectContext } from './kubeconfig.ts';
import { setCurrentContext } from './kubeconfig-edit.ts';
import { kubeconfigView } from './kubeconfig-view.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-kubeconfig-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const FIRST = `# mine
clusters:
- {name: near, cluster: {server: "https://near:6443", certificate-authority-data: ${Buffer.from('CA').toString('base64')}}}
users:
- {name: me, user: {token: secret}}
contexts:
- {name: here, context: {cluster: near, user: me, namespace: work}}
- {name: lost, context: {cluster: far}}
current-context: here # for now
`;
const SECOND = `clusters:
- {name: near, cluster: {server: "https://other:6443"}}
- {name: far, cluster: {server: "https://far:6443", certificate-authority: ca.pem}}
current-context: lost
`;

describe('kubeconfig files', () => {
  it('are the given one, those of the environment, or the one in the home folder', () => {
    const userHome = '/home/me';
    expect(kubeconfigFiles({ given: 'x', fromEnvironment: 'a:b', userHome })).toEqual(['x']);
    expect(kubeconfigFiles({ fromEnvironment: 'a::b', userHome })).toEqual(['a', 'b']);
    expect(kubeconfigFiles({ fromEnvironment: '', userHome })).toEqual(['/home/me/.kube/config']);
  });

  it('are merged: the first to define something wins', async () => {
    const fromEnvironment = `${write('a', FIRST)}:${write('b', SECOND)}:${join(folder, 'absent')}`;
    const config = await readKubeconfig({ fromEnvironment, userHome: folder });
    expect(config.currentContext).toBe('here');
    expect(config.clusters.map(({ name, value }) => `${name} ${value.server}`)).toEqual(['near https://near:6443', 'far https://far:6443']);
    const { cluster, user } = selectContext(config, undefined);
    expect([cluster.name, user?.value.token]).toEqual(['near', 'secret']);
    expect(selectContext(config, 'lost').cluster.name).toBe('far');
  });

  it('may hold certificates, or name the files of them, relative to themselves', async () => {
    write('ca.pem', 'OTHER CA');
    const config = await readKubeconfig({ fromEnvironment: `${write('a', FIRST)}:${write('b', SECOND)}`, userHome: folder });
    const authorities = config.clusters.map((cluster) => inlineOrFile(cluster as Named<Record<string, unknown>>, 'certificate-authority'));
    expect(authorities).toEqual(['CA', 'OTHER CA']);
  });

  it.each([
    { what: 'an unknown context', text: FIRST, context: 'her', want: 'no context exists with the name: "her"; did you mean here?' },
    { what: 'a context of a cluster that is not there', text: FIRST, context: 'lost', want: 'no cluster exists with the name: "far"' },
    { what: 'no current context', text: 'contexts: []', context: undefined, want: 'current-context is not set' },
  ])('say what is wrong: $what', async ({ text, context, want }) => {
    const config = await readKubeconfig({ given: write('a', text), userHome: folder });
    expect(() => selectContext(config, context)).toThrow(want);
  });

  it.each([
    { what: 'no YAML', text: 'a: [', want: /error loading config file ".*\/a"/ },
    { what: 'a list', text: '- a', want: /expected a mapping/ },
  ])('must be a mapping: $what', async ({ text, want }) => {
    await expect(readKubeconfig({ given: write('a', text), userHome: folder })).rejects.toThrow(want);
  });

  it('must exist when they were asked for', async () => {
    await expect(readKubeconfig({ given: join(folder, 'absent'), userHome: folder })).rejects.toThrow('unable to read the kubeconfig');
  });

  it('keep their comments and their mode when the current context changes', async () => {
    const file = write('a', FIRST);
    await setCurrentContext(await readKubeconfig({ given: file, userHome: folder }), 'lost');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('# mine\n');
    expect(text).toContain('current-context: lost # for now\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('are shown without secrets, and cut down to one context', async () => {
    const config = await readKubeconfig({ given: write('a', FIRST), userHome: folder });
    const shown = JSON.stringify(kubeconfigView(config, { isRaw: false }));
    expect(shown).toContain('"token":"REDACTED"');
    expect(shown).toContain('"certificate-authority-data":"DATA+OMITTED"');
    expect(JSON.stringify(kubeconfigView(config, { isRaw: true }))).toContain('"token":"secret"');
    expect(kubeconfigView(config, { isRaw: false, only: 'here' })).toMatchObject({ contexts: [{ name: 'here' }], users: [{ name: 'me' }] });
  });
});
