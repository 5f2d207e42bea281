import { expect, it } from 'vitest';
import { agentTools } from '#protocol/agent-tools.ts';
import { operatorToolNames } from '#protocol/operator-tools.ts';
import { allTools } from './all-tools.ts';

it('are all known to guests by name, so that an agent hears whose they are', () => {
  const own = new Set(agentTools.map(({ name }) => name));
  const operators = allTools.map(({ name }) => name).filter((name) => !own.has(name));
  expect([...operatorToolNames].sort()).toEqual(operators.sort());
});
