/** What kubectl says about the server and about the one who asks: discovery, documents, health, identities and their rights. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/daemon.ts';
import { kubectlFor, kubectls } from '../support/kubectl.ts';
import { withEveryKubectl } from '../support/kubectl-api.ts';
import { requires } from '../support/requirements.ts';
import { type ServedHome, serveHome } from '../support/serve-api.ts';

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

withEveryKubectl('the server as kubectl sees it', (test) => {
  test('lists its resources and versions', async ({ ok }) => {
    expect(lines(await ok(['api-resources', '--api-group=agentiso.dev', '-o', 'name'])).sort()).toEqual(
      ['agents', 'merges', 'snapshots', 'tasks', 'teams'].map((plural) => `${plural}.agentiso.dev`),
    );
    expect(await ok(['api-resources'])).toMatch(/teams\s+tm\s+agentiso.dev\/v1alpha1\s+true\s+Team/);
    expect(await ok(['api-resources', '--namespaced=false', '-o', 'wide'])).toMatch(
      /namespaces\s+ns\s+v1\s+false\s+Namespace\s+create,delete,/,
    );
    expect(await ok(['api-resources', '--categories=agentiso', '-o', 'name'])).not.toContain('configmaps');
    expect(lines(await ok(['api-versions']))).toEqual(expect.arrayContaining(['agentiso.dev/v1alpha1', 'apiextensions.k8s.io/v1', 'v1']));
  });

  test('has a version without a warning, and is well', async ({ ok, run, daemon }) => {
    const { code, stdout, stderr } = await run(['version']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/Server Version: v1\.\d+\.\d+\+agentiso/);
    expect(await ok(['cluster-info'])).toContain(daemon.server.url);
    expect(await ok(['get', '--raw', '/healthz'])).toBe('ok');
    expect(await ok(['get', '--raw', '/readyz?verbose'])).toContain('readyz check passed');
    expect(await ok(['get', '--raw', '/metrics'])).toMatch(/^# (HELP|TYPE) /m);
    const documents = JSON.parse(await ok(['get', '--raw', '/openapi/v3'])) as { paths: Record<string, { serverRelativeURL: string }> };
    expect(Object.keys(documents.paths)).toContain('apis/agentiso.dev/v1alpha1');
    const url = documents.paths['apis/agentiso.dev/v1alpha1']?.serverRelativeURL ?? '';
    expect(JSON.parse(await ok(['get', '--raw', url]))).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
  });

  test('has definitions of its kinds, which are established', async ({ ok, fails }) => {
    expect(lines(await ok(['get', 'crd', '-o', 'name']))).toEqual(
      ['agents', 'merges', 'snapshots', 'tasks', 'teams'].map(
        (plural) => `customresourcedefinition.apiextensions.k8s.io/${plural}.agentiso.dev`,
      ),
    );
    expect(await ok(['wait', 'crd/teams.agentiso.dev', '--for=condition=Established', '--timeout=20s'])).toContain('condition met');
    expect(await fails(['delete', 'crd', 'teams.agentiso.dev'])).toContain('MethodNotAllowed');
  });

  test('knows the admin, who may do everything', async ({ ok }) => {
    expect(await ok(['auth', 'can-i', 'delete', 'teams'])).toBe('yes\n');
    expect(await ok(['auth', 'can-i', '*', '*', '--all-namespaces'])).toBe('yes\n');
    expect(await ok(['auth', 'can-i', 'get', '/metrics'])).toBe('yes\n');
    expect(await ok(['auth', 'can-i', '--list'])).toMatch(/\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/);
    expect(await ok(['auth', 'whoami'])).toMatch(/Username\s+admin\nGroups\s+\[system:masters system:authenticated\]/);
  });

  test('sends away whoever has no token, or a wrong one', async ({ ok, fails, file, daemon }) => {
    const { server } = daemon;
    const config = (user: object) =>
      file(
        'other',
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Config',
          'current-context': 'x',
          clusters: [
            { name: 'x', cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') } },
          ],
          users: [{ name: 'x', user }],
          contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
        }),
      );
    const wrong = await fails(['get', 'tasks', '--kubeconfig', config({ token: 'wrong' })]);
    expect(wrong).toContain('You must be logged in to the server');
    expect(await fails(['get', 'tasks', '--token=wrong', '--kubeconfig', config({ token: server.token })])).toContain(
      'You must be logged in',
    );
    // Discovery has to be known by then: kubectl swallows what a server says while it asks for that.
    await ok(['get', 'tasks']);
    expect(await fails(['get', 'tasks', '--as=somebody'])).toContain('nobody can be impersonated here');
  });
});

const LEAD = 'default/crew/lead';
const CODER = 'default/crew/coder';

requires(kubectls.ok, kubectls.reason)('identities as kubectl sees them', () => {
  const { folder, remove } = temporaryFolder();
  let served: ServedHome;
  beforeAll(async () => {
    served = await serveHome(join(folder, 'home'), [LEAD, CODER]);
  });
  afterAll(async () => {
    await served.end();
    remove();
  });
  describe.each(kubectls.binaries)('kubectl $version', (binary) => {
    const kubectlOf = (who: string) => {
      const own = join(folder, `${binary.version}-${who.replaceAll('/', '-')}`);
      mkdirSync(own, { recursive: true });
      const kubectl = kubectlFor(binary, served.kubeconfig, own);
      const token = `--token=${served.token(who)}`;
      return {
        canI: async (...args: string[]) => {
          const { code, stdout } = await kubectl.run(['auth', 'can-i', ...args, token]);
          return args[0] === '--list' ? stdout : `${stdout.trim().split(' ')[0]} ${code}`;
        },
        ok: (args: string[]) => kubectl.ok([...args, token]),
        fails: (args: string[], input?: string) => kubectl.fails([...args, token], input === undefined ? {} : { input }),
      };
    };

    it.concurrent('a viewer reads everything and writes nothing', async () => {
      const { canI, ok, fails } = kubectlOf('viewer');
      expect(await ok(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])).toBe('eve');
      expect(await Promise.all([canI('list', 'teams'), canI('get', 'ns'), canI('watch', 'events', '-A'), canI('get', '/metrics')])).toEqual(
        Array(4).fill('yes 0'),
      );
      expect(await Promise.all([canI('create', 'teams'), canI('patch', 'tasks', '--subresource=status'), canI('delete', 'ns')])).toEqual(
        Array(3).fill('no 1'),
      );
      expect(await canI('--list')).toMatch(/\*\.\*\s+\[\]\s+\[\]\s+\[get list watch\]/);
      expect(await ok(['get', 'teams,tasks', '-A'])).toBe('');
      expect(await fails(['create', 'ns', 'mine'])).toMatch(/Forbidden.*User "eve" cannot create resource "namespaces"/);
      expect(await fails(['create', '-f', '-'], 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n')).toContain('Forbidden');
    });

    it.concurrent('an agent sees its team and adds to its tasks', async () => {
      const coder = kubectlOf(CODER);
      const lead = kubectlOf(LEAD);
      expect(await coder.ok(['auth', 'whoami'])).toMatch(
        /Username\s+agent:default\/crew\/coder\nGroups\s+\[agentiso:agents agentiso:team:default\/crew /,
      );
      expect(
        await Promise.all([
          coder.canI('list', 'tasks'),
          coder.canI('create', 'tasks'),
          coder.canI('get', 'teams/crew'),
          lead.canI('patch', 'tasks'),
        ]),
      ).toEqual(Array(4).fill('yes 0'));
      expect(
        await Promise.all([
          coder.canI('patch', 'tasks'),
          coder.canI('delete', 'tasks'),
          coder.canI('get', 'teams/other'),
          coder.canI('list', 'tasks', '-n', 'kube-system'),
          coder.canI('list', 'tasks', '-A'),
          coder.canI('get', 'cm'),
          coder.canI('get', '/metrics'),
          lead.canI('delete', 'tasks'),
          lead.canI('patch', 'tasks', '--subresource=status'),
        ]),
      ).toEqual(Array(9).fill('no 1'));
      expect(await coder.canI('--list')).toMatch(/tasks\.agentiso\.dev\s+\[\]\s+\[\]\s+\[get list watch create\]/);
      expect(await coder.fails(['get', 'tasks', '-A'])).toContain('Forbidden');
      expect(await coder.fails(['get', 'team', 'other'])).toMatch(/Forbidden|NotFound/);
    });
  });
});
