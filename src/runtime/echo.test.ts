import { expect, it } from 'vitest';
import { Echoes } from './echo.ts';

it('takes every version as news when nothing is going on', () => {
  expect(new Echoes().isNews('a', '1')).toBe(true);
});

it('knows the write of a failed pass whether it is heard during the pass or after it', () => {
  const echoes = new Echoes();
  echoes.begin('a');
  expect(echoes.isNews('a', '5')).toBe(false);
  expect(echoes.end('a', { isOwnNews: false, written: ['5', '6'] })).toBe(false);
  expect(echoes.isNews('a', '6')).toBe(false);
  expect(echoes.isNews('b', '6')).toBe(true);
  expect(echoes.isNews('a', '7')).toBe(true);
});

it('asks for another pass when somebody else wrote during one', () => {
  const echoes = new Echoes();
  echoes.begin('a');
  echoes.isNews('a', '5');
  echoes.isNews('a', '6');
  expect(echoes.end('a', { isOwnNews: false, written: ['6'] })).toBe(true);
});

it('lets a pass that succeeded be followed by one that sees its result', () => {
  const echoes = new Echoes();
  echoes.begin('a');
  echoes.isNews('a', '5');
  expect(echoes.end('a', { isOwnNews: true, written: ['5'] })).toBe(true);
  echoes.begin('a');
  expect(echoes.end('a', { isOwnNews: true, written: [] })).toBe(false);
});

it('remembers no longer than until the next pass', () => {
  const echoes = new Echoes();
  echoes.begin('a');
  echoes.end('a', { isOwnNews: false, written: ['5'] });
  echoes.begin('a');
  echoes.end('a', { isOwnNews: true, written: [] });
  expect(echoes.isNews('a', '5')).toBe(true);
});
