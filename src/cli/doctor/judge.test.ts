/** What each look makes of what it sees, on machines that are not this one. */
import { describe, expect, it } from 'vitest';
import { judgeCgroup } from './cgroup.ts';
import { judgeDisk, judgeInotify, judgeSocket } from './home.ts';
import { bootSector, judgeBoot } from './kvm.ts';
import { refusal } from './namespaces.ts';
import { judgeNode } from './node.ts';

const GIB = 1024 ** 3;

describe('judgeNode', () => {
  it.each([
    { version: '20.19.0', want: 'ok' },
    { version: '24.1.0', want: 'ok' },
    { version: '20.18.3', want: 'broken' },
    { version: '18.20.0', want: 'broken' },
  ])('$version: $want', ({ version, want }) => {
    expect(judgeNode(version).state).toBe(want);
  });
});

describe('judgeCgroup', () => {
  const view = (files: Record<string, string>, membership: string, isWritable = true) => ({
    membership,
    read: (path: string) => files[path],
    isWritable: () => isWritable,
  });
  const unified = { 'cgroup.controllers': 'cpu memory pids', '/a/cgroup.controllers': 'cpuset cpu memory pids\n' };

  it.each([
    { name: 'a group of our own', seen: view(unified, '0::/a\n'), want: 'ok: cpu, memory, pids in /a' },
    { name: 'a group of somebody else', seen: view(unified, '0::/a\n', false), want: 'missing: our own group /a is not ours to divide' },
    {
      name: 'a group without controllers',
      seen: view({ ...unified, '/a/cgroup.controllers': 'pids' }, '0::/a\n'),
      want: 'missing: without cpu, memory in our own group /a',
    },
    { name: 'version 1', seen: view({}, '4:memory:/x\n0::/\n'), want: 'ok: version 1' },
    { name: 'none', seen: view({}, ''), want: 'missing: not mounted' },
  ])('$name', ({ seen, want }) => {
    const { state, detail } = judgeCgroup(seen);
    expect(`${state}: ${detail}`).toBe(want);
  });
});

describe('judgeBoot', () => {
  it.each([
    { result: { outcome: 'exited', code: 33 }, want: 'ok' },
    { result: { outcome: 'exited', code: 1 }, want: 'broken' },
    { result: { outcome: 'late', code: null }, want: 'broken' },
    { result: { outcome: 'absent', code: null }, want: 'unproven' },
  ] as const)('$result.outcome $result.code: $want', ({ result, want }) => {
    expect(judgeBoot({ ...result, stdout: '', complaint: 'x' }).state).toBe(want);
  });

  it('boots one sector that a BIOS takes for bootable', () => {
    expect([bootSector().length, bootSector().readUInt16LE(510)]).toEqual([512, 0xaa55]);
  });
});

describe('refusal', () => {
  it.each([
    { setting: 'kernel/unprivileged_userns_clone', value: '0', want: 'kernel.unprivileged_userns_clone is 0' },
    { setting: 'user/max_user_namespaces', value: '0', want: 'user.max_user_namespaces is 0' },
    { setting: 'kernel/apparmor_restrict_unprivileged_userns', value: '1', want: 'AppArmor' },
    { setting: 'none', value: '', want: 'Operation not permitted' },
  ])('names $setting', ({ setting, value, want }) => {
    expect(refusal({ complaint: 'Operation not permitted' }, (name) => (name === setting ? value : undefined)).detail).toContain(want);
  });
});

describe('home', () => {
  it('wants room', () => {
    expect([judgeDisk(20 * GIB), judgeDisk(GIB / 4)]).toMatchObject([
      { state: 'ok', detail: '20.0 GiB free' },
      { state: 'broken', detail: '256 MiB free' },
    ]);
  });

  it.each([
    { limits: { max_user_watches: 100_000, max_user_instances: 128 }, want: 'ok' },
    { limits: { max_user_watches: 1_000, max_user_instances: 128 }, want: 'broken' },
    { limits: { max_user_watches: 100_000, max_user_instances: 8 }, want: 'broken' },
    { limits: {}, want: 'ok' },
  ])('watches: $limits is $want', ({ limits, want }) => {
    expect(judgeInotify((name) => (limits as Record<string, number>)[name]).state).toBe(want);
  });

  it('has a socket whose path is short from where one stands', () => {
    const deep = `/${'x'.repeat(120)}/home`;
    expect([
      judgeSocket('/home/a/.agentiso', '/').state,
      judgeSocket(deep, '/').state,
      judgeSocket(deep, `/${'x'.repeat(120)}`).state,
    ]).toEqual(['ok', 'broken', 'ok']);
  });
});
