/** A store with one Task `a`, in a process to be killed: every line on standard input is a status write, answered when the file shows it. */
import { createInterface } from 'node:readline';
import { openStore, putStatus, taskDraft, taskKey } from './store-home.ts';

const [home = ''] = process.argv.slice(2);
const { directory, store } = await openStore(home);
await store.create(taskDraft('a', { title: 'old' }));
await directory.settled();
process.stdout.write('open\n');
let attempt = 0;
for await (const _line of createInterface({ input: process.stdin })) {
  await putStatus(store, taskKey('a'), { phase: 'Running', attempt: ++attempt });
  await directory.settled();
  process.stdout.write(`written ${attempt}\n`);
}
