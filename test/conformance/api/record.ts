/**
 * Records or compares by hand:
 *   npx tsx test/conformance/api/record.ts record  --url https://127.0.0.1:6443 --token T --ca ca.crt [--out DIR] [scenario...]
 *   npx tsx test/conformance/api/record.ts compare --url http://127.0.0.1:8080 [--socket PATH] [scenario...]
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { differences, Pairs } from './differences.ts';
import { type ConnectInfo, runScenario } from './exchange.ts';
import { goldenDirectory, readGolden, writeGolden } from './golden.ts';
import { normalise } from './normalise.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string' },
    token: { type: 'string' },
    ca: { type: 'string' },
    socket: { type: 'string' },
    out: { type: 'string', default: goldenDirectory },
  },
});

const [command, ...wanted] = positionals;
if (values.url === undefined || (command !== 'record' && command !== 'compare')) {
  throw new Error('usage: record.ts record|compare --url URL [--token TOKEN] [--ca FILE] [--socket PATH] [--out DIR] [scenario...]');
}

const connect: ConnectInfo = {
  baseUrl: values.url,
  ...(values.socket === undefined ? {} : { socketPath: values.socket }),
  ...(values.token === undefined ? {} : { headers: { authorization: `Bearer ${values.token}` } }),
  ...(values.ca === undefined ? {} : { ca: readFileSync(values.ca, 'utf8') }),
};
const chosen = scenarios.filter((scenario) => wanted.length === 0 || wanted.includes(scenario.name));

if (command === 'record') {
  for (const scenario of chosen) {
    writeGolden(scenario.name, normalise(await runScenario(scenario, { connect, settleMs: 300 })), values.out);
    console.log(`recorded ${scenario.name} (${scenario.steps.length} steps)`);
  }
  execFileSync('npx', ['biome', 'format', '--write', values.out], { stdio: 'inherit' });
} else {
  let differing = 0;
  for (const scenario of chosen) {
    differing += await compare(scenario);
  }
  const all = chosen.reduce((sum, scenario) => sum + scenario.steps.length, 0);
  console.log(`${differing} of ${all} steps differ`);
  process.exitCode = differing === 0 ? 0 : 1;
}

/** Number of steps that differ. */
async function compare(scenario: Scenario): Promise<number> {
  const golden = readGolden(scenario.name, values.out);
  const got = normalise(await runScenario(scenario, { connect }));
  const pairs = new Pairs();
  let differing = 0;
  for (const step of scenario.steps) {
    const found = differences(golden[step.name], got[step.name], { step, pairs });
    differing += found.length === 0 ? 0 : 1;
    for (const line of found) {
      console.log(`${scenario.name}/${step.name}: ${line}`);
    }
  }
  return differing;
}
