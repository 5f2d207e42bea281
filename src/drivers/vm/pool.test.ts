import { describe, expect, it } from 'vitest';
import type { WorkspaceSpec } from '../driver.ts';
import { machineKindOf } from './pool.ts';
import type { Start } from './start-plan.ts';

const SPEC: WorkspaceSpec = {
  id: 'a',
  incarnation: 'i',
  hostname: 'h',
  resources: { vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  team: 1,
  egress: false,
};
const IMAGE = { hash: 'h', kernel: '/k', initrd: '/i', root: '/r' };
const START: Start = {
  kind: { image: IMAGE, board: 'microvm', accel: 'tcg', vcpus: 1, memoryMiB: 256, diskGiB: 1, hasNetwork: true },
};

describe('the kind of a machine that waits', () => {
  it.each<[string, Partial<WorkspaceSpec>, Partial<Start>]>([
    ['another team', { team: 2 }, {}],
    ['another base', { base: '/bases/commit' }, {}],
    ['other limits', { resources: { ...SPEC.resources, vcpus: 2 } }, { kind: { ...START.kind, vcpus: 2 } }],
    ['another image', {}, { kind: { ...START.kind, image: { ...IMAGE, hash: 'g' } } }],
    ['another guest agent', {}, { kind: { ...START.kind, image: { ...IMAGE, initrd: '/j' } } }],
    ['another board', {}, { kind: { ...START.kind, board: 'q35' } }],
    ['another acceleration', {}, { kind: { ...START.kind, accel: 'kvm' } }],
    ['tools', {}, { kind: { ...START.kind, toolsGiB: 1 }, tools: { path: '/tools/a~1.ext4', gib: 1 } }],
  ])('tells %s apart', (_, spec, start) => {
    expect(machineKindOf({ ...SPEC, ...spec }, { ...START, ...start })).not.toEqual(machineKindOf(SPEC, START));
  });

  it('does not look at what a machine can still be told: name, network, way out', () => {
    const told = { id: 'b', incarnation: 'j', hostname: 'k', egress: true, network: '/run/netns/b' };
    expect(machineKindOf({ ...SPEC, ...told }, START)).toEqual(machineKindOf(SPEC, START));
  });

  it('is none of a machine that is reached by vsock', () => {
    expect(machineKindOf(SPEC, { ...START, vsock: { program: '/usr/bin/vhost-device-vsock' } })).toBeUndefined();
  });
});
