/** What a schema refuses, in the words of the real server. */
import type { Scenario } from '../scenario.ts';
import { agent, merge, mergePatch, post, put, rememberVersion, step, task, team } from './requests.ts';

const name = (suffix: string) => `validation-${suffix}`;

export const validationScenarios: Scenario[] = [
  {
    name: 'validation',
    steps: [
      step('a string for an integer', post('tasks', task(name('a'), { priority: 'high' }))),
      step('a number for a string', post('tasks', task(name('a'), { title: 7 }))),
      step('a string for a boolean', post('tasks', task(name('a'), { cancelled: 'yes' }))),
      step('a fraction for an integer', post('tasks', task(name('a'), { priority: 2.5 }))),
      step('a list for an object', post('teams', team(name('a'), { budget: [] }))),
      step('an object for a list', post('teams', team(name('a'), { roles: {} }))),
      step('a string for the spec', post('teams', { ...team(name('a')), spec: 'x' })),
      step('a string for metadata', post('teams', { ...team(name('a')), metadata: 'x' }), { compare: 'reason' }),
      step('no spec', post('teams', { ...team(name('a')), spec: undefined })),
      step('an empty spec', post('teams', { ...team(name('a')), spec: {} })),
      step('enum', post('tasks', task(name('a'), { stuckPolicy: 'Panic' }))),
      step('enum of many', post('agents', agent(name('a'), { backend: 'cobol' }))),
      step('too small', post('tasks', task(name('a'), { priority: 0 }))),
      step('too large', post('tasks', task(name('a'), { timeoutSeconds: 100_000 }))),
      step('too short', post('tasks', task(name('a'), { command: '' }))),
      step('too long', post('tasks', task(name('a'), { title: 't'.repeat(300) }))),
      step('a pattern', post('tasks', task(name('a'), { workdir: 'relative' }))),
      step('too few items', post('teams', team(name('a'), { roles: [] }))),
      step('too many items', post('tasks', task(name('a'), { tags: Array.from({ length: 65 }, (_none, index) => `t${index}`) }))),
      step(
        'too many properties',
        post('tasks', task(name('a'), { env: Object.fromEntries(Array.from({ length: 129 }, (_none, i) => [`E${i}`, ''])) })),
      ),
      step('a duplicate in a set', post('tasks', task(name('a'), { tags: ['x', 'y', 'x'] }))),
      step('a duplicate key in a map list', post('teams', team(name('a'), { roles: [{ name: 'dev' }, { name: 'dev' }] }))),
      step('a missing key in a map list', post('teams', team(name('a'), { roles: [{ count: 1 }] }))),
      step('a value of a map of the wrong type', post('tasks', task(name('a'), { env: { A: 1 } }))),
      step('a nullable pattern', post('agents', agent(name('a'), { fallback: 'cobol' }))),
      step('several at once', post('tasks', task(name('a'), { priority: 9, stuckPolicy: 'Panic', workdir: 'x', tags: ['a', 'a'] }))),
      step('several, with wrong types', post('tasks', task(name('a'), { priority: 'x', title: 5, cancelled: 1 }))),
      step('a bad name and a bad field', post('tasks', task('Validation_BAD', { priority: 9 }))),
      step('deep inside a list', post('teams', team(name('a'), { roles: [{ name: 'ok' }, { name: 'b', resources: { vcpus: 99 } }] }))),
      step('a long value in the message', post('tasks', task(name('a'), { assignTo: `${'A'.repeat(300)}` }))),
      step('a value with quotes in the message', post('tasks', task(name('a'), { assignTo: 'a"b\\c' }))),
      step('cidr', post('teams', team(name('a'), { network: { allowCidrs: ['300.0.0.0/8'] } }))),
      step('an integer beyond 53 bits', post('tasks', JSON.stringify(task(name('a'), { priority: 7 })).replace(':7', ':9007199254740993'))),
      step(
        'an integer beyond 64 bits',
        post('tasks', JSON.stringify(task(name('a'), { priority: 7 })).replace(':7', ':99999999999999999999')),
      ),
    ],
  },
  {
    name: 'validation-rules',
    steps: [
      step('both command and prompt', post('tasks', task('validation-rules-a', { prompt: 'do it' }))),
      step('neither command nor prompt', post('tasks', { ...task('validation-rules-a'), spec: { team: 'shop' } })),
      step('null counts as absent', post('tasks', task('validation-rules-null', { prompt: null }))),
      step('depends on itself', post('tasks', task('validation-rules-a', { dependsOn: ['validation-rules-a'] }))),
      step('a bad variable name', post('tasks', task('validation-rules-a', { env: { '1A': 'x' } }))),
      step('a reserved role', post('teams', team('validation-rules-a', { roles: [{ name: 'all' }] }))),
      step('two leads', post('teams', team('validation-rules-a', { roles: [{ name: 'lead', count: 2 }] }))),
      step('over budget', post('teams', team('validation-rules-a', { roles: [{ name: 'dev', count: 20 }] }))),
      step('its own parent', post('teams', team('validation-rules-a', { parent: 'validation-rules-a' }))),
      step('path and url', post('teams', team('validation-rules-a', { repo: { path: '/x', url: 'https://example.com/x' } }))),
      step('a rule with a reason', post('merges', merge('validation-rules-a', { target: {} }))),
      step('source and target', post('merges', merge('validation-rules-a', { target: { agent: 'a' } }))),
      step(
        'a name the rule makes too long',
        post('teams', team(`validation-rules-${'x'.repeat(40)}`, { roles: [{ name: 'r'.repeat(20) }] })),
      ),
      step(
        'several rules at once',
        post('teams', team('validation-rules-a', { roles: [{ name: 'lead', count: 20 }], parent: 'validation-rules-a' })),
      ),
      step(
        'rules are not asked when the schema fails',
        post('teams', team('validation-rules-a', { parent: 'validation-rules-a', subTeams: 'X' })),
      ),
      step('rules beside a schema error in another part', post('tasks', task('validation-rules-a', { prompt: 'x', priority: 'x' }))),
      step('a good task', post('tasks', task('validation-rules-t')), rememberVersion),
      step('the team of a task cannot change', mergePatch('tasks/validation-rules-t', { spec: { team: 'other' } })),
      step(
        'the team of a task cannot change by put',
        put('tasks/validation-rules-t', task('validation-rules-t', { team: 'other' }, { resourceVersion: '{{rv}}' })),
      ),
      step('a good team', post('teams', team('validation-rules-team'))),
      step('a parent cannot be added', mergePatch('teams/validation-rules-team', { spec: { parent: 'other' } })),
      step(
        'a status rule is an error of the status',
        mergePatch('tasks/validation-rules-t/status', { status: { phase: 'Bogus', attempt: -1 } }),
      ),
      step(
        'conditions need all their parts',
        mergePatch('tasks/validation-rules-t/status', { status: { conditions: [{ type: 'Ready' }] } }),
      ),
      step('a date must be one', mergePatch('tasks/validation-rules-t/status', { status: { startedAt: 'yesterday' } })),
      step(
        'a date with fraction and offset',
        mergePatch('tasks/validation-rules-t/status', { status: { startedAt: '2020-01-01T00:00:00.123+02:00' } }),
      ),
    ],
  },
  {
    name: 'field-validation',
    steps: [
      step('unknown, default', post('tasks', task('field-validation-a', { bogus: 1 }))),
      step('unknown, Warn', post('tasks', task('field-validation-b', { bogus: 1 }), { fieldValidation: 'Warn' })),
      step('unknown, Ignore', post('tasks', task('field-validation-c', { bogus: 1 }), { fieldValidation: 'Ignore' })),
      step('unknown, Strict', post('tasks', task('field-validation-d', { bogus: 1 }), { fieldValidation: 'Strict' })),
      step('other value', post('tasks', task('field-validation-d'), { fieldValidation: 'x' })),
      step('empty value', post('tasks', task('field-validation-empty'), { fieldValidation: '' })),
      step(
        'many, Strict',
        post('tasks', { ...task('field-validation-d', { bogus: 1, other: { a: 1 } }, { odd: 1 }), root: 1 }, { fieldValidation: 'Strict' }),
      ),
      step(
        'many, Warn',
        post('tasks', { ...task('field-validation-e', { bogus: 1, other: { a: 1 } }, { odd: 1 }), root: 1 }, { fieldValidation: 'Warn' }),
      ),
      step(
        'in list items, Strict',
        post(
          'teams',
          team('field-validation-f', {
            roles: [
              { name: 'a', x: 1 },
              { name: 'b', resources: { y: 1 } },
            ],
          }),
          { fieldValidation: 'Strict' },
        ),
      ),
      step(
        'in list items, Warn',
        post(
          'teams',
          team('field-validation-f', {
            roles: [
              { name: 'a', x: 1 },
              { name: 'b', resources: { y: 1 } },
            ],
          }),
        ),
      ),
      step(
        'free objects keep everything',
        post('agents', agent('field-validation-g', { inputSchema: { any: { thing: [1, null, { a: null }] } } }), {
          fieldValidation: 'Strict',
        }),
      ),
      step(
        'duplicate, Strict',
        post('tasks', JSON.stringify(task('field-validation-h', { title: 'a' })).replace('"title":"a"', '"title":"a","title":"b"'), {
          fieldValidation: 'Strict',
        }),
      ),
      step(
        'duplicate, Warn',
        post('tasks', JSON.stringify(task('field-validation-h', { title: 'a' })).replace('"title":"a"', '"title":"a","title":"b"'), {
          fieldValidation: 'Warn',
        }),
      ),
      step(
        'duplicate, Ignore',
        post('tasks', JSON.stringify(task('field-validation-i', { title: 'a' })).replace('"title":"a"', '"title":"a","title":"b"'), {
          fieldValidation: 'Ignore',
        }),
      ),
      step(
        'duplicate and unknown, Strict',
        post(
          'tasks',
          JSON.stringify(task('field-validation-j', { title: 'a', bogus: 1 })).replace('"title":"a"', '"title":"a","title":"b"'),
          { fieldValidation: 'Strict' },
        ),
      ),
      step(
        'duplicate in metadata, Strict',
        post('tasks', JSON.stringify(task('field-validation-k')).replace('"name":', '"name":"x","name":'), { fieldValidation: 'Strict' }),
      ),
      step('duplicate in YAML, Strict', {
        ...post(
          'tasks',
          'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: field-validation-l\nspec:\n  team: shop\n  command: a\n  command: b\n  bogus: 1\n',
          {
            fieldValidation: 'Strict',
          },
        ),
        headers: { 'content-type': 'application/yaml' },
      }),
      step('duplicate in YAML, Warn', {
        ...post(
          'tasks',
          'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: field-validation-l\nspec:\n  team: shop\n  command: a\n  command: b\n  bogus: 1\n',
        ),
        headers: { 'content-type': 'application/yaml' },
      }),
      step(
        'unknown and invalid, Strict',
        post('tasks', task('field-validation-m', { bogus: 1, priority: 9 }), { fieldValidation: 'Strict' }),
      ),
      step('unknown and invalid, Warn', post('tasks', task('field-validation-m', { bogus: 1, priority: 9 }))),
      step('a name of other case is unknown', post('tasks', task('field-validation-n', { Title: 'x' }), { fieldValidation: 'Strict' })),
      step('a task', post('tasks', task('field-validation-t')), rememberVersion),
      step(
        'put, Strict',
        put('tasks/field-validation-t', task('field-validation-t', { bogus: 1 }, { resourceVersion: '{{rv}}' }), {
          fieldValidation: 'Strict',
        }),
      ),
      step('put, Warn', put('tasks/field-validation-t', task('field-validation-t', { bogus: 1 }, { resourceVersion: '{{rv}}' }))),
      step('merge patch, Strict', mergePatch('tasks/field-validation-t', { spec: { bogus: 1 } }, { fieldValidation: 'Strict' })),
      step('merge patch, Warn', mergePatch('tasks/field-validation-t', { spec: { bogus: 1 } })),
      step('merge patch, Ignore', mergePatch('tasks/field-validation-t', { spec: { bogus: 1 } }, { fieldValidation: 'Ignore' })),
      step(
        'merge patch with a duplicate, Strict',
        mergePatch('tasks/field-validation-t', '{"spec":{"title":"a","title":"b"}}', { fieldValidation: 'Strict' }),
      ),
      step('merge patch with a duplicate, Warn', mergePatch('tasks/field-validation-t', '{"spec":{"title":"a","title":"b"}}')),
      step('status patch, Strict', mergePatch('tasks/field-validation-t/status', { status: { bogus: 1 } }, { fieldValidation: 'Strict' })),
      step('fieldValidation means nothing to a read', {
        method: 'GET',
        path: '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks/field-validation-t',
        query: { fieldValidation: 'x' },
      }),
    ],
  },
];
