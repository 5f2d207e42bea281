import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { isOfOurUser, userOf } from './peer-user.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0C38 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0000000000000000 100 0 0 10 0
   1: 0100007F:0C38 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 101 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:D431 0100007F:0C38 01 00000000:00000000 00:00000000 00000000  1000        0 102 1 0000000000000000 20 4 30 10 -1
`;

it('finds the end of a connection that is not ours', () => {
  expect(userOf(TABLE, ['127.0.0.1', 0xd431], ['127.0.0.1', 0x0c38])).toBe(1000);
  expect(userOf(TABLE, ['127.0.0.1', 0xd432], ['127.0.0.1', 0x0c38])).toBeUndefined();
});

it('knows a connection of our own', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [socket] = (await once(server, 'connection')) as [Socket];
  expect(isOfOurUser(socket)).toBe(true);
  client.destroy();
  socket.destroy();
  server.close();
});
