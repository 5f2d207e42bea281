import { describe, expect, it } from 'vitest';
import { isProof, readChanges, readGeneration } from './proof.ts';

describe('a transaction is proven', () => {
  const expected = { verified: 7, changes: ['delete open 5', 'add team_of 10.99.0.2 : 1'] };
  const heard = { generation: 8, pid: 1, changes: ['add team_of 10.99.0.2 : 1', 'delete open 5'] };

  it.each([
    ['when it is the next one and changed what it should, in any order', heard, true],
    ['not when somebody else was in between', { ...heard, generation: 9 }, false],
    ['not by an older one that says the same', { ...heard, generation: 7 }, false],
    ['not when it changed less', { ...heard, changes: heard.changes.slice(1) }, false],
    ['not when it changed more', { ...heard, changes: [...heard.changes, 'add open 6'] }, false],
    ['not when it changed something else', { ...heard, changes: ['add team_of 10.99.0.2 : 2', 'delete open 5'] }, false],
    ['not when it changed something twice', { ...heard, changes: ['delete open 5', 'delete open 5'] }, false],
  ])('%s', (_when, announcement, want) => {
    expect(isProof(expected, announcement)).toBe(want);
  });
});

describe('the words of nft monitor', () => {
  it.each([
    ['add element inet agentiso team_of { 10.99.0.2 : 0x00000007 }', ['add team_of 10.99.0.2 : 7']],
    ['delete element inet agentiso pair_of { 0x00000007 . 10.99.0.2 : 0x01000007 }', ['delete pair_of 7 . 10.99.0.2 : 16777223']],
    [
      'add element inet agentiso ports { 0x01000001 . 8080, 0x01000001 . 8081 }',
      ['add ports 16777217 . 8080', 'add ports 16777217 . 8081'],
    ],
  ])('%s', (line, want) => {
    expect(readChanges(line)).toEqual(want);
  });

  it.each([
    'add rule inet agentiso forward_agents accept',
    'add element inet theirs open { 0x00000001 }',
    'flush ruleset',
    'add table ip x',
  ])('that are about nothing of ours prove nothing: %s', (line) => expect(readChanges(line)).toEqual([line]));

  it('end with the generation', () => {
    expect(readGeneration('# new generation 12 by process 345 (nft)')).toEqual({ generation: 12, pid: 345 });
    expect(readGeneration('# ERROR: We lost some netlink events!')).toBeUndefined();
  });
});
