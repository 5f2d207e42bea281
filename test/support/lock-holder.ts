/** A process that holds a store open until it is ended. Argument: home. */
import { openStore, taskDraft } from './store-home.ts';

const [home = ''] = process.argv.slice(2);
const { store } = await openStore(home);
await store.create(taskDraft(`by-${process.pid}`));
process.stdout.write('open\n');
setInterval(() => {}, 60_000);
