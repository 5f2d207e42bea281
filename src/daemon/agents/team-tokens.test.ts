import { expect, it } from 'vitest';
import { TeamTokens } from './team-tokens.ts';

it('keeps a token while members come, and changes it when one leaves', () => {
  const tokens = new TeamTokens();
  const first = tokens.ofTeam('team', ['a']);
  expect(Buffer.from(first, 'base64url')).toHaveLength(32);
  expect(tokens.ofTeam('team', ['a', 'b'])).toBe(first);
  const second = tokens.ofTeam('team', ['b']);
  expect(second).not.toBe(first);
  expect(tokens.ofTeam('team', ['b'])).toBe(second);
  expect(tokens.ofTeam('other', ['a'])).not.toBe(second);
});

it('gives each agent its own, until it is forgotten', () => {
  const tokens = new TeamTokens();
  const token = tokens.ofAgent('a');
  expect([tokens.ofAgent('a') === token, tokens.ofAgent('b') === token]).toEqual([true, false]);
  tokens.forgetAgent('a');
  expect(tokens.ofAgent('a')).not.toBe(token);
});
