/**
 * Taking in what comes out of a workspace. Whoever sent it may have made it by hand: its size is bounded, its objects are checked, it first
 * lies under a ref that nobody reads, and only what was looked through is published.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AgentisoError, InvalidError } from '#lib/errors.ts';
import { readObjects } from './batch.ts';
import { incomingRef } from './refs.ts';
import { type GitOptions, git } from './run.ts';
import { secretIn } from './secrets.ts';
import type { Delivery, Received } from './team-repository.ts';
import { updateRefs } from './update-refs.ts';

const MAX_BUNDLE_BYTES = 1024 * 1024 * 1024;
/** Larger files are no place where keys are typed in, and would cost more than they tell. */
const MAX_LOOKED_AT_BYTES = 1024 * 1024;
const LOOKED_AT_ONCE = 500;

/** Flaws that old histories have and that harm nobody. */
const HARMLESS = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingEmail',
  'missingNameBeforeEmail',
  'badDate',
  'badName',
  'zeroPaddedDate',
];
const CHECKED = ['-c', 'fetch.fsckObjects=true', ...HARMLESS.flatMap((flaw) => ['-c', `fetch.fsck.${flaw}=ignore`])];

/** On disk, before anybody has to wait for it: whoever sends it may take his time. */
export async function storeBundle(bundle: Readable, maxBytes: number | undefined, { directory }: GitOptions): Promise<string> {
  const folder = join(directory, 'agentiso-incoming');
  const file = join(folder, `${randomUUID()}.bundle`);
  await mkdir(folder, { recursive: true });
  try {
    await pipeline(bundle, limitedTo(maxBytes ?? MAX_BUNDLE_BYTES), createWriteStream(file, { mode: 0o600 }));
    return file;
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** What a process that was killed had begun to take in. */
export async function removeIncoming(directory: string): Promise<void> {
  await rm(join(directory, 'agentiso-incoming'), { recursive: true, force: true });
}

export async function receiveBundle(file: string, delivery: Delivery, options: GitOptions): Promise<Received> {
  const { agentUid, refOf } = delivery;
  const heads = await headsOf(file, options);
  const stranger = [...heads.keys()].find((ref) => refOf(ref) === undefined);
  if (stranger !== undefined) throw new InvalidError(`a bundle of agent ${agentUid} has the ref ${stranger}, which it may not have`);
  const parked = [...heads].map(([ref, id], index) => ({ ref, id, parked: `${incomingRef(agentUid)}/${index}`, to: refOf(ref) ?? '' }));
  const args = [...CHECKED, 'fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-gc', '--update-shallow', file];
  await git([...args, ...parked.map((each) => `+${each.ref}:${each.parked}`)], options);
  const received = await adoptRefs(Object.fromEntries(parked.map(({ to, id }) => [to, id])), delivery, options);
  const kept = new Set(parked.filter(({ to }) => received.refs[to] === undefined).map((each) => each.parked));
  // Also what an earlier delivery has parked that was cut off: this one is the whole of what the agent has.
  const found = (await git(['for-each-ref', '--format=%(refname)', `${incomingRef(agentUid)}/`], options)).split('\n').filter(Boolean);
  await updateRefs(
    found.filter((ref) => !kept.has(ref)).map((ref) => ({ ref, to: undefined })),
    options,
  );
  return received;
}

/** Refs to commits that are here. Branches are what gets published: one that leads to a key does not move. */
export async function adoptRefs(
  wanted: Readonly<Record<string, string>>,
  { mayHoldSecrets = false }: Pick<Delivery, 'mayHoldSecrets'>,
  options: GitOptions,
): Promise<Received> {
  const isPublished = (ref: string) => ref.startsWith('refs/heads/');
  const published = Object.entries(wanted).flatMap(([ref, id]) => (isPublished(ref) ? [id] : []));
  const isLookedAt = !mayHoldSecrets && published.length > 0;
  const secret = isLookedAt ? await findSecret(published, await knownTips(options), options) : undefined;
  const refs = secret === undefined ? wanted : Object.fromEntries(Object.entries(wanted).filter(([ref]) => !isPublished(ref)));
  await updateRefs(
    Object.entries(refs).map(([ref, to]) => ({ ref, to })),
    options,
  );
  return secret === undefined ? { state: 'received', refs } : { state: 'refused', reason: 'SecretFound', message: secret, refs };
}

/** Also says whether what the bundle builds on is here. */
async function headsOf(file: string, options: GitOptions): Promise<ReadonlyMap<string, string>> {
  await git(['bundle', 'verify', '--quiet', file], options);
  const lines = (await git(['bundle', 'list-heads', file], options)).split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [id = '', ref = ''] = line.split(' ');
      return [ref, id];
    }),
  );
}

async function knownTips(options: GitOptions): Promise<string[]> {
  const tips = await git(['for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/tags', 'refs/agentiso/source'], options);
  return [...new Set(tips.split('\n').filter(Boolean))];
}

/** In files that were not here before: what is already published is not this agent's doing. */
async function findSecret(tips: readonly string[], known: readonly string[], options: GitOptions): Promise<string | undefined> {
  const asked = [...tips, ...known.map((id) => `^${id}`)].join('\n');
  const listed = await git(['rev-list', '--objects', '--stdin', '--filter=object:type=blob', '--filter-provided-objects'], {
    ...options,
    input: `${asked}\n`,
  });
  const paths = new Map(
    listed
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  const ids = await smallOnes([...paths.keys()], options);
  for (let at = 0; at < ids.length; at += LOOKED_AT_ONCE) {
    for (const { id, content } of await readObjects(ids.slice(at, at + LOOKED_AT_ONCE), options)) {
      const kind = secretIn(content);
      if (kind !== undefined)
        return `${paths.get(id)} holds what looks like a ${kind}; take it out of the history, for example by git commit --amend or git rebase`;
    }
  }
  return undefined;
}

async function smallOnes(ids: readonly string[], options: GitOptions): Promise<string[]> {
  if (ids.length === 0) return [];
  const checked = await git(['cat-file', '--batch-check'], { ...options, input: `${ids.join('\n')}\n` });
  return checked
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, type, size]) => type === 'blob' && Number(size) <= MAX_LOOKED_AT_BYTES)
    .map(([id = '']) => id);
}

function limitedTo(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBytes) done(new AgentisoError('TooLarge', `the commits are more than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}
