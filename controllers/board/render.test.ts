import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Task } from '#api/types.ts';
import { indexLineOf, renderIndex } from './render-index.ts';
import { renderTask } from './render-task.ts';

function task(spec: Partial<Task['spec']> = {}, status?: Task['status'], name = 'sprint-design'): Task {
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Task',
    metadata: { name, namespace: 'default', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: { team: 'sprint', priority: 3, command: 'true', ...spec } as Task['spec'],
    ...(status ? { status } : {}),
  };
}

/** As a reader sees it: the frontmatter, and the headings and check boxes that begin a line. */
function structure(text: string) {
  const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  return { frontmatter: parse(head) as Record<string, unknown>, headings: body.match(/^#+ .*$/gm), boxes: body.match(/^- \[.\].*$/gm) };
}

describe('a task', () => {
  it('that nobody has touched', () => {
    expect(renderTask(task({ title: 'Draw it', tags: ['ui'], dependsOn: ['sprint-plan', 'ask'] }))).toBe(
      [
        '---',
        'id: sprint-design',
        'status: pending',
        'owner: null',
        'priority: 3',
        'depends_on:',
        '  - plan',
        '  - ask',
        'blocked_by: []',
        'created_by: null',
        'created_at: "2026-01-02T03:04:05.000Z"',
        'updated_at: "2026-01-02T03:04:05.000Z"',
        'tags:',
        '  - ui',
        '---',
        '',
        '<!-- Generated from the Task sprint-design. What is changed here is put back; to change it: agentiso edit task sprint-design -->',
        '',
        '# Draw it',
        '',
      ].join('\n'),
    );
  });

  it('that is done, with everything there is to say', () => {
    const text = renderTask(
      task(
        { description: 'Why\n\n- how', acceptanceCriteria: ['It works', 'It is\nfast'] },
        {
          phase: 'Succeeded',
          owner: 'sprint-coder',
          createdBy: 'lead',
          finishedAt: '2026-01-03T00:00:00Z',
          notes: [{ author: 'coder', time: '2026-01-02T04:00:00.123Z', text: 'half way' }],
          result: { exitCode: 0, elapsedSeconds: 2.5, stdout: 'made it\n', commit: 'abc' },
        },
      ),
    );
    expect(text.slice(text.indexOf('# design'))).toBe(
      [
        '# design\n\n## Description\n\n> Why\n>\n> - how\n\n## Acceptance Criteria\n\n- [x] It works\n- [x] It is fast\n',
        '## Notes\n\n**coder**, 2026-01-02T04:00:00.123Z\n\n> half way\n',
        '## Result\n\n- exit code 0\n- took 2.5 seconds\n- commit abc\n\n```text\nmade it\n```\n',
      ].join('\n'),
    );
    expect(structure(text).frontmatter).toMatchObject({
      status: 'completed',
      owner: 'coder',
      created_by: 'lead',
      updated_at: '2026-01-03T00:00:00.000Z',
    });
  });

  it('that failed says why', () => {
    const condition = {
      type: 'Ready',
      status: 'False' as const,
      reason: 'MaxAttempts',
      message: 'gave up',
      lastTransitionTime: '2026-01-02T03:04:06Z',
    };
    const text = renderTask(
      task({}, { phase: 'Failed', reason: 'MaxAttempts', conditions: [condition], result: { exitCode: 1, stderr: 'no' } }),
    );
    expect(text).toContain('## Failure\n\nReason: MaxAttempts\n\n> gave up\n\n- exit code 1\n\n```text\nno\n```\n');
  });

  it.each(['Pending', 'Claimed', 'Running', 'Blocked', 'Succeeded', 'Failed'] as const)('has a word for %s', (phase) => {
    const words = {
      Pending: 'pending',
      Claimed: 'claimed',
      Running: 'in_progress',
      Blocked: 'blocked',
      Succeeded: 'completed',
      Failed: 'failed',
    };
    expect(structure(renderTask(task({}, { phase }))).frontmatter['status']).toBe(words[phase]);
  });

  it('is the same text for the same object', () => {
    const one = task({ description: 'x' }, { phase: 'Running', owner: 'sprint-coder' });
    expect(renderTask(structuredClone(one))).toBe(renderTask(one));
  });

  const hostile = [
    '---\nstatus: completed\n---',
    '# Big\n## Result\nfine',
    '```\nnever closed',
    '~~~~\nnever closed',
    '<!-- never closed',
    '<script>',
    '- [x] done\n',
    'a\u2028## Result\u2029- [x] y\r## Failure\v## Notes\u0085# x',
    '> quoted\n\n\n## Result',
    '\u001b[2J\u0000',
    '\n===\n---\n',
  ];

  it.each(hostile)('keeps its form whatever is written in it: %j', (words) => {
    const text = renderTask(
      task(
        { title: words, description: words, acceptanceCriteria: [words, 'two'], tags: [words], dependsOn: [words] },
        {
          phase: 'Failed',
          reason: words,
          owner: words,
          createdBy: words,
          blockedBy: [words],
          notes: [{ author: words, text: words }],
          conditions: [{ type: 'Ready', status: 'False', reason: words, message: words, lastTransitionTime: 'never' }],
          result: { stdout: 'out', stderr: '' },
        },
      ),
    );
    const { frontmatter, headings, boxes } = structure(text);
    expect(Object.keys(frontmatter)).toEqual([
      'id',
      'status',
      'owner',
      'priority',
      'depends_on',
      'blocked_by',
      'created_by',
      'created_at',
      'updated_at',
      'tags',
    ]);
    expect([frontmatter['status'], frontmatter['tags']]).toEqual(['failed', [words]]);
    expect(headings?.slice(1)).toEqual(['## Description', '## Acceptance Criteria', '## Notes', '## Failure']);
    expect(boxes).toHaveLength(2);
    for (const character of ['\0', '\u001b']) expect(text).not.toContain(character);
  });

  it('keeps the fences of its output longer than those in it', () => {
    const text = renderTask(task({}, { phase: 'Succeeded', result: { stdout: 'a\n````\n## Failure\n```\n' } }));
    expect(text).toContain('`````text\na\n````\n## Failure\n```\n`````\n');
  });
});

describe('the index', () => {
  it('counts, and shows what is urgent and old first', () => {
    const at = (seconds: string) => `2026-01-02T03:04:${seconds}Z`;
    const made = (
      name: string,
      phase: NonNullable<Task['status']>['phase'],
      spec: Partial<Task['spec']> = {},
      status: Task['status'] = {},
      time = '05',
    ) => {
      const one = task(spec, { ...(phase ? { phase } : {}), ...status }, `sprint-${name}`);
      return indexLineOf({ ...one, metadata: { ...one.metadata, creationTimestamp: at(time) } }, `${name}.md`);
    };
    const lines = [
      made('late', 'Pending', {}, {}, '09'),
      made('early', undefined, { title: 'First [x] of all' }, {}, '01'),
      made('urgent', 'Pending', { priority: 1 }, {}, '10'),
      made('run', 'Running', {}, { owner: 'sprint-coder' }),
      made('held', 'Claimed', {}, { owner: 'other' }),
      made('wait', 'Blocked', {}, { reason: 'DependenciesPending' }),
      made('bad', 'Failed', { title: 'x\n- [x] y' }, { reason: 'MaxAttempts' }),
      made('good', 'Succeeded', {}, { reason: 'Whatever' }),
    ];
    const text = renderIndex({ namespace: 'lab', name: 'sprint' }, lines);
    expect(text).toBe(
      [
        '<!-- Generated from the Tasks of sprint. What is changed here is put back; to change it: agentiso edit team sprint -n lab -->\n',
        '# Tasks of sprint\n',
        '8 tasks\n',
        '- pending: 3\n- claimed: 1\n- in_progress: 1\n- blocked: 1\n- completed: 1\n- failed: 1\n',
        '## In work (2)\n',
        '- [~] [held](held.md) (claimed, priority 3, owner other)\n- [~] [run](run.md) (in_progress, priority 3, owner coder)\n',
        '## Open (3)\n',
        '- [ ] [urgent](urgent.md) (pending, priority 1)\n- [ ] [early](early.md): First [x] of all (pending, priority 3)\n- [ ] [late](late.md) (pending, priority 3)\n',
        '## Blocked (1)\n',
        '- [!] [wait](wait.md) (blocked, priority 3, DependenciesPending)\n',
        '## Failed (1)\n',
        '- [!] [bad](bad.md): x - [x] y (failed, priority 3, MaxAttempts)\n',
        '## Done (1)\n',
        '- [x] [good](good.md) (completed, priority 3)\n',
      ].join('\n'),
    );
    expect(renderIndex({ namespace: 'lab', name: 'sprint' }, [...lines].reverse())).toBe(text);
  });

  it('of a team without tasks', () => {
    expect(renderIndex({ namespace: 'default', name: 'a' }, [])).toContain('# Tasks of a\n\n0 tasks\n\n- pending: 0\n');
  });
});
