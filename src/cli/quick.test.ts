import { describe, expect, it } from 'vitest';
import { apiCommands } from './api-commands.ts';
import { isQuick } from './quick.ts';
import { quickCommands } from './quick-commands.ts';

describe('isQuick', () => {
  it.each([
    ['get tasks', true],
    ['get tasks -A -o wide', true],
    ['get tasks -n other -w', true],
    ['delete task a --wait=false', true],
    ['wait task/a --for=condition=Ready', true],
    ['version', true],
    ['get tasks --context real', false],
    ['get tasks --kubeconfig=x', false],
    ['delete -f team.yaml', false],
    ['delete -Rf teams', false],
    ['label -fteam.yaml a=b', false],
    ['delete --filename=team.yaml', false],
    ['get --help', false],
    ['get -h', false],
    ['apply -f team.yaml', false],
    ['serve', false],
    ['-n other get tasks', false],
    ['', false],
  ])('%s: %s', (line, want) => {
    expect(isQuick(line.split(' ').filter(Boolean))).toBe(want);
  });

  it('sends a command to the quick program exactly when it is in there', () => {
    const quick = Object.entries(apiCommands).filter(([name]) => isQuick([name]));
    expect(Object.fromEntries(quick)).toEqual(quickCommands);
  });
});
