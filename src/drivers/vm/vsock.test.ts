import { describe, expect, it } from 'vitest';
import { chooseCid, cidOf, transportProblem } from './vsock.ts';

describe('the transport that is asked for', () => {
  it.each([undefined, '', 'virtio-serial'])('is always there when it is %j', (asked) => {
    expect(transportProblem(asked, false, '/nowhere')).toBeUndefined();
  });

  it('is vsock only where root has the device for it', () => {
    expect(transportProblem('vsock', true, '/dev/null')).toBeUndefined();
    expect(transportProblem('vsock', true, '/dev/nothing-vsock')).toBe(
      'AGENTISO_VM_TRANSPORT is vsock, and there is no /dev/nothing-vsock; run: modprobe vhost_vsock',
    );
    expect(transportProblem('vsock', false, '/dev/null')).toMatch(/runs as root/);
  });

  it('is none that nobody knows', () => {
    expect(transportProblem('pigeon', true)).toBe('AGENTISO_VM_TRANSPORT is pigeon; there are virtio-serial and vsock');
  });
});

describe('the number of a machine', () => {
  it('is always the same, another for each machine, and none that means something else', () => {
    const machines = Array.from({ length: 1_000 }, (_, at) => `/home/state/vm/agent-${at}`);
    const cids = machines.map((machine) => cidOf(machine));
    expect(cids).toEqual(machines.map((machine) => cidOf(machine)));
    expect(new Set(cids).size).toBe(machines.length);
    expect(Math.min(...cids)).toBeGreaterThanOrEqual(65_536);
    expect(Math.max(...cids)).toBeLessThan(2 ** 31);
  });

  it('is the next one where somebody has the first', () => {
    const taken = new Set([cidOf('a', 0), cidOf('a', 1)]);
    expect(chooseCid('a', (cid) => !taken.has(cid))).toBe(cidOf('a', 2));
    expect(chooseCid('a', () => true)).toBe(cidOf('a'));
    expect(() => chooseCid('a', () => false)).toThrow('all taken');
  });
});
