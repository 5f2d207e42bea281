/** Writes ten objects, waits until their files and the notes of them are on disk, and then waits to be killed. Argument: home. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openStore, putStatus, taskDraft, taskKey } from './store-home.ts';

const [home = ''] = process.argv.slice(2);
const { directory, store } = await openStore(home);
for (let i = 0; i < 10; i++) {
  const name = `t-${i}`;
  if (!store.get(taskKey(name))) await store.create(taskDraft(name, { title: String(i) }));
  await putStatus(store, taskKey(name), { phase: 'Running', attempt: store.resourceVersion });
}
await directory.settled();
while (!Array.from({ length: 10 }, (_, i) => `t-${i}`).every(isNoted)) await pause(10);
process.stdout.write(`version ${store.resourceVersion}\n`);
await pause(60_000);

/** The journal says which version the object's file shows. */
function isNoted(name: string): boolean {
  const note = `{"file":"Task/default/${name}","mark":[${store.get(taskKey(name))?.metadata.resourceVersion},`;
  const segments = readdirSync(join(home, 'state')).filter((file) => /^journal-\d+\.log$/.test(file));
  return segments.some((file) => readFileSync(join(home, 'state', file), 'latin1').includes(note));
}
