import { describe, expect, it } from 'vitest';
import { newAgent, newTeam } from '../../test/support/controllers.ts';
import { hasRoomFor, sizeOf, startHold } from './fleet.ts';
import { admission } from './kinds.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { KindObject } from './meta.ts';
import type { Agent, Team } from './types.ts';

const team = (name: string, spec: object = {}) => admission.admit(newTeam(name, { ...spec }) as KindObject, undefined) as Team;
const agent = (name: string, phase?: string, memoryMiB = 512) => {
  const made = admission.admit(newAgent(name, { resources: { memoryMiB } }) as KindObject, undefined) as Agent;
  return { ...made, metadata: { ...made.metadata, uid: name }, status: { phase } } as Agent;
};

describe('the fleet', () => {
  it('counts an agent once, by what its team asks for, and teams that go by what is left of them', () => {
    const big = team('a', { roles: [{ name: 'dev', count: 2, resources: { memoryMiB: 1024 } }] });
    const leaving = team('b', { roles: [{ name: 'x', count: 5 }] });
    const teams = [big, { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }];
    expect(sizeOf({ teams, agents: [agent('a-dev-1', 'Ready'), agent('b-x-1'), agent('byhand', 'Ready', 64)] })).toEqual({
      agents: 4,
      memoryMiB: 2 * 1024 + 512 + 64,
    });
  });

  it('lets an agent start as long as there is room among those that run', () => {
    const limits = { ...DEFAULT_LIMITS, maxAgents: 3, maxMemoryMiB: 1600 };
    const own = agent('own', 'Pending');
    const running = [agent('one', 'Ready'), agent('two', 'Working'), own];
    const hold = (agents: readonly Agent[], more: object = {}) => startHold(own, { team: team('a'), agents, ...more }, limits);
    expect(hold([...running, agent('off', 'Stopped'), agent('new')])).toBeUndefined();
    expect(hold([...running, agent('three', 'Starting', 64)])).toEqual({
      reason: 'QuotaExceeded',
      message: 'too many agents: limit 3, used 3, asked 1 (limits.maxAgents); ask for less, or make room first',
    });
    expect(hold([agent('one', 'Ready', 1100), own])?.message).toMatch(/^too many MiB of memory: limit 1600, used 1100, asked 512 /);
    expect(hold(running, { pool: { agents: 1, memoryMiB: 0 } })?.reason).toBe('QuotaExceeded');
  });

  it('lets as much stand ready as there is room for beside those that run', () => {
    const limits = { ...DEFAULT_LIMITS, maxAgents: 3, maxMemoryMiB: 1600 };
    const agents = [agent('one', 'Ready'), agent('off', 'Stopped')];
    const fits = (count: number, memoryMiB: number) => hasRoomFor({ agents: count, memoryMiB }, agents, limits);
    expect([fits(2, 1088), fits(3, 0), fits(1, 1089)]).toEqual([true, false, false]);
  });

  it('lets none start that has no team', () => {
    expect(startHold(agent('one'), { team: undefined, agents: [] }, DEFAULT_LIMITS)).toEqual({
      reason: 'TeamNotFound',
      message: 'there is no team a in this namespace; create it, or delete the agent',
    });
  });
});
