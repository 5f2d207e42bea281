/** kubectl's other writes: create, patch, edit, label, annotate, replace, wait. */
import { expect } from 'vitest';
import { taskYaml, withEveryKubectl } from '../support/kubectl-api.ts';

const TITLE = 'jsonpath={.spec.title}';

withEveryKubectl('kubectl writes', (test) => {
  test('create refuses what is there, and makes names where asked to', async ({ ok, fails }) => {
    expect(await ok(['create', '-f', '-'], { input: taskYaml('a') })).toBe('task.agentiso.dev/a created\n');
    expect(await fails(['create', '-f', '-'], { input: taskYaml('a') })).toContain(
      'Error from server (AlreadyExists): error when creating "STDIN": tasks.agentiso.dev "a" already exists',
    );
    const generated = taskYaml('x').replace('name: x', 'generateName: some-');
    expect(await ok(['create', '-f', '-'], { input: generated })).toMatch(/^task\.agentiso\.dev\/some-[a-z0-9]{5} created\n$/);
    expect(await fails(['create', '-f', '-'], { input: taskYaml('Bad_Name') })).toMatch(/metadata\.name: Invalid value: "Bad_Name"/);
    expect(await ok(['create', '--dry-run=server', '-o', 'name', '-f', '-'], { input: taskYaml('b') })).toBe('task.agentiso.dev/b\n');
    expect(await ok(['get', 'tasks', '--field-selector=metadata.name=b', '-o', 'name'])).toBe('');
    const warned = await ok(['create', '--validate=ignore', '-f', '-', '-o', 'jsonpath={.spec}'], { input: taskYaml('c', 'titel: x') });
    expect(warned).not.toContain('titel');
  });

  test('patch knows JSON patch and merge patch, and says that strategic patch is not for custom kinds', async ({ ok, fails }) => {
    await ok(['create', '-f', '-'], { input: taskYaml('a') });
    const patch = (type: string, text: unknown) => ['patch', 'task', 'a', `--type=${type}`, '-p', JSON.stringify(text)];
    expect(await ok(patch('merge', { spec: { title: 'merged' } }))).toBe('task.agentiso.dev/a patched\n');
    expect(await ok(patch('merge', { spec: { title: 'merged' } }))).toBe('task.agentiso.dev/a patched (no change)\n');
    expect(await ok([...patch('json', [{ op: 'replace', path: '/spec/title', value: 'replaced' }]), '-o', TITLE])).toBe('replaced');
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.generation}'])).toBe('3');
    expect(await fails(patch('json', [{ op: 'test', path: '/spec/title', value: 'other' }]))).toMatch(/test|Invalid/i);
    expect(await fails(patch('json', [{ op: 'remove', path: '/spec/nothing' }]))).toMatch(/nothing|Invalid/i);
    expect(await fails(patch('strategic', { spec: { title: 'x' } }))).toContain(
      'application/strategic-merge-patch+json is not supported by agentiso.dev/v1alpha1, Kind=Task',
    );
    expect(await fails(patch('merge', { spec: { priority: 'x' } }))).toMatch(
      /The Task "a" is invalid:[\s\S]*spec\.priority: Invalid value/,
    );
    expect(await fails(patch('merge', { metadata: { name: 'other' } }))).toContain('name');
    await ok([...patch('merge', { status: { phase: 'Failed' } }), '--subresource=status']);
    expect(await ok(['get', 'task', 'a', '--subresource=status', '-o', 'jsonpath={.metadata.generation}'])).toBe('3');
    expect(await fails(['patch', 'task', 'x', '--type=merge', '-p', '{}'])).toContain('tasks.agentiso.dev "x" not found');
  });

  test('label and annotate set, refuse to overwrite, and remove', async ({ ok, fails }) => {
    await ok(['create', '-f', '-'], { input: `${taskYaml('a')}---\n${taskYaml('b')}` });
    expect(await ok(['label', 'task', 'a', 'colour=red'])).toBe('task.agentiso.dev/a labeled\n');
    expect(await fails(['label', 'task', 'a', 'colour=blue'])).toContain(`'colour' already has a value (red), and --overwrite is false`);
    await ok(['label', 'task', 'a', 'colour=blue', '--overwrite']);
    expect(await ok(['label', 'tasks', '--all', 'every=one'])).toBe('task.agentiso.dev/a labeled\ntask.agentiso.dev/b labeled\n');
    expect(await ok(['get', 'tasks', '-l', 'colour=blue,every', '-o', 'name'])).toBe('task.agentiso.dev/a\n');
    expect(await ok(['label', 'task', 'a', 'colour-'])).toBe('task.agentiso.dev/a unlabeled\n');
    expect(await ok(['annotate', 'task', 'a', 'note=some text'])).toBe('task.agentiso.dev/a annotated\n');
    expect(await ok(['annotate', 'task', 'a', '--list'])).toContain('note=some text');
    expect(await ok(['annotate', 'task', 'a', 'note-'])).toBe('task.agentiso.dev/a annotated\n');
    expect(await fails(['label', 'task', 'a', 'bad=a b'])).toContain('a valid label must be');
    // Neither is a change of what the task is.
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.generation}'])).toBe('1');
  });

  test('edit saves what an editor changed, and reopens what the server refused', async ({ ok, run, file, folder }) => {
    await ok(['create', '-f', '-'], { input: taskYaml('a') });
    const editor = (script: string) => {
      const path = file(`editor-${script.length}.sh`, `#!/bin/sh\n${script}\n`);
      return { KUBE_EDITOR: `sh ${path}` };
    };
    expect(await ok(['edit', 'task', 'a'], { env: editor('sed -i "s/title: first/title: edited/" "$1"') })).toBe(
      'task.agentiso.dev/a edited\n',
    );
    expect(await ok(['get', 'task', 'a', '-o', TITLE])).toBe('edited');
    const unchanged = await run(['edit', 'task', 'a'], { env: editor('true') });
    expect([unchanged.code, unchanged.stderr]).toEqual([0, 'Edit cancelled, no changes made.\n']);
    const refused = await run(['edit', 'task', 'a'], { env: editor('sed -i "s/title: edited/priority: 99/" "$1"') });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/tasks\.agentiso\.dev "a" was not valid|is invalid/);
    // What could not be saved is kept in the folder of the test, which goes.
    expect(refused.stderr).toContain(`${folder}/kubectl-edit-`);
    expect(await ok(['get', 'task', 'a', '-o', TITLE])).toBe('edited');
  });

  test('replace needs the object, refuses an old version, and by force makes a new one', async ({ ok, fails, file }) => {
    expect(await fails(['replace', '-f', '-'], { input: taskYaml('a') })).toContain('tasks.agentiso.dev "a" not found');
    await ok(['create', '-f', '-'], { input: taskYaml('a') });
    expect(await ok(['replace', '-f', '-'], { input: taskYaml('a', 'title: replaced') })).toBe('task.agentiso.dev/a replaced\n');
    const old = file('old.yaml', await ok(['get', 'task', 'a', '-o', 'yaml']));
    await ok(['label', 'task', 'a', 'newer=yes']);
    expect(await fails(['replace', '-f', old])).toContain(
      'the object has been modified; please apply your changes to the latest version and try again',
    );
    const uid = await ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.uid}']);
    const forced = await ok(['replace', '--force', '-f', '-'], { input: taskYaml('a', 'title: forced') });
    expect(forced).toMatch(/task\.agentiso\.dev "a" deleted.*\ntask\.agentiso\.dev\/a replaced\n/);
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.uid}/{.spec.title}'])).not.toContain(uid);
    expect(await ok(['get', 'task', 'a', '-o', TITLE])).toBe('forced');
  });

  test('wait sees conditions, fields, creation and deletion', async ({ ok, start, fails, daemon, namespace }) => {
    const path = `/apis/agentiso.dev/v1alpha1/namespaces/${namespace}/tasks/a`;
    const creation = start(['wait', '--for=create', 'task/a', '--timeout=60s']);
    await ok(['create', '-f', '-'], { input: taskYaml('a') });
    expect(await creation.result).toEqual({ code: 0, stdout: 'task.agentiso.dev/a condition met\n', stderr: '' });
    const waits = [
      start(['wait', '--for=jsonpath={.spec.title}=waited', 'task/a', '--timeout=60s']),
      start(['wait', '--for=condition=Tested', 'task/a', '--timeout=60s']),
      start(['wait', '--for=condition=Tested=True', 'tasks', '--all', '--timeout=60s']),
    ];
    await ok(['patch', 'task', 'a', '--type=merge', '-p', '{"spec":{"title":"waited"}}']);
    const condition = { type: 'Tested', status: 'True', reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const config = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', status: { conditions: [condition] } };
    const headers = { 'Content-Type': 'application/apply-patch+yaml' };
    expect((await daemon.api.call('PATCH', `${path}/status?fieldManager=test`, { body: config, headers })).status).toBe(200);
    for (const { result } of waits) expect(await result).toEqual({ code: 0, stdout: 'task.agentiso.dev/a condition met\n', stderr: '' });
    expect(await ok(['wait', '--for=jsonpath={.spec.title}', 'task/a'])).toContain('condition met');
    expect(await fails(['wait', '--for=condition=Never', 'task/a', '--timeout=1s'])).toContain(
      'timed out waiting for the condition on tasks/a',
    );
    const deletion = start(['wait', '--for=delete', 'task/a', '--timeout=60s']);
    await ok(['delete', 'task', 'a']);
    expect((await deletion.result).code).toBe(0);
    expect(await ok(['wait', '--for=delete', 'task/a'])).toBe('');
    expect(await fails(['wait', '--for=condition=Tested', 'task/a'])).toContain('not found');
  });

  test('configmaps are created, patched strategically and by merge, and kept as they are', async ({ ok, file }) => {
    const path = file('text', 'a file\n');
    expect(await ok(['create', 'configmap', 'm', '--from-literal=one=1', `--from-file=${path}`])).toBe('configmap/m created\n');
    expect(await ok(['patch', 'cm', 'm', '-p', '{"data":{"two":"2","one":null}}'])).toBe('configmap/m patched\n');
    expect(JSON.parse(await ok(['get', 'cm', 'm', '-o', 'jsonpath={.data}']))).toEqual({ two: '2', text: 'a file\n' });
    expect(await ok(['get', 'cm', 'm', '--no-headers'])).toMatch(/^m\s+2\s+\d+s\n$/);
    expect(await ok(['label', 'cm', 'm', 'a=b'])).toBe('configmap/m labeled\n');
    expect(await ok(['describe', 'cm', 'm'])).toContain('a file');
    expect(await ok(['apply', '-f', '-'], { input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {k: v}\n' })).toBe(
      'configmap/other created\n',
    );
    expect(await ok(['apply', '-f', '-'], { input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {k: w}\n' })).toBe(
      'configmap/other configured\n',
    );
    expect(await ok(['delete', 'cm', '--all'])).toMatch(/configmap "m" deleted.*\nconfigmap "other" deleted/);
  });

  test('namespaces come and go with what is in them', async ({ ok, fails, namespace }) => {
    const own = `${namespace}-own`;
    expect(await ok(['create', 'ns', own])).toBe(`namespace/${own} created\n`);
    expect(await ok(['get', 'ns', own, '--no-headers'])).toMatch(/Active\s+\d+s/);
    await ok(['create', '-n', own, '-f', '-'], { input: `${taskYaml('a')}---\n${taskYaml('b')}` });
    await ok(['create', 'configmap', 'm', '-n', own]);
    expect(await ok(['delete', 'ns', own])).toContain(`namespace "${own}" deleted`);
    expect(await fails(['get', 'ns', own])).toContain(`namespaces "${own}" not found`);
    expect(await fails(['create', '-n', own, '-f', '-'], { input: taskYaml('a') })).toContain(`namespaces "${own}" not found`);
    await ok(['create', 'ns', own]);
    expect(await ok(['get', 'tasks,cm', '-n', own, '-o', 'name'])).toBe('');
    expect(await fails(['delete', 'ns', 'default'])).toContain('may not be deleted');
  });
});
