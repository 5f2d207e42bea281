import { describe, expect, it } from 'vitest';
import { bytesOf, millicoresOf } from '#lib/quantity.ts';
import { endingOf } from './command-channels.ts';
import { copyPlace } from './places.ts';
import { meantBy, podPath } from './pod.ts';
import { portPair } from './ports.ts';
import { linePrefixer } from './prefix.ts';

describe('the agent that is meant', () => {
  it.each(['a', 'agent/a', 'agents/a', 'ag/a', 'agents.agentiso.dev/a', 'pod/a', 'po/a', 'pods/a'])('%s', (word) => {
    expect(meantBy(word)).toEqual({ kind: 'pod', name: 'a' });
  });

  it.each(['', 'team/a', 'pod/', 'pod/a/b', '/a', 'task/a'])('%s is none', (word) => {
    expect(() => meantBy(word)).toThrow('names no agent');
  });

  it('task/a, where tasks make sense', () => {
    expect(meantBy('task/a', { withTasks: true })).toEqual({ kind: 'task', name: 'a' });
  });

  it('is named in paths that cannot be broken out of', () => {
    const path = podPath({ namespace: 'n', name: '../x' }, 'exec', { stdin: true }, { command: ['a b', '&c=d'] });
    expect(path).toBe('/api/v1/namespaces/n/pods/..%2Fx/exec?stdin=true&command=a%20b&command=%26c%3Dd');
  });
});

describe('ports', () => {
  it.each([
    ['80', { local: 80, remote: 80 }],
    ['8080:80', { local: 8080, remote: 80 }],
    [':80', { local: 0, remote: 80 }],
    ['0:80', { local: 0, remote: 80 }],
  ])('%s', (word, expected) => {
    expect(portPair(word)).toEqual(expected);
  });

  it.each(['', '0', 'http', '80:', '1:2:3', '70000', '70000:80', '-1', '80:0'])('%s are none', (word) => {
    expect(() => portPair(word)).toThrow('names no ports');
  });
});

describe('what is copied', () => {
  it.each([
    ['file', { path: 'file' }],
    ['./a:b', { path: './a:b' }],
    ['/a:b', { path: '/a:b' }],
    ['worker:x', { name: 'worker', path: 'x' }],
    ['worker:/a:b', { name: 'worker', path: '/a:b' }],
    ['agent/worker:x', { name: 'worker', path: 'x' }],
    ['pod/worker:x', { name: 'worker', path: 'x' }],
    ['prod/worker:x', { name: 'worker', namespace: 'prod', path: 'x' }],
  ])('%s', (word, expected) => {
    expect(copyPlace(word)).toEqual(expected);
  });

  it('needs a path', () => {
    expect(() => copyPlace('worker:')).toThrow('names no path');
  });
});

describe('how a command ended', () => {
  it.each([
    [{ status: 'Success' }, { exitCode: 0 }],
    [{ status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: '3' }] } }, { exitCode: 3 }],
    [{ status: 'Failure', reason: 'InternalError', message: 'lost' }, { problem: 'lost' }],
    [{ status: 'Failure', reason: 'NonZeroExitCode' }, { problem: 'the server does not say how the command ended' }],
    ['text', { problem: 'the server does not say how the command ended' }],
  ])('%j', (status, expected) => {
    expect(endingOf(JSON.stringify(status))).toEqual(expected);
  });
});

describe('lines with a name before them', () => {
  it('wherever the text is cut', () => {
    for (const chunks of [['a\nb\n'], ['a', '\n', 'b', '\n'], ['a\n', '', 'b\n']]) {
      const prefix = linePrefixer('> ');
      expect(chunks.map(prefix).join('')).toBe('> a\n> b\n');
    }
  });
});

describe('quantities', () => {
  it('of processor time and of memory', () => {
    expect(['12m', '1', '0.5', '1500000n', '2u'].map(millicoresOf)).toEqual([12, 1_000, 500, 1.5, 0.002]);
    expect(['34Mi', '1Ki', '7', '2M', '1Gi'].map(bytesOf)).toEqual([35_651_584, 1_024, 7, 2_000_000, 1_073_741_824]);
    expect(bytesOf('many')).toBeNaN();
  });
});
