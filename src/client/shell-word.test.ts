import { describe, expect, it } from 'vitest';
import { shellWord } from './shell-word.ts';

describe('shellWord', () => {
  it.each([
    { text: '.agentiso/kubeconfig', want: '.agentiso/kubeconfig' },
    { text: '/home/a b/x', want: "'/home/a b/x'" },
    { text: "it's", want: "'it'\\''s'" },
    { text: '', want: "''" },
  ])('$text', ({ text, want }) => {
    expect(shellWord(text)).toBe(want);
  });
});
