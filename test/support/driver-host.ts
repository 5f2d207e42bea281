/** A small daemon of its own process, for tests that kill it: one workspace, one long command, its pids on stdout. */
import { once } from 'node:events';
import { processDriver } from '#drivers/process/driver.ts';
import { connectGuest } from '#guest/client.ts';
import { silentLogger } from '#lib/log.ts';

const [stateDir = '', guestAgentPath = ''] = process.argv.slice(2);
const { signal } = new AbortController();
const workspace = { id: 'hosted', incarnation: 'first', hostname: 'hosted' };

// A driver does not keep its daemon alive; in a real one the servers do.
setInterval(() => {}, 60_000);
const driver = processDriver({ stateDir, guestAgentPath, log: silentLogger });
const changed = new EventTarget();
driver.onChange(() => changed.dispatchEvent(new Event('change')));
const listening = once(changed, 'change');
const { pid } = await driver.create(workspace, signal);
await listening;
const client = await connectGuest(await driver.connect(workspace.id, signal), workspace);
const command = 'sleep 1000 & echo $$ $! > pids.new; mv pids.new pids; wait';
client.call('exec', { command, timeoutMs: 600_000 }).catch(() => {});
const { stdout } = await client.call('exec', { command: 'while [ ! -e pids ]; do sleep 0.01; done; cat pids', timeoutMs: 30_000 });
process.stdout.write(`${pid} ${stdout}`);
