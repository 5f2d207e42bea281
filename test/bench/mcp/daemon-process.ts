/** The daemon in a process of its own, without rate limits, which would be measured in place of it. Bundled. Argument: home. */
import { optimiseInTime } from '#lib/optimise-in-time.ts';
import { keepHeapSmall } from '#runtime/heap.ts';
import { startDaemon } from '../../../src/daemon/daemon.ts';

const UNLIMITED = { burst: 1e9, perMinute: 1e9 };

keepHeapSmall();
optimiseInTime();
const [home = ''] = process.argv.slice(2);
const daemon = await startDaemon({ home, logLevel: 'error', limits: { rates: { default: UNLIMITED } } });
process.on('SIGTERM', () => {
  void daemon.stop().then(() => process.exit(0));
});
process.stdout.write('ready\n');
