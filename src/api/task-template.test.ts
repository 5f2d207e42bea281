import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { referencesOf, render, type TemplateSpec, templateProblems } from './task-template.ts';
import type { Task } from './types.ts';

const SHELLS = ['dash', 'bash'].filter((name) => existsSync(`/usr/bin/${name}`) || existsSync(`/bin/${name}`));
const REF = '{{tasks.one.result.stdout}}';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-template-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Result = NonNullable<NonNullable<Task['status']>['result']>;

function finished(name: string, result: Result): Task {
  return { kind: 'Task', metadata: { name }, spec: { team: 'a' }, status: { phase: 'Succeeded', result } } as unknown as Task;
}

function task(spec: Partial<TemplateSpec>): Task {
  return { kind: 'Task', metadata: { name: 'a-two' }, spec: { team: 'a', dependsOn: ['one'], ...spec } } as unknown as Task;
}

const rendered = (command: string, stdout: string) => render(task({ command }), [finished('a-one', { stdout })]);

/** What the shell really makes of it; nothing may appear in the folder. */
function run(shell: string, command: string, stdout: string): { readonly out: string; readonly err: string } {
  const { command: text = '', env } = rendered(command, stdout);
  const {
    stdout: out,
    stderr: err,
    error,
  } = spawnSync(shell, ['-c', text], { cwd: folder, env: { PATH: '/usr/bin:/bin', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) throw error;
  expect(readdirSync(folder), text).toEqual([]);
  return { out: out.toString(), err: err.toString() };
}

/** The words a program gets. */
function words(shell: string, command: string, stdout: string): string[] {
  const { out, err } = run(shell, `printf '%s\\0' ${command}`, stdout);
  expect(err).toBe('');
  return out.split('\0').slice(0, -1);
}

const HOSTILE = [
  'plain',
  '',
  ' two  words ',
  'a\nb\n\n',
  `it's "quoted" \\ \\\\ \\"`,
  `$(touch x) \`touch x\` \${x:=y} $HOME`,
  `'; touch x; '`,
  `"; touch x; "`,
  '* ? [a-z] ~ {a,b}',
  '-n\n--help',
  '$((x=1)) a[$(touch x)]',
  'ünï 漢字 🙂 \u2028',
  '{{tasks.one.result.stdout}}',
  'x'.repeat(64 * 1024),
  `'$(touch x)'\n`.repeat(4_000),
];

describe.each(SHELLS)('a value in a command of %s', (shell) => {
  it.each(HOSTILE.map((value) => [value.slice(0, 40), value] as const))('is one word and never code: %j', (_start, value) => {
    expect(words(shell, `${REF} x${REF}y "${REF}" "x ${REF} y" '${REF}' 'x ${REF} y' "a"${REF}'b'`, value)).toEqual([
      value,
      `x${value}y`,
      value,
      `x ${value} y`,
      value,
      `x ${value} y`,
      `a${value}b`,
    ]);
  });

  it.each([
    ['an assignment', `v=${REF}; printf %s "$v"`],
    ['a command substitution', `printf %s "$(printf '%s' ${REF})"`],
    ['a command substitution within quotes within one', `printf %s "$(printf %s "$(printf '%s' "${REF}")")"`],
    ['a subshell', `(printf %s ${REF})`],
    ['a here-document', `cat <<EOF\n${REF}\nEOF\n`],
    ['an indented here-document', `cat <<-END\n\t${REF}\n\tEND\n`],
    ['two here-documents and what follows them', `cat <<A; cat <<B\n\${HOME}\nA\n$(echo b)\nB\nprintf %s ${REF}`],
    ['a loop after a comment', `# it's not 'a quote ${REF}\nfor v in ${REF}; do printf %s "$v"; done`],
    ['a case', `case ${REF} in 'x)') echo no ;; *) printf %s ${REF} ;; esac`],
    ['a pattern of case', `case "$AGENTISO_REF_0" in ${REF}) printf %s ${REF} ;; *) echo no ;; esac`],
    ['text after arithmetic', `i=$((1 << 2)); printf %s ${REF}`],
    ['text after an expansion', `i=\${i:-it\\'s "a"}; printf %s ${REF}`],
    ['text behind a # that is no comment', `printf %s a#'${REF}'`],
    ['text after a line that goes on', `printf \\\n%s ${REF}`],
    ['text with a dollar sign at its end', `printf %s '$'; printf %s ${REF}`],
    ['text after backticks', `v=\`echo "it's" '\\\`'\`; printf %s ${REF}`],
  ])('is not run in %s', (_name, command) => {
    for (const value of HOSTILE.slice(0, 12)) {
      const { out, err } = run(shell, command, value);
      expect(err).toBe('');
      expect(out).toContain(value.replace(/\n+$/, ''));
    }
  });

  it('arrives as it is, whatever quotes it is put between', () => {
    const plain = fc.stringMatching(/^[a-z0-9 ./:=-]{0,5}$/);
    const bare = fc.stringMatching(/^[a-z0-9./:-]{0,5}$/).map((text) => ({ text, said: text }));
    const between = (quote: string) => (parts: readonly string[]) => ({
      text: `${quote}${parts.join(REF)}${quote}`,
      said: parts.join('\0'),
    });
    const parts = fc.array(plain, { minLength: 1, maxLength: 3 });
    const segment = fc.oneof(bare, fc.constant({ text: REF, said: '\0' }), parts.map(between("'")), parts.map(between('"')));
    const word = fc.array(segment, { minLength: 1, maxLength: 4 });
    const value = fc.oneof(fc.constantFrom(...HOSTILE.slice(0, 13)), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), value, (given, raw) => {
        const text = Buffer.from(raw.replaceAll('\0', '')).toString();
        // The empty quotes make a word of what may be nothing.
        const command = given.map((segments) => `''${segments.map((one) => one.text).join('')}`).join(' ');
        const want = given.map((segments) => segments.map((one) => one.said.replaceAll('\0', () => text)).join(''));
        expect(words(shell, command, text)).toEqual(want);
      }),
      { numRuns: 60 },
    );
  });

  it('runs nothing of it, wherever it is put', () => {
    const noise = [
      '"',
      "'",
      '\\',
      '$',
      '`',
      '(',
      ')',
      '{',
      '}',
      '<<E\n',
      '\nE\n',
      '#',
      ' ',
      '\n',
      'a',
      '$((',
      '))',
      '[[ ',
      ' ]]',
      'x[',
      ']=',
      ';',
    ];
    const command = fc.array(fc.oneof(fc.constantFrom(...noise), fc.constant(REF)), { maxLength: 14 });
    fc.assert(
      fc.property(command, (pieces) => {
        const text = pieces.join('');
        if (templateProblems(task({ command: text }).spec).length > 0) return;
        // What the command itself says may be nonsense to the shell. The value must not be what is run, nor calculated with.
        const script = rendered(text, 'a[$(touch x)]; touch x; `touch x`').command;
        expect(script).not.toContain('touch');
        // Where the whole command is a word that is run, there is no such program; an empty output file is none of ours either.
        if (!/[<>&]/.test(text.replaceAll('<<E', ''))) run(shell, text, 'a[$(touch x)]; touch x; `touch x`');
      }),
      { numRuns: 150 },
    );
  });
});

