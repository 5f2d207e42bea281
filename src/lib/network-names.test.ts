import { expect, it } from 'vitest';
import { isNameIn, isRangeIn, plainRange } from './network-names.ts';

it.each([
  ['10.1.0.0/16', '10.0.0.0/8', true],
  ['10.0.0.0/8', '10.1.0.0/16', false],
  ['10.0.0.0/8', '10.0.0.0/8', true],
  ['172.16.5.4/12', '172.16.0.0/12', true],
  ['192.168.0.0/16', '10.0.0.0/8', false],
  ['01.2.3.4/32', '1.0.0.0/8', true],
  ['8.8.8.8/32', '0.0.0.0/0', true],
])('range %s in %s: %s', (inner, outer, want) => {
  expect(isRangeIn(inner, outer)).toBe(want);
});

it.each([
  ['a.example.com', '*.example.com', true],
  ['example.com', '*.example.com', false],
  ['*.example.com', '*.example.com', true],
  ['*.a.example.com', '*.example.com', true],
  ['*.example.com', 'a.example.com', false],
  ['badexample.com', '*.example.com', false],
])('name %s in %s: %s', (inner, outer, want) => {
  expect(isNameIn(inner, outer)).toBe(want);
});

it('writes a range as every parser reads it', () => {
  expect(plainRange('01.00.3.04/8')).toBe('1.0.3.4/8');
});
