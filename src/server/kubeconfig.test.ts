import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { kubeconfigText, writeKubeconfig } from './kubeconfig.ts';

const caPem = `-----BEGIN CERTIFICATE-----\n${'QUJD'.repeat(300)}\n-----END CERTIFICATE-----\n`;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'agentiso-kubeconfig-'));
});
afterEach(() => rm(home, { recursive: true }));

it('says where the server is, whom to trust and who one is', () => {
  expect(parse(kubeconfigText({ server: 'https://[::1]:6443', caPem, token: '-1e5', namespace: 'work' }))).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'agentiso', cluster: { server: 'https://[::1]:6443', 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
    ],
    users: [{ name: 'agentiso', user: { token: '-1e5' } }],
    contexts: [{ name: 'agentiso', context: { cluster: 'agentiso', user: 'agentiso', namespace: 'work' } }],
    'current-context': 'agentiso',
  });
});

it('names no namespace unless it is told one', () => {
  expect(kubeconfigText({ server: 'https://localhost:1', caPem, token: 'x' })).not.toContain('namespace');
});

it('holds the certificate on one line, as every reader of YAML takes it', () => {
  const line = kubeconfigText({ server: 'https://localhost:1', caPem, token: 'x' })
    .split('\n')
    .find((text) => text.includes('certificate-authority-data'));
  expect(line?.trim()).toBe(`certificate-authority-data: ${Buffer.from(caPem).toString('base64')}`);
});

it('is written for its owner only, in place of the old one', async () => {
  const path = join(home, 'new', 'folder', 'kubeconfig');
  await writeKubeconfig(path, 'one');
  await chmod(path, 0o644);
  await writeKubeconfig(path, 'two');
  expect(await readFile(path, 'utf8')).toBe('two');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(home, 'new'))).mode & 0o777).toBe(0o700);
  expect(await readdir(join(home, 'new', 'folder'))).toEqual(['kubeconfig']);
});

it('leaves the rights of a folder that was there', async () => {
  await mkdir(join(home, 'shared'));
  await chmod(join(home, 'shared'), 0o755);
  await writeKubeconfig(join(home, 'shared', 'config'), 'x');
  expect((await stat(join(home, 'shared'))).mode & 0o777).toBe(0o755);
});

it('names the file that it cannot write', async () => {
  await writeFile(join(home, 'file'), '');
  await expect(writeKubeconfig(join(home, 'file', 'config'), 'x')).rejects.toMatchObject({
    code: 'IoError',
    message: expect.stringContaining('config'),
  });
});
