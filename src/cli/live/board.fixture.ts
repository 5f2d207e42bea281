/** Short ways to write the objects of a board. */
import type { Agent, Task, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { type Board, boardKey, type Followed } from '../follow-board.ts';

const metadata = (name: string) => ({ name, namespace: 'default', uid: name, generation: 1, creationTimestamp: '2026-01-02T03:00:00Z' });

export const ready = (status: string, message: string, reason = 'R') => ({ conditions: [{ type: 'Ready', status, reason, message }] });

export const teamNamed = (name: string, status: JsonObject = {}, spec: JsonObject = {}) =>
  ({ kind: 'Team', metadata: metadata(name), spec, status }) as unknown as Team;

export const agentOf = (team: string, name: string, status: JsonObject = {}) =>
  ({ kind: 'Agent', metadata: metadata(`${team}-${name}`), spec: { team }, status }) as unknown as Agent;

export const taskOf = (team: string, name: string, status: JsonObject = {}) =>
  ({ kind: 'Task', metadata: metadata(`${team}-${name}`), spec: { team, maxAttempts: 3 }, status }) as unknown as Task;

export const boardOf = (...objects: readonly Followed[]): Board => new Map(objects.map((object) => [boardKey(object), object]));
