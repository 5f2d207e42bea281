/**
 * A small daemon of its own process, for tests that kill it. Says `created` and the guest's pid when create has
 * returned, and `running` when its guests listen and what its driver starts ahead is there.
 */
import { once } from 'node:events';
import type { VmDriver } from '#drivers/vm/driver.ts';
import { openDriver } from './open-driver.ts';

const [kind = '', stateDir = '', guestAgentPath = '', ...specs] = process.argv.slice(2);
const { signal } = new AbortController();

// A driver does not keep its daemon alive; in a real one the servers do.
setInterval(() => {}, 60_000);
const driver = await openDriver(kind, { stateDir, guestAgentPath });
const changed = new EventTarget();
driver.onChange(() => changed.dispatchEvent(new Event('change')));
for (const text of specs) {
  const spec = JSON.parse(text);
  let listening = once(changed, 'change');
  process.stdout.write('creating\n');
  const { pid } = await driver.create(spec, signal);
  process.stdout.write(`created\npid ${pid}\n`);
  while ((await driver.get(spec.id, signal))?.phase === 'starting') {
    await listening;
    listening = once(changed, 'change');
  }
  if ('poolSettled' in driver) await (driver as VmDriver).poolSettled();
}
process.stdout.write('running\n');
