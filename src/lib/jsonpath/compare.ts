/** Comparing two values in a filter: only texts, numbers and truth values, and only with their like. */
import { JsonPathError, type Operator } from './template.ts';

type Comparable = string | number | boolean;

const ORDER: Readonly<Record<Operator, (left: Comparable, right: Comparable) => boolean>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

export function compare(left: unknown, operator: Operator, right: unknown): boolean {
  if (!isComparable(left) || !isComparable(right)) throw new JsonPathError('invalid type for comparison');
  if (typeof left !== typeof right) throw new JsonPathError('incompatible types for comparison');
  const isOrdering = operator !== '==' && operator !== '!=';
  if (isOrdering && typeof left === 'boolean') throw new JsonPathError('invalid type for comparison');
  return ORDER[operator](left, right);
}

function isComparable(value: unknown): value is Comparable {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
