/** Writes ten objects, waits until their files and the notes of them are on disk, and then waits to be killed. Argument: home. */
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
// What is known of the files is written half a second later at the latest.
await pause(700);
process.stdout.write(`version ${store.resourceVersion}\n`);
await pause(60_000);
