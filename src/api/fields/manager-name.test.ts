import { describe, expect, test } from 'vitest';
import { managerNameProblem } from './manager-name.ts';

describe('names of field managers', () => {
  test.each(['kubectl', 'kubectl-client-side-apply', 'my manager', 'Prüfer ✓', 'x'.repeat(128)])('%s is one', (name) => {
    expect(managerNameProblem(name)).toBeUndefined();
  });

  test.each([
    ['', 'Required value: must be 1 to 128 printable characters'],
    ['x'.repeat(129), 'Too long: may not be more than 128 bytes'],
    ['ü'.repeat(65), 'Too long: may not be more than 128 bytes'],
    ['a\tb', 'Invalid value: "a\\tb": invalid character U+0009 (at position 1)'],
    ['ü\u00a0', 'Invalid value: "ü\u00a0": invalid character U+00A0 (at position 2)'],
    ['a\u200b', 'Invalid value: "a\u200b": invalid character U+200B (at position 1)'],
  ])('%j is not', (name, problem) => {
    expect(managerNameProblem(name)).toBe(problem);
  });
});
