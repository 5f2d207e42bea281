/** What of this machine a sandbox is shown: system directories, a few files of /etc, and the Node that runs the guest agent. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { HostLayout, NodeProgram } from './args.ts';

const TOP_LEVEL = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
const ETC = ['alternatives', 'ca-certificates', 'ca-certificates.conf', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime'];
const ETC_MORE = ['mime.types', 'pki', 'protocols', 'services', 'ssl'];

export function readHostLayout(): HostLayout {
  const present = TOP_LEVEL.filter((path) => existsSync(path));
  const linked = present.filter((path) => lstatSync(path).isSymbolicLink());
  return {
    directories: ['/usr', ...present.filter((path) => !linked.includes(path))],
    links: linked.map((path) => [path, readlinkSync(path)]),
    etc: [...ETC, ...ETC_MORE].map((name) => join('/etc', name)).filter((path) => existsSync(path)),
  };
}

const NODE_INSIDE = '/opt/node';

/** Pure. Of a Node that was unpacked into a folder of its own, npm comes along; of one that lies among other things, only the program. */
export function nodeProgram(execPath: string, isDistribution: (prefix: string) => boolean): NodeProgram {
  if (execPath.startsWith('/usr/')) return { path: execPath };
  const prefix = dirname(dirname(execPath));
  const path = join(NODE_INSIDE, 'bin', 'node');
  if (basename(dirname(execPath)) === 'bin' && isDistribution(prefix))
    return { bound: { source: prefix, target: NODE_INSIDE }, path: join(NODE_INSIDE, 'bin', basename(execPath)) };
  return { bound: { source: execPath, target: path }, path };
}

export function thisNode(): NodeProgram {
  return nodeProgram(realpathSync(process.execPath), (prefix) => existsSync(join(prefix, 'include', 'node', 'node.h')));
}
