import { describe, expect, it } from 'vitest';
import { readCounters, readRules } from './read-back.ts';

const family = { family: 'inet', table: 'agentiso' };
const metainfo = { metainfo: { version: '1.0.6', json_schema_version: 1 } };
const rule = (handle: number, expr: unknown[]) => ({ rule: { ...family, chain: 'refuse', handle, expr } });
const set = (name: string, elem?: unknown[]) => ({ set: { ...family, name, type: 'mark', handle: 7, ...(elem ? { elem } : {}) } });
const listing = (...items: unknown[]) => ({ nftables: [metainfo, ...items] });

describe('elements', () => {
  it.each([
    ['a map', { map: { ...family, name: 'team_of', elem: [['10.99.0.2', 1]] } }, { team_of: ['10.99.0.2 : 1'] }],
    [
      'a map with two keys',
      { map: { ...family, name: 'pair_of', elem: [[{ concat: [1, '10.99.0.2'] }, 7]] } },
      { pair_of: ['1 . 10.99.0.2 : 7'] },
    ],
    ['a set of marks', set('egress', [2, 1]), { egress: ['1', '2'] }],
    [
      'ranges',
      set('egress_to', [{ concat: [1, { prefix: { addr: '10.0.0.0', len: 8 } }] }, { concat: [1, '1.2.3.4'] }]),
      { egress_to: ['1 . 1.2.3.4', '1 . 10.0.0.0/8'] },
    ],
    ['a set without any', set('open'), { open: [] }],
  ])('of %s are read as nft would take them', (_what, item, want) => {
    expect(readRules(listing(item)).elements).toMatchObject(want);
  });
});

describe('the shape', () => {
  const shapeOf = (...items: unknown[]) => readRules(listing(...items)).shape;
  const drop = rule(1, [{ counter: { packets: 0, bytes: 0 } }, { drop: null }]);

  it('is the same for other handles, counts and elements', () => {
    expect(shapeOf(rule(9, [{ counter: { packets: 5, bytes: 500 } }, { drop: null }]))).toBe(shapeOf(drop));
    expect(shapeOf(set('egress', [1, 2]))).toBe(shapeOf(set('egress')));
    expect(shapeOf({ counter: { ...family, name: 'spoofed', handle: 3, packets: 9, bytes: 9 } })).toBe(
      shapeOf({ counter: { ...family, name: 'spoofed', handle: 4, packets: 0, bytes: 0 } }),
    );
  });

  it.each([
    ['a rule more', [drop, drop]],
    ['another verdict', [rule(1, [{ counter: { packets: 0, bytes: 0 } }, { accept: null }])]],
    ['no rule', []],
    ['a set of somebody else', [drop, set('theirs', [1])]],
    ['a table that sleeps', [drop, { table: { ...family, flags: 'dormant' } }]],
  ])('differs for %s', (_what, items) => {
    expect(shapeOf(...items)).not.toBe(shapeOf(drop));
  });

  it('differs for an element of a kind that we never make', () => {
    const odd = { elem: { val: 1, timeout: 60 } };
    expect(shapeOf(set('egress', [odd]))).not.toBe(shapeOf(set('egress')));
    expect(shapeOf(set('egress', [{ range: [1, 5] }]))).not.toBe(shapeOf(set('egress')));
  });
});

it('counters are packets by name', () => {
  expect(readCounters(listing({ counter: { ...family, name: 'spoofed', packets: 3, bytes: 180 } }))).toEqual({ spoofed: 3 });
  expect(readCounters({})).toEqual({});
});