describe('a reference', () => {
  it('is found in command, prompt and env, with or without spaces, by short or full name', () => {
    const spec = { team: 'a', command: 'x {{ tasks.one.result.exitCode }}', env: { V: '{{tasks.a-one.result.commit}}', W: 'none' } };
    expect(referencesOf(spec)).toEqual([
      { task: 'one', field: 'exitCode', segments: ['command'] },
      { task: 'a-one', field: 'commit', segments: ['env', 'V'] },
    ]);
    expect(referencesOf({ team: 'a', prompt: 'of {{tasks.b.result.stderr}}' })).toMatchObject([{ task: 'b', segments: ['prompt'] }]);
    expect(referencesOf({ team: 'a', command: `{{.Values}} \${{ x }} {{"{{"}}tasks.a.result.stdout}}` })).toEqual([]);
  });

  it.each([
    ['by short name', { dependsOn: ['one'], prompt: '{{tasks.one.result.stdout}}' }],
    ['by full name', { dependsOn: ['one'], prompt: '{{tasks.a-one.result.stdout}}' }],
    ['of a full name by the short one', { dependsOn: ['a-one'], prompt: '{{ tasks.one.result.stdout }}' }],
    ['that is none of ours', { command: 'echo {{ other }} {{}} }} {{ x.tasks.y }}' }],
    ['that is two braces', { command: `echo {{"{{"}}tasks.x.result.stdout}} '{{ "{{" }}'` }],
  ])('is in order %s', (_name, spec) => {
    expect(templateProblems({ team: 'a', ...spec })).toEqual([]);
  });

  it.each([
    [{ prompt: REF }, 'spec.prompt', 'not in dependsOn (it is empty); add one to dependsOn'],
    [{ dependsOn: ['b', 'c'], env: { V: REF } }, 'spec.env.V', 'not in dependsOn (it has b, c); add one to dependsOn'],
    [{ dependsOn: ['one'], prompt: '{{tasks.one.result.output}}' }, 'spec.prompt', 'with one of stdout, stderr, exitCode, commit'],
    [{ dependsOn: ['one'], prompt: '{{tasks.one.stdout}}' }, 'spec.prompt', 'write {{tasks.NAME.result.FIELD}}'],
    [{ dependsOn: ['one'], command: `echo \\${REF}` }, 'spec.command', 'directly behind a backslash; put it into env'],
    [{ dependsOn: ['one'], command: `echo $${REF}` }, 'spec.command', 'directly behind a $'],
    [{ dependsOn: ['one'], command: `echo "a\\\\\\${REF}"` }, 'spec.command', 'directly behind a backslash'],
    [{ dependsOn: ['one'], command: `echo \`echo ${REF}\`` }, 'spec.command', 'inside backticks'],
    [{ dependsOn: ['one'], command: `echo $((1 + ${REF}))` }, 'spec.command', 'inside ((...))'],
    [{ dependsOn: ['one'], command: `((${REF} > 1))` }, 'spec.command', 'inside ((...))'],
    [{ dependsOn: ['one'], command: `[[ ${REF} -eq 1 ]]` }, 'spec.command', 'between [[ and ]]'],
    [{ dependsOn: ['one'], command: `a[${REF}]=1` }, 'spec.command', 'in the index of an array'],
    [{ dependsOn: ['one'], command: `echo "\${x:-${REF}}"` }, 'spec.command', `inside \${...}`],
    [{ dependsOn: ['one'], command: `cat <<'E'\n${REF}\nE` }, 'spec.command', 'whose delimiter is quoted'],
    [{ dependsOn: ['one'], command: `cat <<${REF}\nx\n` }, 'spec.command', 'shells read in different ways'],
    [{ dependsOn: ['one'], command: `echo $'it\\'s' ${REF}` }, 'spec.command', 'shells read in different ways'],
    [{ dependsOn: ['one'], command: `echo $(case x in a) ;; esac) ${REF}` }, 'spec.command', 'shells read in different ways'],
  ])('is refused: %j', (spec, path, why) => {
    const problems = templateProblems({ team: 'a', ...spec });
    expect(problems).toMatchObject([{ path, kind: 'Invalid', message: expect.stringContaining(why) }]);
  });

  it('names where it stands in a Team', () => {
    expect(templateProblems({ team: 'a', prompt: REF }, ['spec', 'tasks', 2])).toMatchObject([
      { path: 'spec.tasks[2].prompt', segments: ['spec', 'tasks', 2, 'prompt'] },
    ]);
  });
});

