/** kubectl get in all its forms, describe, explain, events. */
import { expect } from 'vitest';
import { type Place, taskYaml, withEveryKubectl } from '../support/kubectl-api.ts';

interface ObjectList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const EMPTY_TASKS = ['b', 'a', 'c'];

async function withTasks({ ok }: Place): Promise<void> {
  const documents = EMPTY_TASKS.map((name, index) =>
    taskYaml(name, `title: task ${name}\n  priority: ${index + 1}`, `  labels: {name: ${name}, shared: "true"}\n`),
  );
  await ok(['create', '-f', '-'], { input: documents.join('---\n') });
}

const names = (text: string) => text.split('\n').filter((line) => line !== '');

withEveryKubectl('kubectl get', (test) => {
  test('prints tables with the columns of the kind, wide, with labels and without headers', async (place) => {
    const { ok } = place;
    await withTasks(place);
    const [header = '', ...rows] = names(await ok(['get', 'tasks']));
    expect(header.split(/\s{2,}/)).toEqual(['NAME', 'TEAM', 'PHASE', 'OWNER', 'PRIORITY', 'ATTEMPT', 'REASON', 'AGE']);
    expect(rows.map((row) => row.split(/\s+/)[0])).toEqual(['a', 'b', 'c']);
    expect(rows[0]).toMatch(/\s\d+s$/);
    const [wide = ''] = names(await ok(['get', 'tk', '-o', 'wide']));
    expect(wide).toMatch(/ASSIGNED TO\s+BLOCKED BY\s+EXIT\s+TITLE/);
    expect(await ok(['get', 'task', 'a', '--no-headers', '--show-labels'])).toMatch(/^a .*name=a,shared=true\n$/);
    expect(await ok(['get', 'task', 'a', '-L', 'name'])).toMatch(/AGE\s+NAME\n.* a\n$/);
    expect(await ok(['get', 'tasks.v1alpha1.agentiso.dev', 'a', '-o', 'name'])).toBe('task.agentiso.dev/a\n');
    expect(await ok(['get', 'tasks', '--server-print=false'])).toMatch(/^NAME\s+AGE\n/);
  });

  test('prints json, yaml, names, jsonpath, custom columns and templates', async (place) => {
    const { ok, file } = place;
    await withTasks(place);
    const list = JSON.parse(await ok(['get', 'tasks', '-o', 'json'])) as ObjectList & { kind: string };
    expect([list.kind, list.items.map(({ metadata }) => metadata.name)]).toEqual(['List', ['a', 'b', 'c']]);
    expect(await ok(['get', 'task/a', '-o', 'yaml'])).toMatch(/^apiVersion: agentiso.dev\/v1alpha1\nkind: Task\nmetadata:\n/);
    expect(await ok(['get', 'tasks', '-o', 'name'])).toBe('task.agentiso.dev/a\ntask.agentiso.dev/b\ntask.agentiso.dev/c\n');
    expect(await ok(['get', 'tasks', '-o', 'jsonpath={range .items[*]}{.spec.title};{end}'])).toBe('task a;task b;task c;');
    expect(await ok(['get', 'tasks', '-o', `jsonpath={.items[?(@.spec.priority==3)].metadata.name}`])).toBe('c');
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath-as-json={.spec.priority}'])).toBe('[\n    2\n]\n');
    expect(await ok(['get', 'tasks', '-o', 'custom-columns=N:.metadata.name,P:.spec.priority'])).toMatch(/^N +P\na +2\nb +1\nc +3\n$/);
    expect(await ok(['get', 'tasks', '-o', 'go-template={{range .items}}{{.metadata.name}} {{end}}'])).toBe('a b c ');
    const template = file('t.txt', '{{.kind}}');
    expect(await ok(['get', 'task', 'a', '-o', `go-template-file=${template}`])).toBe('Task');
    const bare = JSON.parse(await ok(['get', '--raw', `/apis/agentiso.dev/v1alpha1/namespaces/${place.namespace}/tasks/a`]));
    expect(bare).toMatchObject({ kind: 'Task', metadata: { name: 'a', generation: 1 } });
  });

  test('selects by label and field, and sorts', async (place) => {
    const { ok, fails, namespace } = place;
    await withTasks(place);
    const get = async (...args: string[]) =>
      names(await ok(['get', 'tasks', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\n"}{end}', ...args]));
    expect(await get('-l', 'name in (a, c)')).toEqual(['a', 'c']);
    expect(await get('-l', 'name!=a,shared')).toEqual(['b', 'c']);
    expect(await get('-l', '!shared')).toEqual([]);
    expect(await get('--field-selector', 'metadata.name=b')).toEqual(['b']);
    expect(await get('--field-selector', 'spec.team=nobody,metadata.name!=b')).toEqual(['a', 'c']);
    const sorted = async (by: string) =>
      names(await ok(['get', 'tasks', '--sort-by', by]))
        .slice(1)
        .map((row) => row.split(/\s+/)[0]);
    expect(await sorted('.spec.priority')).toEqual(['b', 'a', 'c']);
    expect(await sorted('{.metadata.name}')).toEqual(['a', 'b', 'c']);
    expect(await fails(['get', 'tasks', '--field-selector', 'spec.title=x'])).toContain('field label not supported: spec.title');
    expect(await fails(['get', 'tasks', '-l', 'a in ('])).toContain('unable to parse');
    const everywhere = await ok(['get', 'tasks', '-A', '--field-selector', `metadata.namespace=${namespace}`]);
    expect(names(everywhere)[0]).toMatch(/^NAMESPACE\s+NAME/);
    expect(
      names(everywhere)
        .slice(1)
        .map((row) => row.split(/\s+/).slice(0, 2).join('/')),
    ).toEqual(['a', 'b', 'c'].map((name) => `${namespace}/${name}`));
  });

  test('says what is not there', async ({ run, fails, namespace }) => {
    expect(await run(['get', 'tasks'])).toEqual({ code: 0, stdout: '', stderr: `No resources found in ${namespace} namespace.\n` });
    expect(await fails(['get', 'task', 'x'])).toBe('Error from server (NotFound): tasks.agentiso.dev "x" not found\n');
    expect(await run(['get', 'task', 'x', '--ignore-not-found'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await run(['get', 'pods'])).toEqual({ code: 0, stdout: '', stderr: `No resources found in ${namespace} namespace.\n` });
    expect(await fails(['get', 'widgets'])).toContain(`the server doesn't have a resource type "widgets"`);
    expect(await fails(['get', 'task', 'x', '-n', 'nowhere'])).toContain('not found');
  });

  test('gets several kinds at once, by category too', async (place) => {
    const { ok } = place;
    await withTasks(place);
    await ok(['create', 'configmap', 'm', '--from-literal=k=v']);
    expect(names(await ok(['get', 'tasks,cm', '-o', 'name']))).toEqual([
      'task.agentiso.dev/a',
      'task.agentiso.dev/b',
      'task.agentiso.dev/c',
      'configmap/m',
    ]);
    for (const category of ['all', 'agentiso']) {
      expect(names(await ok(['get', category, '-o', 'name']))).toEqual([
        'task.agentiso.dev/a',
        'task.agentiso.dev/b',
        'task.agentiso.dev/c',
      ]);
    }
  });

  test('follows changes with -w, and only them with --watch-only', async (place) => {
    const { ok, start } = place;
    await withTasks(place);
    const all = start(['get', 'tasks', '-w', '--output-watch-events']);
    const one = start(['get', 'task', 'a', '-w']);
    const only = start(['get', 'tasks', '--watch-only', '-o', 'jsonpath={.metadata.name}={.spec.title};']);
    await Promise.all([all.said('ADDED      c '), one.said('nobody')]);
    // Nothing tells when a watch that has nothing to say has begun: changes go on until it has seen one.
    let isSeen = false;
    const seen = only.said('=changed').then((text) => {
      isSeen = true;
      return text;
    });
    for (let count = 0; !isSeen; count++) await ok(['patch', 'task', 'a', '--type=merge', '-p', `{"spec":{"title":"changed ${count}"}}`]);
    expect(await seen).toMatch(/^a=changed/);
    await ok(['delete', 'task', 'b']);
    await all.said('DELETED    b ');
    expect(await all.said('MODIFIED   a ')).toMatch(/^EVENT\s+NAME.*\nADDED\s+a .*\nADDED\s+b .*\nADDED\s+c /);
    for (const { child, result } of [all, one, only]) {
      child.kill('SIGINT');
      await result;
    }
    const rows = names((await one.result).stdout);
    expect(rows.filter((row) => row.startsWith('NAME'))).toHaveLength(1);
    expect(rows.slice(1).every((row) => row.startsWith('a '))).toBe(true);
  });

  test('describes an object with its events', async ({ ok, daemon, namespace }) => {
    await ok(['create', '-f', '-'], { input: taskYaml('a', 'title: described', '  labels: {part: one}\n') });
    const { uid } = JSON.parse(await ok(['get', 'task', 'a', '-o', 'jsonpath-as-json={.metadata}']))[0] as { uid: string };
    const involvedObject = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', name: 'a', namespace, uid };
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const event = {
      metadata: { name: 'a.1' },
      involvedObject,
      reason: 'Noticed',
      message: 'by the test',
      type: 'Warning',
      count: 3,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: 'test' },
    };
    expect((await daemon.api.call('POST', `/api/v1/namespaces/${namespace}/events`, { body: event })).status).toBe(201);
    const text = await ok(['describe', 'task', 'a']);
    expect(text).toMatch(/^Name:\s+a\nNamespace:\s+place-\d+\nLabels:\s+part=one\n/);
    expect(text).toMatch(/Title:\s+described/);
    expect(text).toMatch(
      /Events:\n\s+Type\s+Reason\s+Age\s+From\s+Message\n[\s\S]*Warning\s+Noticed\s+\S+( \(x3 over \S+\))?\s+test\s+by the test/,
    );
    expect(await ok(['describe', 'tasks', '-l', 'part=one'])).toContain('described');
    expect(await ok(['describe', 'ns', namespace])).toMatch(/Status:\s+Active/);
    expect(await ok(['get', 'events'])).toMatch(
      /LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+MESSAGE\n[\s\S]*Warning\s+Noticed\s+task\/a\s+by the test/,
    );
    expect(await ok(['events', '--for', 'task/a'])).toMatch(/Warning\s+Noticed/);
    expect(await ok(['get', 'events', '--field-selector', 'reason=Noticed', '-o', 'name'])).toBe('event/a.1\n');
    expect(await ok(['get', 'events.events.k8s.io', '-o', 'jsonpath={.items[?(@.reason=="Noticed")].note}'])).toBe('by the test');
  });

  test('explains kinds and fields', async ({ ok, fails }) => {
    const team = await ok(['explain', 'team']);
    expect(team).toMatch(/GROUP:\s+agentiso.dev\nKIND:\s+Team\nVERSION:\s+v1alpha1\n/);
    expect(team).toContain('A Team is a group of agents');
    expect(await ok(['explain', 'tasks.spec.command'])).toMatch(/FIELD: command <string>/);
    expect(await ok(['explain', 'team.spec.roles.name'])).toContain('FIELD: name <string>');
    expect(await ok(['explain', 'team', '--recursive'])).toMatch(/ {2}spec\t<Object> -required-[\s\S]* {4}roles\t<\[\]Object> -required-/);
    expect(await ok(['explain', 'ns'])).toContain('KIND:       Namespace');
    expect(await ok(['explain', 'cm.data'])).toContain('FIELD: data <map[string]string>');
    expect(await ok(['explain', 'task.metadata.labels'])).toContain('<map[string]string>');
    expect(await fails(['explain', 'team.spec.nothing'])).toContain('field "nothing" does not exist');
  });

  test('asks for pages and shows all', async ({ ok, run, daemon, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const all = Array.from({ length: 620 }, (_, index) => `m${String(index).padStart(3, '0')}`);
    await Promise.all(
      all.map(async (name) => expect((await daemon.api.call('POST', path, { body: { metadata: { name } } })).status).toBe(201)),
    );
    expect(names(await ok(['get', 'cm', '-o', 'name'])).map((line) => line.split('/')[1])).toEqual(all);
    const { stdout, stderr } = await run(['get', 'cm', '--chunk-size=100', '-v=8']);
    expect(names(stdout)).toHaveLength(621);
    expect(stderr.match(/limit=100/g)?.length).toBeGreaterThanOrEqual(7);
    expect(stderr.match(/continue=/g)?.length).toBeGreaterThanOrEqual(6);
    expect(names(await ok(['get', 'cm', '--chunk-size=0', '--no-headers']))).toHaveLength(620);
  });
});
