import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const START_MS = 2_000;
/** From here on V8 is patient by itself. */
const FIRST_PATIENT_V8 = 13;

/** Says how many calls it takes until a function is optimised: as V8 has it, at the start, and when that is over. */
const PROGRAM = `
const body = 'let sum = 0; for (const [key, value] of Object.entries(object)) sum += key.length * value; return sum;';
const isOptimised = (each) => (%GetOptimizationStatus(each) & (1 << 6)) !== 0;
let made = 0;
const callsNeeded = () => {
  // Each is another text: V8 may remember of one that it was worth it.
  const each = new Function('object', body + '//' + ++made);
  let calls = 0;
  while (calls < 1_000_000 && !isOptimised(each)) for (let left = 100; left > 0; left -= 1) calls += each({ a: left, b: 2 }) > 0 ? 1 : 0;
  return calls;
};
const usual = callsNeeded();
optimiseInTime(${START_MS});
const first = callsNeeded();
await new Promise((resolve) => setTimeout(resolve, ${START_MS}));
process.stdout.write(JSON.stringify({ usual, first, then: callsNeeded() }));
`;

it('lets V8 wait longer at the start, and not as long as usual afterwards, without a word', { timeout: 120_000 }, () => {
  const url = JSON.stringify(new URL('optimise-in-time.ts', import.meta.url).href);
  // What is optimised is optimised at once, however busy the machine is.
  const flags = ['--allow-natives-syntax', '--no-concurrent-recompilation', '--import', import.meta.resolve('tsx'), '--input-type=module'];
  const program = `import { optimiseInTime } from ${url};${PROGRAM}`;
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '-e', program], { encoding: 'utf8' });
  const { usual, first, then } = JSON.parse(stdout) as { usual: number; first: number; then: number };
  expect(stderr).toBe('');
  if (Number(process.versions.v8.split('.')[0]) < FIRST_PATIENT_V8) {
    expect(first).toBeGreaterThan(2 * usual);
    expect(then).toBeLessThan(usual);
  } else expect([first, then]).toEqual([usual, usual]);
});
