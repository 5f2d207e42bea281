import { describe, expect, it } from 'vitest';
import { type MediaRange, parseAccept } from './accept.ts';

describe('parseAccept', () => {
  it.each<[header: string | undefined, want: readonly MediaRange[]]>([
    [undefined, []],
    ['', []],
    [' , ', []],
    ['*/*', [{ type: '*/*', parameters: {} }]],
    ['Application/JSON', [{ type: 'application/json', parameters: {} }]],
    ['application/json; q=0.8 ;V="v2"', [{ type: 'application/json', parameters: { q: '0.8', v: 'v2' } }]],
    [
      'a/b;x=1=2,c/d;flag',
      [
        { type: 'a/b', parameters: { x: '1=2' } },
        { type: 'c/d', parameters: { flag: '' } },
      ],
    ],
  ])('reads %j', (header, want) => {
    expect(parseAccept(header)).toEqual(want);
  });
});
