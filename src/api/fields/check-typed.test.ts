import { describe, expect, test } from 'vitest';
import { typedProblems } from './check-typed.ts';
import { typeOf } from './field-type.ts';
import { SCHEMA, team } from './fields.fixture.ts';

function problems(spec: Record<string, unknown>, allowsDuplicates = false): string[] {
  return typedProblems(typeOf(SCHEMA), team(spec), { allowsDuplicates }).map(({ path, message }) => `${path}: ${message}`);
}

describe('fitting the schema', () => {
  test.each<[Record<string, unknown>]>([
    [{ leader: null, members: null, budget: null, until: null, size: null, free: null }],
    [{ size: 1, until: '2026-01-01T00:00:00Z', free: { any: [{ thing: 1 }] }, env: { A: 'x' } }],
    [{ size: '10%', budget: {}, members: [], ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }] }],
  ])('%j fits', (spec) => {
    expect(problems(spec)).toEqual([]);
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{ x: 1 }, ['.spec.x: field not declared in schema']],
    [
      { members: [{ name: 'p', y: 1 }], x: 1 },
      ['.spec.members[name="p"].y: field not declared in schema', '.spec.x: field not declared in schema'],
    ],
    [{ budget: 'text' }, ['.spec.budget: expected map, got &{text}']],
    [{ members: { a: 1, b: [true, null] } }, ['.spec.members: expected list, got &{map[a:1 b:[true <nil>]]}']],
    [{ replicas: 'three' }, ['.spec.replicas: expected numeric (int or float), got string']],
    [{ replicas: true }, ['.spec.replicas: expected numeric (int or float), got bool']],
    [{ leader: 5 }, ['.spec.leader: expected string, got &value.valueUnstructured{Value:5}']],
    [
      { leader: { a: ['x'] } },
      ['.spec.leader: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x"}}}'],
    ],
    [{ paused: 'no' }, ['.spec.paused: expected boolean, got &{no}']],
    [{ until: { a: 1 } }, ['.spec.until: expected any scalar, got &{map[a:1]}']],
    [{ args: ['a', 1] }, ['.spec.args[1]: expected string, got &value.valueUnstructured{Value:1}']],
    [{ env: { A: 1 } }, ['.spec.env.A: expected string, got &value.valueUnstructured{Value:1}']],
    [{ members: [{ name: 'p' }, { name: 'p' }] }, ['.spec.members: duplicate entries for key [name="p"]']],
    [{ skills: ['a', 'a'] }, ['.spec.skills: duplicate entries for key [="a"]']],
    [
      { members: [{ weight: 1 }] },
      [
        `.spec.members: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
      ],
    ],
    [{ members: ['p'] }, ['.spec.members: element 0: associative list with keys may not have non-map elements']],
    [{ members: [null] }, ['.spec.members: element 0: associative list with keys may not have a null element']],
    [
      { skills: [{ a: 1 }] },
      ["spec.skills: element 0: associative list without keys has an element that's a map type"].map((text) => `.${text}`),
    ],
    [{ skills: [['a']] }, ['.spec.skills: element 0: not supported: associative list with lists as elements']],
    [{ skills: [null] }, [".spec.skills: element 0: associative list without keys has an element that's an explicit null"]],
  ])('%j does not', (spec, expected) => {
    expect(problems(spec)).toEqual(expected);
  });

  test('a stored object may have duplicates', () => {
    expect(problems({ skills: ['a', 'a'] }, true)).toEqual([]);
  });

  test('content nested without end is refused, not walked', () => {
    let free: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth++) free = { a: free };
    expect(problems({ free })).toEqual([expect.stringMatching(/\.a: nested too deeply$/)]);
  });

  test('a key named __proto__ is undeclared like any other', () => {
    expect(problems(JSON.parse('{"__proto__":{"leader":"a"}}'))).toEqual(['.spec.__proto__: field not declared in schema']);
  });
});
