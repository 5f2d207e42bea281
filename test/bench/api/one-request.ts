/** The least a command can do: one request over the unix socket, its answer printed. Bundled. Arguments: socket, path, accepted type. */
import { get } from 'node:http';

const [socketPath = '', path = '', accept = ''] = process.argv.slice(2);
get({ socketPath, path, headers: { Accept: accept } }, (response) => response.pipe(process.stdout));
