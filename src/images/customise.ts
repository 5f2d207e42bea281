/** What is done to a fresh Debian system before it becomes a root: Node and a user come in, whatever differs from build to build goes out. */
import { chmod, chown, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The user that agents are in sandboxes, too. */
const AGENT = { name: 'agent', id: 1000 };

/** Emptied: logs, caches, copies from before the last change, and the index of a repository that is not there any more. */
const EMPTIED = [
  'var/log',
  'var/cache/apt',
  'var/cache/debconf',
  'var/lib/apt/lists',
  'var/cache/ldconfig',
  'var/lib/systemd',
  'tmp',
  'run',
  'dev',
];
const REMOVED = [
  'etc/.pwd.lock',
  'etc/passwd-',
  'etc/shadow-',
  'etc/group-',
  'etc/gshadow-',
  'etc/apt/sources.list.d/0000main.list',
  'etc/dpkg/dpkg.cfg.d/99mmdebstrap',
  'etc/apt/apt.conf.d/99mmdebstrap',
  'var/lib/dbus/machine-id',
  'var/lib/dpkg/status-old',
  'var/lib/dpkg/available-old',
  'var/lib/dpkg/diversions-old',
  'var/lib/dpkg/statoverride-old',
];

export async function customise(root: string, nodePath: string): Promise<void> {
  await putNode(root, nodePath);
  await addAgent(root);
  for (const place of EMPTIED) await empty(join(root, place));
  for (const path of REMOVED) await rm(join(root, path), { force: true });
  for (const place of ['workspace', 'var/lib/agentiso']) await mkdir(join(root, place), { recursive: true });
  await write(root, 'etc/hostname', 'agentiso\n');
  await write(root, 'etc/hosts', '127.0.0.1 localhost\n::1 localhost ip6-localhost\n');
  await write(root, 'etc/resolv.conf', '');
  // Empty means: made at the first start. Two machines must never share one.
  await write(root, 'etc/machine-id', '');
  await write(root, 'etc/apt/sources.list', sources(await codename(root)));
}

async function putNode(root: string, nodePath: string): Promise<void> {
  const target = join(root, 'usr/local/bin/node');
  await mkdir(join(root, 'usr/local/bin'), { recursive: true });
  await copyFile(nodePath, target);
  await chmod(target, 0o755);
}

async function addAgent(root: string): Promise<void> {
  const { name, id } = AGENT;
  const add = async (path: string, line: string) => {
    const text = await readFile(join(root, path), 'utf8');
    await writeFile(join(root, path), `${text.replace(/\n*$/, '\n')}${line}\n`);
  };
  await add('etc/passwd', `${name}:x:${id}:${id}::/home/${name}:/bin/bash`);
  await add('etc/group', `${name}:x:${id}:`);
  // No password opens it.
  await add('etc/shadow', `${name}:!:19000::::::`);
  await add('etc/gshadow', `${name}:!::`);
  const home = join(root, 'home', name);
  await mkdir(home, { recursive: true, mode: 0o755 });
  await chown(home, id, id);
}

async function empty(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}

async function write(root: string, path: string, text: string): Promise<void> {
  const place = join(root, path);
  // A link would lead to a file of this machine.
  await rm(place, { force: true });
  await writeFile(place, text, { mode: 0o644 });
}

async function codename(root: string): Promise<string> {
  const release = await readFile(join(root, 'usr/lib/os-release'), 'utf8');
  return /^VERSION_CODENAME=(\S+)$/m.exec(release)?.[1] ?? 'stable';
}

/** Debian's public servers, whatever mirror this machine uses: that one may be no address of the guest's network. */
function sources(name: string): string {
  return [
    `deb http://deb.debian.org/debian ${name} main`,
    `deb http://deb.debian.org/debian ${name}-updates main`,
    `deb http://deb.debian.org/debian-security ${name}-security main`,
    '',
  ].join('\n');
}
