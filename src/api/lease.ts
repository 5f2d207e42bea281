/** What is special about leases. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';
import type { KindObject } from './meta.ts';

/** Without what says how to choose a holder: Kubernetes drops it too, unless it is told to choose. */
export function completeLease(lease: KindObject): KindObject {
  if (!isObject(lease.spec)) return lease;
  const { strategy: _strategy, preferredHolder: _holder, ...spec } = lease.spec;
  return { ...lease, spec };
}

export function leaseProblems({ spec }: KindObject): FieldProblem[] {
  const { leaseDurationSeconds = 1, leaseTransitions = 0 } = isObject(spec) ? spec : {};
  return [
    ...(isLess(leaseDurationSeconds, 1) ? [problem('leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')] : []),
    ...(isLess(leaseTransitions, 0) ? [problem('leaseTransitions', leaseTransitions, 'must be greater than or equal to 0')] : []),
  ];
}

function isLess(value: unknown, least: number): boolean {
  return typeof value === 'number' && value < least;
}

function problem(field: string, value: unknown, text: string): FieldProblem {
  return { path: `spec.${field}`, segments: ['spec', field], kind: 'Invalid', message: `Invalid value: ${JSON.stringify(value)}: ${text}` };
}
