import { describe, expect, it } from 'vitest';
import { apiCommands } from './api-commands.ts';
import { programOf } from './quick.ts';
import { quickCommands } from './quick-commands.ts';

describe('programOf', () => {
  it.each([
    ['get tasks', 'get'],
    ['get tasks -A -o wide', 'get'],
    ['get tasks -n other -w', 'get'],
    ['delete task a --wait=false', 'quick'],
    ['wait task/a --for=condition=Ready', 'quick'],
    ['version', 'quick'],
    ['get tasks --context real', 'full'],
    ['get tasks --kubeconfig=x', 'full'],
    ['delete -f team.yaml', 'full'],
    ['delete -Rf teams', 'full'],
    ['label -fteam.yaml a=b', 'full'],
    ['delete --filename=team.yaml', 'full'],
    ['get --help', 'full'],
    ['get -h', 'full'],
    ['apply -f team.yaml', 'full'],
    ['serve', 'full'],
    ['-n other get tasks', 'full'],
    ['', 'full'],
  ])('%s: %s', (line, want) => {
    expect(programOf(line.split(' ').filter(Boolean))).toBe(want);
  });

  it('sends a command to the quick program exactly when it is in there', () => {
    const quick = Object.entries(apiCommands).filter(([name]) => programOf([name]) === 'quick');
    expect(Object.fromEntries(quick)).toEqual(quickCommands);
  });
});
