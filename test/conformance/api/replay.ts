/** Replays the recorded conversations with the real server against ours: one test for each scenario. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { differences, Pairs } from './differences.ts';
import { type ConnectInfo, runScenario, type Transcript } from './exchange.ts';
import { readGolden } from './golden.ts';
import { normalise } from './normalise.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

export interface ServerUnderTest {
  readonly connect: ConnectInfo;
  stop(): Promise<void>;
}

/** The reason of every deliberate difference, by 'scenario/step'; a step may end in * for all that begin so. */
export type Known = Readonly<Record<string, string>>;

/**
 * The server needs the namespace `default`, no objects of its own, and no controllers that write objects.
 * A known difference that is none any more fails.
 */
export function apiConformance(start: () => Promise<ServerUnderTest>, known: Known = {}, where = ''): void {
  describe(`answers as the real server does${where}`, () => {
    let server: ServerUnderTest;

    beforeAll(async () => {
      server = await start();
    });

    afterAll(() => server?.stop());

    it('names only steps that exist in its known differences', () => {
      const all = scenarios.flatMap((scenario) => scenario.steps.map((step) => `${scenario.name}/${step.name}`));
      expect(Object.keys(known).filter((pattern) => !all.some((name) => covers(pattern, name)))).toEqual([]);
    });

    it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (_name, scenario) => {
      expect(await judge(scenario, server.connect, known)).toEqual([]);
    });
  });
}

async function judge(scenario: Scenario, connect: ConnectInfo, known: Known): Promise<string[]> {
  return complaints(scenario, { golden: readGolden(scenario.name), got: normalise(await runScenario(scenario, { connect })), known });
}

/** Unexpected differences, and known ones that are gone. */
export function complaints(scenario: Scenario, { golden, got, known }: { golden: Transcript; got: Transcript; known: Known }): string[] {
  const pairs = new Pairs();
  const patternsOf = (name: string) => Object.keys(known).filter((pattern) => covers(pattern, name));
  const unused = new Set(scenario.steps.flatMap((step) => patternsOf(`${scenario.name}/${step.name}`)));
  const unexpected = scenario.steps.flatMap((step) => {
    const name = `${scenario.name}/${step.name}`;
    const found = differences(golden[step.name], got[step.name], { step, pairs });
    const patterns = patternsOf(name);
    if (found.length > 0) {
      for (const pattern of patterns) {
        unused.delete(pattern);
      }
    }
    return patterns.length > 0 ? [] : found.map((line) => `${name}: ${line}`);
  });
  return [...unexpected, ...[...unused].map((pattern) => `${pattern}: known (${known[pattern]}), but does not differ`)];
}

function covers(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
