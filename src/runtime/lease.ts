/** The Lease object of the leader lock, as Kubernetes spells it, and what both sides of the lock work with. */
import type { Draft, KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Sleep } from './sleep.ts';

export interface LeaseSpec {
  /** Empty: released. */
  holderIdentity: string;
  leaseDurationSeconds: number;
  acquireTime: string;
  renewTime: string;
  leaseTransitions: number;
}

export type Lease = KindObject<LeaseSpec> & { spec: LeaseSpec };

export interface LeaseDeps {
  readonly client: Client;
  readonly log: Logger;
  /** Different in every process, also in one that was restarted. */
  readonly identity: string;
  readonly name: string;
  readonly namespace: string;
  readonly leaseDurationSeconds: number;
  readonly clock: Clock;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  readonly sleep: Sleep;
}

export function newLease(deps: LeaseDeps): Draft<Lease> {
  const { name, namespace } = deps;
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace }, spec: ownSpec(deps, 0) };
}

export function takenLease(deps: LeaseDeps, lease: Lease): Lease {
  const { holderIdentity, leaseTransitions } = lease.spec;
  return { ...lease, spec: ownSpec(deps, leaseTransitions + (holderIdentity === deps.identity ? 0 : 1)) };
}

export function renewedLease({ clock }: LeaseDeps, lease: Lease): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: toMicroTime(clock.now()) } };
}

export function releasedLease(deps: LeaseDeps, lease: Lease): Lease {
  const { spec } = renewedLease(deps, lease);
  return { ...lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } };
}

function ownSpec({ identity, leaseDurationSeconds, clock }: LeaseDeps, leaseTransitions: number): LeaseSpec {
  const now = toMicroTime(clock.now());
  return { holderIdentity: identity, leaseDurationSeconds, acquireTime: now, renewTime: now, leaseTransitions };
}

/** Kubernetes parses these times only with exactly six digits of a second. */
function toMicroTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
