/** A daemon of its own process that makes one template, for tests that kill it: `template-maker.ts DIRECTORY COPIES KIND`. */
import { Templates } from '#drivers/vm/templates.ts';
import { silentLogger } from '#lib/log.ts';
import { machinesHere } from './machines.ts';

const [directory = '', copies = '', kind = ''] = process.argv.slice(2);
const { support, reason } = await machinesHere();
if (support === undefined) throw new Error(reason);
const caches = { directories: [directory], budgetBytes: () => 2 ** 34 };
await new Templates({ directory, copies, support, log: silentLogger, caches }).make(JSON.parse(kind));
