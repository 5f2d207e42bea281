/** The doors of the API with somebody behind them who says `yes` to every whole request. Arguments: a folder, times in milliseconds (idle, request). */
import { join } from 'node:path';
import { silentLogger } from '#lib/log.ts';
import type { Api } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import { openDoors } from '#server/listen.ts';
import { ensureCertificates } from '#server/tls/ensure.ts';

const [folder = '', idleMs = '', requestMs = ''] = process.argv.slice(2);
const api: Pick<Api, 'ask' | 'handle' | 'upgrade' | 'endWatches'> = {
  // Everything goes the long way, by node:http.
  ask: () => undefined,
  handle: (request, response) => {
    process.stdout.write('begun\n');
    request.resume().on('end', () => response.end('yes'));
  },
  upgrade: (_request, socket) => void socket.destroy(),
  endWatches: () => {},
};
const doors = await openDoors({
  api: api as Api,
  log: silentLogger,
  tls: await ensureCertificates({ dir: folder, now: new Date(), hosts: ['127.0.0.1'] }),
  host: '127.0.0.1',
  portFile: join(folder, 'port'),
  socketPath: join(folder, 's'),
  socketIdentity: personIdentity('admin', 'admin'),
  times: { idleMs: Number(idleMs), requestMs: Number(requestMs), checkMs: 100 },
});
process.stdout.write(`${new URL(doors.url).port}\n`);
