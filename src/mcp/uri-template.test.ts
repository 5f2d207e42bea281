import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillUri, matchUri, namesIn } from './uri-template.ts';

const TASK = 'agentiso://teams/{team}/tasks/{task}{?namespace}';
const NOTE = 'agentiso://vault/{+path}';

describe('matchUri', () => {
  it.each([
    [TASK, 'agentiso://teams/a/tasks/b', { team: 'a', task: 'b' }],
    [TASK, 'agentiso://teams/a/tasks/b?namespace=lab', { team: 'a', task: 'b', namespace: 'lab' }],
    [TASK, 'agentiso://teams/%61/tasks/b%20c', { team: 'a', task: 'b c' }],
    [NOTE, 'agentiso://vault/guides/house%20style.md', { path: 'guides/house style.md' }],
    [NOTE, 'agentiso://vault/x%2525.md', { path: 'x%25.md' }],
    ['agentiso://teams{?namespace}', 'agentiso://teams', {}],
  ])('%s takes %s apart', (template, uri, values) => {
    expect(matchUri(template, uri)).toEqual(values);
  });

  it.each([
    [TASK, 'agentiso://teams/a/tasks/b/c'],
    [TASK, 'agentiso://teams/a/tasks/'],
    [TASK, 'agentiso://teams//tasks/b'],
    [TASK, 'xagentiso://teams/a/tasks/b'],
    [TASK, 'agentiso://teams/a/tasks/b#end'],
    [TASK, 'agentiso://teams/a%2Ftasks%2Fb/tasks/c'],
    [TASK, 'agentiso://teams/../tasks/b'],
    [TASK, 'agentiso://teams/%2e%2E/tasks/b'],
    [TASK, 'agentiso://teams/a/tasks/%ff'],
    [TASK, 'agentiso://teams/a/tasks/b%00'],
    [TASK, 'agentiso://teams/a/tasks/b%0a'],
    [TASK, 'agentiso://teams/a/tasks/b?'],
    [TASK, 'agentiso://teams/a/tasks/b?namespace'],
    [TASK, 'agentiso://teams/a/tasks/b?namespace='],
    [TASK, 'agentiso://teams/a/tasks/b?namespace=x&namespace=y'],
    [TASK, 'agentiso://teams/a/tasks/b?other=x'],
    [TASK, 'agentiso://teams/a/tasks/b?namespace=x%2Fy'],
    [NOTE, 'agentiso://vault/'],
    [NOTE, 'agentiso://vault/a//b.md'],
    [NOTE, 'agentiso://vault//etc/passwd'],
    [NOTE, 'agentiso://vault/../b.md'],
    [NOTE, 'agentiso://vault/a/%2e%2e/%2e%2e/b.md'],
    [NOTE, 'agentiso://vault/a%2f..%2fb.md'],
    [NOTE, 'agentiso://vault/a%5c..%5cb.md'],
    [NOTE, `agentiso://vault/${'a'.repeat(20_000)}`],
  ])('%s has nothing to do with %s', (template, uri) => {
    expect(matchUri(template, uri)).toBeUndefined();
  });
});

describe('fillUri', () => {
  it('gives what matchUri takes apart, whatever the names are', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[/\\\p{Cc}]/u.test(text) && !['.', '..'].includes(text));
    fc.assert(
      fc.property(name, name, fc.option(name, { nil: undefined }), (team, task, namespace) => {
        const values = { team, task, ...(namespace === undefined ? {} : { namespace }) };
        expect(matchUri(TASK, fillUri(TASK, values))).toEqual(values);
      }),
    );
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (names) => {
        expect(matchUri(NOTE, fillUri(NOTE, { path: names.join('/') }))).toEqual({ path: names.join('/') });
      }),
    );
  });

  it.each(['', '..', 'a/b', 'a\0'])('refuses %j as a name', (team) => {
    expect(() => fillUri(TASK, { team, task: 'x' })).toThrow('cannot be part of an address');
  });
});

it('knows the names of a template', () => {
  expect(namesIn(TASK)).toEqual(['team', 'task', 'namespace']);
});
