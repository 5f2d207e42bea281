import { describe, expect, it } from 'vitest';
import { whyUnknownModel } from './known-models.ts';

const known = (provider: string) => (provider === 'anthropic' ? ['claude-good-1', 'claude-new-*'] : undefined);

describe('a model', () => {
  it.each([
    { name: 'that is written down', choice: { backend: 'claude-code', model: 'claude-good-1' } },
    { name: 'that begins as one that is', choice: { backend: 'claude-code', model: 'claude-new-20301231' } },
    { name: 'that is left to the backend', choice: { backend: 'claude-code', model: null } },
    { name: 'of a provider of which nothing is known', choice: { backend: 'codex', model: 'anything' } },
    { name: 'of another provider, by name', choice: { backend: 'claude-code', provider: 'mine', model: 'anything' } },
    { name: 'of nobody', choice: { backend: 'shell', model: 'anything' } },
  ])('$name is taken', ({ choice }) => {
    expect(whyUnknownModel(choice, known)).toBeUndefined();
  });

  it('that is not there is refused with those that are', () => {
    expect(whyUnknownModel({ backend: 'claude-code', model: 'claude-god-1' }, known)).toBe(
      '"claude-god-1": provider anthropic has claude-good-1, claude-new-*; did you mean claude-good-1? (models in credentials.yaml)',
    );
    expect(whyUnknownModel({ backend: 'codex', provider: 'anthropic', model: 'x' }, known)).toContain('has claude-good-1, claude-new-* (');
  });
});
