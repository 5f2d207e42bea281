import { expect, it } from 'vitest';
import { identityFromHeader } from './bearer.ts';
import { personIdentity } from './identity.ts';

const known = personIdentity('viewer', 'eve');
const tokens = { identityOf: (token: string) => (token === 'abc-_9' ? known : undefined) };

it.each(['Bearer abc-_9', 'bearer abc-_9', 'BEARER   abc-_9', 'Bearer abc-_9 '])('%j is understood', (header) => {
  expect(identityFromHeader(header, tokens)).toBe(known);
});

it.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Bearer x',
  'Bearer abc-_9 x',
  'Bearerabc-_9',
  'Basic abc-_9',
  'abc-_9',
  ' Bearer abc-_9',
  'Bearer abc-_9, Bearer x',
])('%j names nobody', (header) => {
  expect(identityFromHeader(header, tokens)).toBeUndefined();
});
