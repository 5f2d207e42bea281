/** A server behind the plain door, which says `yes` to everything. Arguments: path of the socket, how long a connection may be idle in milliseconds. */
import { createServer } from 'node:http';
import { openPlainDoor } from '#server/plain/door.ts';

const [path = '', idleMs = ''] = process.argv.slice(2);
const server = createServer();
openPlainDoor(server, { api: { ask: async () => ({ status: 200, body: 'yes' }) }, channel: {}, idleMs: Number(idleMs) });
server.listen(path, () => process.stdout.write('open\n'));
