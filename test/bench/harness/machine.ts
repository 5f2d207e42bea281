/** What the numbers were measured on, without host names or paths. */
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { etcdVersion } from '../peers/etcd.ts';
import { redisVersion } from '../peers/redis.ts';

export interface Machine {
  readonly label: string;
  readonly value: string;
}

export function describeMachine(dataDir: string): Machine[] {
  const cpus = os.cpus();
  return [
    { label: 'cpu', value: cpus[0]?.model.trim() || 'unknown' },
    { label: 'cores', value: String(cpus.length) },
    { label: 'memory', value: `${(os.totalmem() / 2 ** 30).toFixed(1)} GiB` },
    { label: 'kernel', value: `${os.type()} ${os.release()}` },
    { label: 'file system', value: fileSystemOf(dataDir) },
    { label: 'node', value: process.version },
    { label: 'etcd', value: etcdVersion() ?? 'not installed' },
    { label: 'Redis', value: redisVersion() ?? 'not installed' },
  ];
}

/** The type of the mount that holds `path`, such as ext4. */
export function fileSystemOf(path: string): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  let best = { point: '', type: 'unknown' };
  for (const mount of mounts) {
    const [, point = '', type = 'unknown'] = mount.split(' ');
    const holds = point === '/' || path === point || path.startsWith(`${point}/`);
    // Later mounts cover earlier ones on the same point.
    if (point !== '' && holds && point.length >= best.point.length) best = { point, type };
  }
  return best.type;
}
