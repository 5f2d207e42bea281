/**
 * The least a node:http server can do on a unix socket; bundled, and run in a process of its own. Arguments: socket, file of JSON lines.
 * `GET /one` sends a prepared Buffer, the first line. Every other path joins all lines, prepared as strings, between the head and the
 * tail of a list, counts the bytes of the result and sends it. Both send as many headers as the API does, all of them constant.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [socketPath = '', linesFile = ''] = process.argv.slice(2);
// Parsed and formatted again, each is a string of its own and no slice of the file.
const items = readFileSync(linesFile, 'utf8')
  .split('\n')
  .map((line) => JSON.stringify(JSON.parse(line)));
const one = Buffer.from(items[0] ?? '');
const HEAD = '{"apiVersion":"agentiso.dev/v1alpha1","kind":"MergeList","metadata":{"resourceVersion":"1"},"items":[';
const HEADERS = {
  'Audit-Id': '5f1d7a52-8d1e-4c39-9f0e-3a7c1b2d4e6f',
  'Cache-Control': 'no-cache, private',
  'Content-Type': 'application/json',
};

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  if (request.url === '/one') {
    response.writeHead(200, { ...HEADERS, 'Content-Length': one.length });
    response.end(one);
    return;
  }
  const body = `${HEAD}${items.join(',')}]}`;
  response.writeHead(200, { ...HEADERS, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(socketPath, () => process.stdout.write('ready\n'));
process.on('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
