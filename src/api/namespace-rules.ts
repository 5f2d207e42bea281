/** What the status and the finalizers of a namespace may be, in Kubernetes' words. Pure. */
import type { FieldProblem } from '#lib/errors.ts';
import { qualifiedNameProblems } from './label-syntax.ts';
import { FOREGROUND_FINALIZER, type KindObject, ORPHAN_FINALIZER } from './meta.ts';
import { SPEC_FINALIZER } from './namespace.ts';

/** What is as it was stored is not looked at again. */
export function namespaceProblems(namespace: KindObject, old: KindObject | undefined): FieldProblem[] {
  return [
    ...(namespace.spec === old?.spec ? [] : finalizerProblems(namespace)),
    ...(!old || namespace.status === old.status ? [] : phaseProblems(namespace)),
  ];
}

const STANDARD = [SPEC_FINALIZER, FOREGROUND_FINALIZER, ORPHAN_FINALIZER];

function finalizerProblems({ spec }: KindObject): FieldProblem[] {
  const { finalizers } = (spec ?? {}) as { finalizers?: unknown };
  const names = Array.isArray(finalizers) ? finalizers.filter((name) => typeof name === 'string') : [];
  return names.flatMap((name: string, index) => {
    const isBare = !name.includes('/') && !STANDARD.includes(name);
    const texts = isBare
      ? [...qualifiedNameProblems(name), 'name is neither a standard finalizer name nor is it fully qualified']
      : qualifiedNameProblems(name);
    return texts.map((text) => problem({ path: `spec.finalizers[${index}]`, segments: ['spec', 'finalizers', index] }, name, text));
  });
}

function phaseProblems({ metadata, status }: KindObject): FieldProblem[] {
  const { phase } = (status ?? {}) as { phase?: unknown };
  const isEnding = metadata.deletionTimestamp !== undefined;
  if (phase === (isEnding ? 'Terminating' : 'Active')) return [];
  const text = isEnding
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  // Kubernetes calls the field by its Go name here.
  return [problem({ path: 'status.Phase', segments: ['status', 'phase'] }, phase, text)];
}

function problem(where: Pick<FieldProblem, 'path' | 'segments'>, value: unknown, text: string): FieldProblem {
  return { ...where, kind: 'Invalid', message: `Invalid value: ${JSON.stringify(value ?? '')}: ${text}` };
}
