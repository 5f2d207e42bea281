import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { listProcesses, parseStatus, processTree, type RunningProcess, readCommandLine, readProcess, readTree } from './processes.ts';
import { sumUsage } from './usage.ts';

function running(pid: number, parent: number): RunningProcess {
  return { pid, parent, namespacePids: [pid], startTime: 1, bootId: 'boot', cpuMs: pid, memoryBytes: 1000 };
}

describe('parseStatus', () => {
  it('reads pids of all namespaces and memory of its own', () => {
    const status = 'Name:\tnode\nNSpid:\t100\t7\nRssAnon:\t     200 kB\nRssFile:\t  5000 kB\nRssShmem:\t       4 kB\n';
    expect(parseStatus(status)).toEqual({ namespacePids: [100, 7], memoryBytes: 204 * 1024 });
  });

  it('finds nothing where nothing is', () => {
    expect(parseStatus('Name:\tkthreadd\n')).toEqual({ namespacePids: [], memoryBytes: 0 });
  });
});

describe('processes of this machine', () => {
  it('include this one', () => {
    const own = listProcesses().find(({ pid }) => pid === process.pid);
    expect(own).toMatchObject({ parent: process.ppid, namespacePids: expect.arrayContaining([process.pid]) });
    expect(own?.memoryBytes).toBeGreaterThan(1_000_000);
    expect(readCommandLine(process.pid).length).toBeGreaterThan(0);
  });

  it('have trees, which are those of all processes together', async () => {
    const child = spawn('sh', ['-c', 'sleep 1000 & echo up; wait'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    await once(child.stdout, 'data');
    const root = child.pid ?? Number.NaN;
    const tree = readTree(root);
    expect(tree).toHaveLength(2);
    expect(tree.map(({ pid }) => pid)).toEqual(processTree(root, listProcesses()).map(({ pid }) => pid));
    const exited = once(child, 'exit');
    for (const { pid } of tree) process.kill(pid, 'SIGKILL');
    await exited;
    expect(readTree(root)).toEqual([]);
  });

  it('do not include what is gone', () => {
    expect(readProcess(4_194_304)).toBeUndefined();
    expect(readCommandLine(4_194_304)).toEqual([]);
  });
});

describe('processTree', () => {
  it('is a process and its descendants, and their use is their sum', () => {
    const tree = processTree(2, [running(1, 0), running(2, 1), running(3, 2), running(4, 3), running(5, 1)]);
    expect(tree.map(({ pid }) => pid)).toEqual([2, 3, 4]);
    expect(sumUsage(tree)).toEqual({ cpuMs: 9, memoryBytes: 3000, processes: 3 });
  });

  it('is nothing without its root', () => {
    expect(processTree(9, [running(1, 0)])).toEqual([]);
  });
});
