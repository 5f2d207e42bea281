/** One file, applied now by `up`, now by `apply` and now by kubectl: what it stops to say goes, whoever said it last. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliRun, runCli, startCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/daemon.ts';
import { kubectlFor, kubectls } from '../support/kubectl.ts';
import { requires } from '../support/requirements.ts';

const API = 'agentiso.dev/v1alpha1';

describe('a file that up has applied', () => {
  const place = temporaryFolder();
  const home = join(place.folder, 'home');
  const path = join(place.folder, 'task.yaml');
  let daemon: CliRun;
  beforeAll(async () => {
    daemon = startCli(['serve', '--home', home]);
    await daemon.said('agentiso ready');
    writeFileSync(
      path,
      JSON.stringify({ apiVersion: API, kind: 'Team', metadata: { name: 'none' }, spec: { suspend: true, roles: [{ name: 'w' }] } }),
    );
    expect(await cli('apply', '-f', path)).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    daemon.child.kill('SIGTERM');
    expect(await daemon.result).toMatchObject({ code: 0, stderr: '' });
    place.remove();
  });

  const cli = (command: string, ...args: string[]) => runCli([command, '--home', home, ...args]);
  const says = (name: string, spec: object, metadata: object = {}) =>
    writeFileSync(path, JSON.stringify({ apiVersion: API, kind: 'Task', metadata: { name, ...metadata }, spec }));
  /** It ends at once: nobody wants the tasks of these files done. */
  const up = async () => expect((await cli('up', '-f', path)).stderr).toMatch(/^task\/\S+ (created|configured|unchanged)$/m);
  const seen = async (name: string) => {
    const { spec, metadata } = JSON.parse((await cli('get', 'task', name, '-o', 'json')).stdout);
    const { title, description, priority } = spec;
    return { title, description, priority, labels: metadata.labels };
  };
  const all = { team: 'none', command: 'true', cancelled: true, title: 'x', description: 'y', priority: 1 };
  const less = { team: 'none', command: 'true', cancelled: true, title: 'z' };

  it('may say less to apply, which does not warn', async () => {
    says('a', all, { labels: { one: 'two' } });
    await up();
    expect((await cli('up', '-f', path)).stderr).toContain('task/a unchanged\n');
    says('a', less);
    expect(await cli('apply', '-f', path)).toEqual({ code: 0, stdout: 'task.agentiso.dev/a configured\n', stderr: '' });
    expect(await seen('a')).toEqual({ title: 'z', priority: 3 });
    expect(await cli('apply', '-f', path)).toEqual({ code: 0, stdout: 'task.agentiso.dev/a unchanged\n', stderr: '' });
    expect(await cli('diff', '-f', path)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('may say less to up than apply was told, and the other way round, any number of times', async () => {
    says('b', all, { labels: { one: 'two' } });
    for (const write of [() => cli('apply', '-f', path), up, () => cli('apply', '--server-side', '-f', path)]) {
      says('b', all, { labels: { one: 'two' } });
      await write();
      expect(await seen('b')).toMatchObject({ title: 'x', description: 'y', priority: 1, labels: { one: 'two' } });
      says('b', less);
      await up();
      expect(await seen('b')).toEqual({ title: 'z', priority: 3 });
      says('b', { ...less, description: 'again' });
      await up();
      says('b', less);
      expect(await cli('apply', '-f', path)).toMatchObject({ code: 0, stderr: '' });
      expect(await seen('b')).toEqual({ title: 'z', priority: 3 });
    }
  });

  it('keeps what others have set beside it', async () => {
    says('c', less);
    await up();
    await cli('label', 'task', 'c', 'by=hand');
    says('c', { ...less, description: 'mine' });
    await up();
    says('c', less);
    await cli('apply', '-f', path);
    expect(await seen('c')).toEqual({ title: 'z', priority: 3, labels: { by: 'hand' } });
  });

  requires(kubectls.ok, kubectls.reason)('and kubectl', () => {
    it.each(kubectls.binaries)('may say less to kubectl $version', async (binary) => {
      const { run } = kubectlFor(binary, join(home, 'kubeconfig'), place.folder);
      const name = `k-${binary.version.replaceAll('.', '-')}`;
      says(name, all, { labels: { one: 'two' } });
      await up();
      says(name, less);
      expect(await run(['apply', '-f', path])).toEqual({ code: 0, stdout: `task.agentiso.dev/${name} configured\n`, stderr: '' });
      expect(await seen(name)).toEqual({ title: 'z', priority: 3 });
      says(name, { team: 'none', command: 'true', cancelled: true });
      await up();
      expect(await seen(name)).toEqual({ priority: 3 });
    });
  });
});
