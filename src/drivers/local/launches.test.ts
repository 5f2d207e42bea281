import { describe, expect, it } from 'vitest';
import { groupLaunches, isOfHost, launchArguments, parseLaunch } from './launches.ts';
import type { RunningProcess } from './processes.ts';

const markOf = (id: string) => `/state/${id}/run`;

function running(pid: number, parent: number, namespacePids = [pid]): RunningProcess {
  return { pid, parent, namespacePids, startTime: 1, bootId: 'boot', cpuMs: 0, memoryBytes: 0 };
}

describe('parseLaunch', () => {
  it('knows what launchArguments make, with the mark of the same workspace', () => {
    const words = ['node', 'guest.cjs', ...launchArguments({ id: 'a', incarnation: 'i' }), '--run', '/state/a/run'];
    expect(parseLaunch(words, markOf)).toEqual({ id: 'a', incarnation: 'i' });
  });

  it.each([
    ['no arguments', []],
    ['another home', ['--id', 'a', '--incarnation', 'i', '--run', '/other/a/run']],
    ['the mark of another workspace', ['--id', 'a', '--incarnation', 'i', '--run', '/state/b/run']],
    ['a longer path', ['--id', 'a', '--incarnation', 'i', '--run', '/state/a/run/x']],
    ['no incarnation', ['--id', 'a', '--run', '/state/a/run']],
    ['an id that is none', ['--id', '../a', '--incarnation', 'i', '--run', '/state/../a/run']],
    ['words in one', ['--id a --incarnation i /state/a/run']],
  ])('knows nothing of %s', (_, words) => {
    expect(parseLaunch(words, markOf)).toBeUndefined();
  });
});

describe('isOfHost', () => {
  it.each([
    ['a process of the host', [100], true],
    ['the first process of a sandbox', [100, 1], true],
    ['any other process of a sandbox, whatever its command line says', [100, 7], false],
    ['one of a sandbox in a sandbox', [100, 7, 1], false],
  ])('%s', (_, namespacePids, expected) => {
    expect(isOfHost({ namespacePids })).toBe(expected);
  });
});

describe('groupLaunches', () => {
  it('takes the outermost process for the workspace', () => {
    const launcher = running(10, 1);
    const [monitor, first] = [running(11, 10), running(12, 11, [12, 1])];
    const of = (process: RunningProcess) => ({ id: 'a', incarnation: 'i', process });
    expect(groupLaunches([first, monitor, launcher].map(of))).toEqual([
      { id: 'a', incarnation: 'i', main: launcher, processes: [first, monitor, launcher] },
    ]);
    expect(groupLaunches([of(first)])).toMatchObject([{ main: undefined }]);
  });

  it('keeps incarnations apart', () => {
    const launches = groupLaunches([
      { id: 'a', incarnation: 'i', process: running(10, 1) },
      { id: 'a', incarnation: 'j', process: running(20, 1) },
    ]);
    expect(launches.map(({ main }) => main?.pid)).toEqual([10, 20]);
  });
});
