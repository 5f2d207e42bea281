import { describe, expect, it } from 'vitest';
import { type Listing, nextListing } from './steadiness.ts';

/** Names, identity of the directory, milliseconds since the look before. */
type Look = readonly [names: string, identity: string | undefined, afterMs: number];

function waits(looks: readonly Look[]): number[] {
  let nowMs = 1_000;
  let listing: Listing | undefined;
  return looks.map(([names, identity, afterMs]) => {
    nowMs += afterMs;
    listing = nextListing(listing, names, identity, nowMs);
    return listing.waitMs;
  });
}

describe('the list of files in a directory', () => {
  const cases: [string, Look[], number[]][] = [
    [
      'that stays the same',
      [
        ['a b', 'd', 0],
        ['a b', 'd', 60],
        ['a b', 'd', 40],
        ['a b', 'd', 0],
      ],
      [100, 40, 0, 0],
    ],
    [
      'that changes',
      [
        ['a b', 'd', 0],
        ['a b', 'd', 100],
        ['b', 'd', 500],
        ['b', 'd', 100],
      ],
      [100, 0, 100, 0],
    ],
    [
      'that keeps changing',
      [
        ['a', 'd', 0],
        ['b', 'd', 90],
        ['a', 'd', 90],
        ['b', 'd', 900],
      ],
      [100, 100, 100, 100],
    ],
    [
      'of another directory in its place',
      [
        ['a b', 'd', 0],
        ['a b', 'd', 100],
        ['a', 'e', 100],
        ['a', 'e', 5_000],
        ['b', 'e', 0],
      ],
      [100, 0, 5_000, 0, 100],
    ],
    [
      'of a directory that fills again',
      [
        ['a b', 'd', 0],
        ['a b', undefined, 0],
        ['a', 'd', 0],
        ['a b', 'd', 4_000],
        ['a b', 'd', 5_000],
      ],
      [100, 5_000, 5_000, 5_000, 0],
    ],
  ];
  it.each(cases)('%s is believed in time', (_, looks, want) => {
    expect(waits(looks)).toEqual(want);
  });
});
