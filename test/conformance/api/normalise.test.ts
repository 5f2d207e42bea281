import { describe, expect, it } from 'vitest';
import { normalise } from './normalise.ts';

const answer = (body: unknown) => ({ status: 200, headers: {}, body });
const bodyOf = (body: unknown) => normalise({ step: answer(body) })['step']?.body;

const one = '0b5e6a0c-0f0a-4a58-8a29-8e9f1d6f3c11';
const two = '1b5e6a0c-0f0a-4a58-8a29-8e9f1d6f3c22';

describe('normalise', () => {
  it('numbers uids and versions by first sight, over all steps', () => {
    const object = (uid: string, resourceVersion: string) => ({ kind: 'Team', metadata: { uid, resourceVersion } });
    const { a, b, c } = normalise({ a: answer(object(one, '17')), b: answer(object(two, '18')), c: answer(object(one, '18')) });
    expect([a?.body, b?.body, c?.body]).toEqual([object('<uid-1>', '<rv-1>'), object('<uid-2>', '<rv-2>'), object('<uid-1>', '<rv-2>')]);
  });

  it.each([
    [
      'versions of lists apart from those of objects',
      { kind: 'TeamList', metadata: { resourceVersion: '7' } },
      { kind: 'TeamList', metadata: { resourceVersion: '<list-rv-1>' } },
    ],
    [
      'no version as it is',
      { kind: 'TeamList', metadata: { resourceVersion: '' } },
      { kind: 'TeamList', metadata: { resourceVersion: '' } },
    ],
    [
      'versions of bookmarks without number',
      { type: 'BOOKMARK', object: { kind: 'Team', metadata: { resourceVersion: '7' } } },
      { type: 'BOOKMARK', object: { kind: 'Team', metadata: { resourceVersion: '<bookmark-rv>' } } },
    ],
    [
      'times the server makes, but not those of scenarios',
      ['2026-01-02T03:04:05Z', '2020-01-02T03:04:05Z'],
      ['<time>', '2020-01-02T03:04:05Z'],
    ],
    ['microseconds as something else', '2026-01-02T03:04:05.123456Z', '<microtime>'],
    ['ages in cells only', { cells: ['3m2s', 'ready'], spec: '3m2s' }, { cells: ['<age>', 'ready'], spec: '3m2s' }],
    ['versions in messages', 'Too large resource version: 9999, current: 12', 'Too large resource version: <rv>, current: <rv>'],
    ['versions in old watches', 'too old resource version: 1 (345)', 'too old resource version: <rv> (<rv>)'],
    ['no other numbers in messages', 'resourceVersion: Invalid value: 0: at most 1800', 'resourceVersion: Invalid value: 0: at most 1800'],
    [
      'versions in documents that messages quote',
      '{\\"resourceVersion\\":\\"345\\",\\"x\\":\\"345\\"}',
      '{\\"resourceVersion\\":\\"<rv>\\",\\"x\\":\\"345\\"}',
    ],
    ['generated names', { generateName: 'a-', name: 'a-x7k2p' }, { generateName: 'a-', name: 'a-<random>' }],
    [
      'generated names with a cut prefix',
      { generateName: 'a'.repeat(70), name: `${'a'.repeat(58)}x7k2p` },
      { generateName: 'a'.repeat(70), name: `${'a'.repeat(58)}<random>` },
    ],
    ['names beside an unused generateName as they are', { generateName: 'a-', name: 'b' }, { generateName: 'a-', name: 'b' }],
    [
      'managers sorted by name',
      {
        managedFields: [
          { manager: 'b', operation: 'Update' },
          { manager: 'a', operation: 'Update' },
        ],
      },
      {
        managedFields: [
          { manager: 'a', operation: 'Update' },
          { manager: 'b', operation: 'Update' },
        ],
      },
    ],
  ])('writes %s', (_name, body, want) => {
    expect(bodyOf(body)).toEqual(want);
  });

  it('sorts the causes of a refusal, and its message with them', () => {
    const causes = [
      { field: 'b', message: 'Required value' },
      { field: 'a', message: 'Too long' },
    ];
    expect(bodyOf({ message: 'Team "x" is invalid: [b: Required value, a: Too long]', details: { causes } })).toEqual({
      message: 'Team "x" is invalid: [a: Too long, b: Required value]',
      details: { causes: [causes[1], causes[0]] },
    });
  });
});
