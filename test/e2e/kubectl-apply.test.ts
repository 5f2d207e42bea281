/** kubectl apply in both its forms, and diff. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { taskYaml, withEveryKubectl } from '../support/kubectl-api.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

withEveryKubectl('kubectl apply', (test) => {
  test('creates, leaves alone and changes an object of a file', async ({ ok, file }) => {
    const path = file('a.yaml', taskYaml('a'));
    expect(await ok(['apply', '-f', path])).toBe('task.agentiso.dev/a created\n');
    const version = () => ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.generation}/{.spec.title}']);
    expect(await ok(['apply', '-f', path])).toBe('task.agentiso.dev/a unchanged\n');
    expect(await version()).toBe('1/first');
    file('a.yaml', taskYaml('a', 'title: second'));
    expect(await ok(['apply', '-f', path])).toBe('task.agentiso.dev/a configured\n');
    expect(await version()).toBe('2/second');
    // What the file no longer says goes away; what it never said stays.
    await ok(['label', 'task', 'a', 'by=hand']);
    file('a.yaml', taskYaml('a', 'priority: 1'));
    await ok(['apply', '-f', path]);
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.spec.title}/{.spec.priority}/{.metadata.labels.by}'])).toBe('/1/hand');
  });

  test('takes a folder of files, and standard input', async ({ ok, folder, file }) => {
    mkdirSync(join(folder, 'all/deep'), { recursive: true });
    file('all/a.yaml', `${taskYaml('a')}---\n${taskYaml('b')}`);
    file('all/deep/c.json', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { key: 'value' } }));
    expect((await ok(['apply', '-R', '-f', join(folder, 'all')])).split('\n').sort()).toEqual([
      '',
      'configmap/c created',
      'task.agentiso.dev/a created',
      'task.agentiso.dev/b created',
    ]);
    expect(await ok(['apply', '-f', '-'], { input: taskYaml('d') })).toBe('task.agentiso.dev/d created\n');
    expect(await ok(['apply', '-f', '-', '-o', 'name'], { input: taskYaml('d') })).toBe('task.agentiso.dev/d\n');
  });

  test('says which fields of a document are wrong, and stores the good documents beside it', async ({ run, ok, fails, namespace }) => {
    const bad = taskYaml('bad', 'title: [1]\n  priority: many');
    const { code, stdout, stderr } = await run(['apply', '-f', '-'], { input: `${taskYaml('good')}---\n${bad}` });
    expect([code, stdout]).toEqual([1, 'task.agentiso.dev/good created\n']);
    expect(stderr).toContain('The Task "bad" is invalid:');
    expect(stderr).toMatch(/spec\.title: Invalid value: .*must be of type string/);
    expect(stderr).toMatch(/spec\.priority: Invalid value: .*must be of type integer/);
    expect(await ok(['get', 'tasks', '-o', 'name'])).toBe('task.agentiso.dev/good\n');
    const unknown = await fails(['apply', '-f', '-'], { input: taskYaml('bad', 'titel: x') });
    expect(unknown).toMatch(/strict decoding error: unknown field "spec\.titel"/);
    expect(await fails(['apply', '-f', '-'], { input: 'kind: Task\nmetadata: {name: x}\n' })).toContain('apiVersion');
    expect(await fails(['apply', '-f', '-'], { input: taskYaml('x').replace('v1alpha1', 'v9') })).toContain(
      'no matches for kind "Task" in version "agentiso.dev/v9"',
    );
    const elsewhere = taskYaml('x', 'title: x', '  namespace: nowhere\n');
    expect(await fails(['apply', '--namespace=nowhere', '-f', '-'], { input: elsewhere })).toContain('namespaces "nowhere" not found');
    const other = await fails(['apply', '-f', '-'], { input: elsewhere });
    expect(other).toContain(`the namespace from the provided object "nowhere" does not match the namespace "${namespace}"`);
  });

  test('tries a change on the server without making it', async ({ ok, fails }) => {
    expect(await ok(['apply', '--dry-run=server', '-f', '-'], { input: taskYaml('a') })).toBe(
      'task.agentiso.dev/a created (server dry run)\n',
    );
    expect(await fails(['get', 'task', 'a'])).toContain('NotFound');
    expect(await ok(['apply', '--dry-run=client', '-f', '-'], { input: taskYaml('a') })).toBe('task.agentiso.dev/a created (dry run)\n');
    await ok(['apply', '-f', '-'], { input: taskYaml('a') });
    const dry = await ok(['apply', '--dry-run=server', '-o', 'jsonpath={.spec.title}', '-f', '-'], {
      input: taskYaml('a', 'title: second'),
    });
    expect(dry).toBe('second');
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.spec.title}'])).toBe('first');
    expect(await fails(['apply', '--dry-run=server', '-f', '-'], { input: taskYaml('a', 'priority: 99') })).toContain('spec.priority');
  });

  test('on the server merges by owner of a field, and names the owner in a conflict', async ({ ok, fails }) => {
    const applied = (manager: string, input: string) => ({
      args: ['apply', '--server-side', `--field-manager=${manager}`, '-f', '-'],
      input,
    });
    const first = applied('ours', taskYaml('a'));
    expect(await ok(first.args, first)).toBe('task.agentiso.dev/a serverside-applied\n');
    const theirs = applied('theirs', taskYaml('a', 'title: theirs'));
    const conflict = await fails(theirs.args, theirs);
    expect(conflict).toContain('Apply failed with 1 conflict: conflict with "ours": .spec.title');
    expect(conflict).toContain('--force-conflicts');
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.spec.title}'])).toBe('first');
    expect(await ok([...theirs.args, '--force-conflicts'], theirs)).toBe('task.agentiso.dev/a serverside-applied\n');
    expect(await fails(first.args, first)).toContain('conflict with "theirs": .spec.title');
    // An edit is an owner too.
    await ok(['patch', 'task', 'a', '--type=merge', '-p', '{"spec":{"title":"edited"}}', '--field-manager=editor']);
    expect(await fails(theirs.args, theirs)).toContain('conflict with "editor" using agentiso.dev/v1alpha1: .spec.title');
    const managers = '{range .metadata.managedFields[*]}{.manager}:{.operation} {end}';
    expect(await ok(['get', 'task', 'a', '--show-managed-fields', '-o', `jsonpath=${managers}`])).toMatch(/ours:Apply .*editor:Update/);
    expect(await ok(['get', 'task', 'a', '-o', 'yaml'])).not.toContain('managedFields');
  });

  test('on the server lists every conflict by its owner', async ({ ok, fails }) => {
    const args = (manager: string) => ['apply', '--server-side', `--field-manager=${manager}`, '-f', '-'];
    await ok(args('ours'), { input: taskYaml('a', 'title: one\n  priority: 1') });
    const text = await fails(args('theirs'), { input: taskYaml('a', 'title: two\n  priority: 2') });
    expect(text).toContain('Apply failed with 2 conflicts: conflicts with "ours":\n- .spec.priority\n- .spec.title');
  });

  test('on the server removes what its manager no longer says, and refuses what no schema knows', async ({ ok, fails }) => {
    const args = ['apply', '--server-side', '-f', '-'];
    await ok(args, { input: taskYaml('a') });
    await ok(args, { input: taskYaml('a', 'priority: 2') });
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.spec.title}/{.spec.priority}'])).toBe('/2');
    expect(await fails(args, { input: taskYaml('a', 'titel: x') })).toContain('.spec.titel: field not declared in schema');
    expect(await ok([...args, '--dry-run=server'], { input: taskYaml('b') })).toBe(
      'task.agentiso.dev/b serverside-applied (server dry run)\n',
    );
    expect(await fails(['get', 'task', 'b'])).toContain('tasks.agentiso.dev "b" not found');
  });

  test('goes over from the client to the server without a conflict, even with a change', async ({ ok }) => {
    await ok(['apply', '-f', '-'], { input: taskYaml('a', 'title: first\n  priority: 1') });
    const text = await ok(['apply', '--server-side', '-f', '-'], { input: taskYaml('a', 'title: second') });
    expect(text).toBe('task.agentiso.dev/a serverside-applied\n');
    const { metadata, spec } = JSON.parse(await ok(['get', 'task', 'a', '--show-managed-fields', '-o', 'json'])) as {
      metadata: { annotations: Record<string, string>; managedFields: { manager: string; operation: string; subresource?: string }[] };
      spec: Record<string, unknown>;
    };
    expect(spec['title']).toBe('second');
    expect(metadata.managedFields.map(({ manager }) => manager)).not.toContain('kubectl-client-side-apply');
    expect(JSON.parse(metadata.annotations[LAST_APPLIED] ?? '{}')).toMatchObject({ spec: { title: 'second' } });
    // And back.
    expect(await ok(['apply', '-f', '-'], { input: taskYaml('a', 'title: third') })).toBe('task.agentiso.dev/a configured\n');
  });

  test('prunes what a set of applied objects no longer has', async ({ ok, namespace }) => {
    const args = ['apply', '--prune', '--applyset=configmaps/set', '--server-side', '-n', namespace, '-f', '-'];
    const env = { KUBECTL_APPLYSET: 'true' };
    await ok(args, { input: `${taskYaml('a')}---\n${taskYaml('b')}`, env });
    const text = await ok(args, { input: taskYaml('a'), env });
    expect(text).toContain('task.agentiso.dev/b pruned');
    expect(await ok(['get', 'tasks', '-o', 'name'])).toBe('task.agentiso.dev/a\n');
  });

  test('apply edit-last-applied, set-last-applied and view-last-applied agree', async ({ ok, file }) => {
    const path = file('a.yaml', taskYaml('a'));
    await ok(['create', '-f', path]);
    expect(await ok(['apply', 'set-last-applied', '--create-annotation', '-f', path])).toBe('task.agentiso.dev/a configured\n');
    expect(await ok(['apply', 'view-last-applied', 'task', 'a'])).toContain('title: first');
    expect(await ok(['get', 'task', 'a', '-o', 'yaml'])).toContain(LAST_APPLIED);
  });

  test('diff shows what would change, and says by its exit code whether anything would', async ({ ok, run }) => {
    const diff = (input: string, ...more: string[]) => run(['diff', ...more, '-f', '-'], { input });
    const fresh = await diff(taskYaml('a'));
    expect([fresh.code, fresh.stderr]).toEqual([1, '']);
    expect(fresh.stdout).toContain('+  title: first');
    await ok(['apply', '-f', '-'], { input: taskYaml('a') });
    expect(await diff(taskYaml('a'))).toEqual({ code: 0, stdout: '', stderr: '' });
    const changed = await diff(taskYaml('a', 'title: second'));
    expect(changed.code).toBe(1);
    expect(changed.stdout).toMatch(/-\s+title: first\n\+\s+title: second/);
    const onServer = await diff(taskYaml('a', 'title: second'), '--server-side', '--force-conflicts');
    expect([onServer.code, /\+\s+title: second/.test(onServer.stdout)]).toEqual([1, true]);
    const broken = await diff(taskYaml('a', 'priority: 99'));
    expect(broken.code).toBeGreaterThan(1);
    expect(broken.stderr).toContain('spec.priority');
  });
});
