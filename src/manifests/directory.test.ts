import { describe, expect, it } from 'vitest';
import { managerNameProblem } from '#api/fields/manager-name.ts';
import { directoriesOf, fieldManagerOf, isDirectory, isInside } from './directory.ts';

describe('the name of a directory as a manager of fields', () => {
  it('is the same for the same path, and different for equal names in different places', () => {
    expect(fieldManagerOf('/a/team')).toBe('dir:team-e208bac4');
    expect(fieldManagerOf('/b/team')).not.toBe(fieldManagerOf('/a/team'));
    expect(isDirectory(fieldManagerOf('/a/team'))).toBe(true);
  });

  it.each(['/', `/${'x'.repeat(255)}`, '/tab\tand\nline', '/größe', '/emoji-🙂'])('is a name that a manager may have: %j', (path) => {
    expect(managerNameProblem(fieldManagerOf(path))).toBeUndefined();
  });
});

it('takes a directory that is given twice once', () => {
  expect(directoriesOf(['/a', '/b', '/a/', '/b/../a']).map(({ path }) => path)).toEqual(['/a', '/b']);
});

it.each([
  ['/a', '/a', true],
  ['/a', '/a/b', true],
  ['/a', '/ab', false],
  ['/', '/a', true],
  ['/a/b', '/a', false],
])('in %s, %s is inside: %s', (folder, path, want) => {
  expect(isInside(folder, path)).toBe(want);
});
