/** Starts programs while no descriptor is left, and again when there is one. Run it with a low limit. Prints what happened as JSON. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { run as runImageTool } from '#images/run.ts';
import { messageOf } from '#lib/errors.ts';
import { createLogger } from '#lib/log.ts';
import { Monitor } from '#network/monitor.ts';
import { run } from '#network/run.ts';
import { Session } from '#network/session.ts';
import type { Tools } from '#network/tools.ts';

const nothing = '/bin/true';
const tools = { setpriv: nothing, nsenter: nothing, nft: nothing } as unknown as Tools;
let onRestart = () => {};
const log = createLogger({ level: 'error' });
const monitor = new Monitor({ tools, namespace: '/none', log, isOwn: () => false, onForeignChange: () => onRestart() });
const outcome = (work: Promise<unknown>): Promise<string> => work.then(() => 'done', messageOf);
const all = async () => ({
  network: await outcome(run([nothing])),
  image: await outcome(runImageTool([nothing], { signal: new AbortController().signal })),
  session: await outcome(new Session({ tools, namespace: '/none', onPid: () => {} }).apply('x')),
});

const opened: number[] = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  // None is left: what was asked for.
}
monitor.start();
const without = await all();
for (const fd of opened) closeSync(fd);
const isHeard = new Promise<void>((resolve) => {
  onRestart = resolve;
});
// Its own timer keeps nobody alive.
const alive = setInterval(() => {}, 1_000);
await isHeard;
clearInterval(alive);
await monitor.close();
writeSync(1, `${JSON.stringify({ without, again: await all() })}\n`);
// Node keeps the clock of a program that never started.
process.exit(0);
