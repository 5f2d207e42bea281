import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureGroups, joinFiles, limitsOf, ownGroups, processLimitHeld, processLimitMet, removeGroups } from './cgroup.ts';
import { findCgroupPlaces, groupPath, parseCgroupMounts, parseOwnGroups } from './cgroup-places.ts';

const MOUNTINFO = `24 1 0:22 / /proc rw - proc proc rw
30 24 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 24 0:27 /part /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
32 24 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`;

describe('where control groups are', () => {
  it('is read from the mounts of both versions', () => {
    expect(parseCgroupMounts(MOUNTINFO)).toEqual([
      { version: 1, controllers: ['rw', 'memory'], root: '/', mountPoint: '/sys/fs/cgroup/memory' },
      { version: 1, controllers: ['rw', 'cpu', 'cpuacct'], root: '/part', mountPoint: '/sys/fs/cgroup/cpu,cpuacct' },
      { version: 2, controllers: [], root: '/', mountPoint: '/sys/fs/cgroup/unified' },
    ]);
  });

  it('is the group of the daemon itself, by controller', () => {
    expect([...parseOwnGroups('4:memory:/a/b\n3:cpu,cpuacct:/\n0::/user.slice/x:y\n')]).toEqual([
      ['memory', '/a/b'],
      ['cpu', '/'],
      ['cpuacct', '/'],
      ['', '/user.slice/x:y'],
    ]);
  });

  it.each([
    ['/', '/a/b', '/m/a/b'],
    ['/a', '/a/b', '/m/b'],
    ['/a', '/a', '/m'],
    ['/a', '/ab', undefined],
    ['/a', '/', undefined],
  ])('with %s mounted, group %s is at %s', (root, group, expected) => {
    expect(groupPath({ version: 1, controllers: [], root, mountPoint: '/m' }, group)).toBe(expected);
  });
});

describe('limitsOf', () => {
  const resources = { vcpus: 1.5, memoryMiB: 256, diskGiB: 1 };

  it('of version 2', () => {
    expect(limitsOf(resources, 2)).toEqual({
      unified: [
        ['memory.max', '268435456'],
        ['memory.swap.max', '0'],
        ['pids.max', '512'],
        ['cpu.max', '150000 100000'],
      ],
    });
  });

  it('of version 1', () => {
    expect(limitsOf(resources, 1)).toMatchObject({
      memory: expect.arrayContaining([['memory.limit_in_bytes', '268435456']]),
      pids: [['pids.max', '512']],
      cpu: expect.arrayContaining([['cpu.cfs_quota_us', '150000']]),
    });
  });
});

describe('joinFiles', () => {
  const places = findCgroupPlaces(`agentiso-probe-join-${process.pid}`);

  it.runIf(places)('let a shell, and all that it starts, into every group when it writes 0', () => {
    if (places === undefined) return;
    const name = `agentiso-join-${process.pid}`;
    const groups = ensureGroups(places, name, { vcpus: 1, memoryMiB: 64, diskGiB: 1 });
    try {
      const script = 'for file; do echo 0 > "$file"; done; cat /proc/$$/cgroup; echo; cat /proc/self/cgroup';
      const [shell = '', started] = execFileSync('sh', ['-c', script, 'sh', ...joinFiles(places, groups)], { encoding: 'utf8' }).split(
        '\n\n',
      );
      expect(shell.split('\n').filter((line) => line.endsWith(`/${name}`))).toHaveLength(groups.length);
      expect(started?.trim()).toBe(shell);
    } finally {
      removeGroups(groups);
    }
  });
});

describe('ownGroups', () => {
  it('are those with a name that this home gives, whatever a record says', () => {
    expect(ownGroups(['/cg/memory/agentiso-1-a', '/cg/memory', '/cg/other', '/cg/agentiso-2-a'], 'agentiso-1-')).toEqual([
      '/cg/memory/agentiso-1-a',
    ]);
    expect(ownGroups(undefined, 'a')).toEqual([]);
  });
});

describe('processLimitHeld', () => {
  it.each([
    { name: 'it has room again', current: 40, aboveCurrent: 60, above: 'max', want: undefined },
    { name: 'it is full', current: 511, aboveCurrent: 900, above: 'max', want: { limit: 512, isOwn: true } },
    { name: 'that of the daemon is full', current: 30, aboveCurrent: 100, above: '100', want: { limit: 100, isOwn: false } },
    { name: 'that of the daemon has room again', current: 30, aboveCurrent: 60, above: '100', want: undefined },
  ])('of one that was refused, when $name', ({ current, aboveCurrent, above, want }) => {
    const folder = mkdtempSync(join(tmpdir(), 'agentiso-groups-'));
    try {
      const [daemon, group] = [join(folder, 'daemon'), join(folder, 'daemon', 'agentiso-x')];
      mkdirSync(group, { recursive: true });
      const write = (place: string, file: string, text: string | number) => writeFileSync(join(place, `pids.${file}`), `${text}\n`);
      write(daemon, 'max', above);
      write(daemon, 'current', aboveCurrent);
      write(group, 'max', 512);
      write(group, 'current', current);
      write(group, 'events', 'max 3');
      expect(processLimitHeld([join(folder, 'gone'), group])).toEqual(want);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('processLimitMet', () => {
  it.each([
    { name: 'nobody was refused', events: 'max 0', own: '512', above: 'max', want: undefined },
    { name: 'its own was reached', events: 'max 3', own: '512', above: 'max', want: { limit: 512, isOwn: true } },
    { name: 'that of the daemon was reached', events: 'max 3', own: '512', above: '100', want: { limit: 100, isOwn: false } },
    { name: 'neither has one', events: 'max 3', own: 'max', above: 'max', want: undefined },
  ])('when $name', ({ events, own, above, want }) => {
    const folder = mkdtempSync(join(tmpdir(), 'agentiso-groups-'));
    try {
      const [daemon, group] = [join(folder, 'daemon'), join(folder, 'daemon', 'agentiso-x')];
      mkdirSync(group, { recursive: true });
      writeFileSync(join(daemon, 'pids.max'), `${above}\n`);
      writeFileSync(join(group, 'pids.max'), `${own}\n`);
      writeFileSync(join(group, 'pids.events'), `${events}\n`);
      expect(processLimitMet([join(folder, 'gone'), group])).toEqual(want);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
