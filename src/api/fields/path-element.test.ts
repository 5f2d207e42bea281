import { describe, expect, test } from 'vitest';
import { compareElements, printPath } from './path-element.ts';

describe('path elements', () => {
  test.each([
    [['f:spec', 'f:members', 'k:{"name":"p"}', 'f:weight'], '.spec.members[name="p"].weight'],
    [['f:spec', 'f:skills', 'v:"sh"'], '.spec.skills[="sh"]'],
    [['f:ports', 'k:{"port":80,"protocol":"TCP"}'], '.ports[port=80,protocol="TCP"]'],
    [['f:list', 'i:3'], '.list[3]'],
    [['f:flags', 'v:true'], '.flags[=true]'],
    [['k:{"a":null}'], '[a=null]'],
  ])('%j prints as %s', (path, text) => {
    expect(printPath(path)).toBe(text);
  });

  test('are ordered by sort, then by what they say', () => {
    const sorted = [
      'f:a',
      'f:b',
      'k:{"n":2}',
      'k:{"n":10}',
      'k:{"n":10,"o":1}',
      'k:{"n":"a"}',
      'v:1.5',
      'v:"a"',
      'v:false',
      'v:true',
      'i:2',
      'i:10',
    ];
    expect([...sorted].reverse().sort(compareElements)).toEqual(sorted);
  });
});