describe('rendering', () => {
  const one = finished('a-one', { stdout: 'out $(x)\n', stderr: "it's", exitCode: 0, commit: 'c0ffee' });

  it('puts text into prompts and env as it is, and keeps what is not ours', () => {
    const spec = {
      prompt: `<{{tasks.one.result.stdout}}> {{other}} {{"{{"}}tasks.one.result.stdout}}`,
      env: { V: `{{tasks.a-one.result.stderr}}!` },
    };
    expect(render(task(spec), [one])).toEqual({ prompt: '<out $(x)\n> {{other}} {{tasks.one.result.stdout}}', env: { V: "it's!" } });
  });

  it('gives each value one variable, and leaves the rest of a command alone', () => {
    const command = `a {{tasks.one.result.exitCode}} {{ tasks.one.result.exitCode }} "{{tasks.one.result.commit}}" {{"{{"}}x}}`;
    expect(render(task({ command, env: { V: 'v' } }), [one])).toEqual({
      command: `a "\${AGENTISO_REF_0}" "\${AGENTISO_REF_0}" "\${AGENTISO_REF_1}" {{x}}`,
      env: { V: 'v', AGENTISO_REF_0: '0', AGENTISO_REF_1: 'c0ffee' },
    });
  });

  it.each([
    ['a zero byte', finished('a-one', { stdout: 'a\0b' }), 'Invalid', 'zero byte'],
    ['no result', finished('a-one', {}), 'Invalid', 'task one has no stdout'],
    ['another task', finished('a-other', { stdout: 'x' }), 'Invalid', 'task one has no stdout'],
    ['output that was cut', finished('a-one', { stdout: 'x', truncated: true }), 'TooLarge', 'only its beginning and end'],
    [
      'output whose whole is elsewhere',
      finished('a-one', { stdout: 'x', truncated: true, artifacts: [{ name: 'stdout.log' }] }),
      'TooLarge',
      'only its beginning and end',
    ],
    ['more than a variable takes', finished('a-one', { stdout: 'ü'.repeat(64 * 1024) }), 'TooLarge', 'at most 131072'],
  ])('refuses %s', (_name, dependency, code, message) => {
    expect(() => render(task({ command: `echo ${REF}` }), [dependency])).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it('takes the stream that is whole when only the other one was cut', () => {
    const cut = finished('a-one', { stdout: 'whole', truncated: true, artifacts: [{ name: 'stderr.log' }] });
    expect(render(task({ prompt: REF }), [cut]).prompt).toBe('whole');
  });
});
