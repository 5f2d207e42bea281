import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { blockersIn } from './blockers.ts';
import { blockersText } from './print.ts';
import { summaryOf } from './summary.ts';
import { viewOf } from './view.ts';
import { agent, condition, NOW, ready, readyTeam, running, task, team, unready, waitingTask } from './why.fixture.ts';

const blockers = (...objects: readonly KindObject[]) => blockersIn(viewOf({ objects, flags: ['-n', 'prod'] }), NOW);
const blocked = (name: string, ...dependsOn: readonly string[]) => waitingTask(name, 'Blocked', 'DependenciesPending', '', { dependsOn });
const waitsForDev = (name: string) => waitingTask(name, 'Pending', 'AgentNotReady', '', { assignTo: 'dev' });
const stopped = agent('dev', { phase: 'Stopped', conditions: [condition('Ready', 'False', 'Stopped')] }, { desiredState: 'Stopped' });
const cancelled = task('z', { phase: 'Failed', reason: 'Cancelled' }, { cancelled: true });

describe('blockersIn', () => {
  it('tells each cause once, with everything that it is in the way of', () => {
    const unreadyTeam = team('a', { conditions: [condition('Ready', 'False', 'Stopped', 'agent a-dev: stopped')] });
    const found = blockers(
      unreadyTeam,
      stopped,
      waitsForDev('build'),
      blocked('deploy', 'build'),
      blocked('announce', 'deploy'),
      blocked('typo', 'none'),
    );
    expect(blockersText(found)).toBe(`agent/a-dev is Stopped: a person stopped it (spec.desiredState is Stopped)
  in the way of: team/a, task/a-build, task/a-deploy and task/a-announce
what helps: let it run again:
  agentiso start a-dev -n prod

task/a-typo is Blocked: DependencyNotFound: team a has no task none
what helps: create it, or do without it:
  agentiso patch task a-typo -p '{"spec":{"dependsOn":[]}}' -n prod
`);
  });

  it('begins with what the daemon itself lacks', () => {
    const complaints = [{ check: 'home', says: 'the disk of the home is full: 0 KiB are left' }];
    const found = blockersIn(viewOf({ objects: [readyTeam('a'), stopped, waitsForDev('build')], complaints }), NOW);
    expect(blockersText(found.slice(0, 1))).toBe(`daemon is not ready: the disk of the home is full: 0 KiB are left
what helps: make room there, or give it back to the daemon; everything goes on by itself then
`);
    expect(found[1]).toMatchObject({ object: 'agent/a-dev' });
  });

  it('joins those with the same complaint, and shows no more than a few', () => {
    const agents = ['x', 'y', 'z'].map((name) => unready(name, 'BackendMissing', 'no codex'));
    expect(blockers(...agents)).toMatchObject([{ object: 'agent/a-x', alike: ['agent/a-y', 'agent/a-z'] }]);
    const many = Array.from({ length: 14 }, (_, at) => blocked(`t${at}`, `missing${at}`));
    expect(blockersText(blockers(...many))).toMatch(/\n\nand 4 other things; -o json shows all\n$/);
  });

  it('tells one circle once', () => {
    const circle = [blocked('b', 'c'), blocked('c', 'b')].map((each) => ({
      ...each,
      status: { phase: 'Blocked', reason: 'DependencyCycle' },
    }));
    expect(blockers(...circle)).toMatchObject([{ object: 'task/a-b', alike: ['task/a-c'] }]);
  });

  it('leaves alone what somebody wanted, unless others wait for it', () => {
    expect(blockers(readyTeam('a'), ready('dev'), cancelled)).toEqual([]);
    expect(blockers(cancelled, blocked('x', 'z'))).toMatchObject([{ object: 'task/a-z', inTheWayOf: ['task/a-x'] }]);
  });

  it('has a failed task, and a refused edit', () => {
    const edited = team('a', {
      conditions: [condition('Ready', 'True', 'AgentsReady'), condition('EditRejected', 'True', 'InvalidYaml', 'line 3')],
    });
    const failed = task('x', { phase: 'Failed', reason: 'MaxAttempts' });
    expect(blockers(edited, failed, ready('dev')).map(({ object }) => object)).toEqual(['task/a-x', 'team/a']);
  });

  it('finds nothing where everything goes on', () => {
    const objects = [readyTeam('a'), ready('dev'), running('x', 'dev'), blocked('y', 'x'), task('w', { phase: 'Succeeded' }), cancelled];
    expect(blockers(...objects)).toEqual([]);
    expect(summaryOf(objects, 'default')).toBe('nothing is stuck: 1 team, 1 agent, 4 tasks (1 at work, 1 waiting, 1 done, 1 cancelled)\n');
    expect(summaryOf([readyTeam('a')], 'default')).toBe('nothing is stuck: 1 team, 0 agents, no tasks\n');
    expect(summaryOf([], 'prod')).toBe('nothing is stuck: there is nothing in the namespace prod\n');
  });
});
