/** `agentiso cp`: files into an agent and out of it, as a tar archive through exec. */
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { execIn } from '../streams/exec.ts';
import { type CopyPlace, copyPlace } from '../streams/places.ts';
import type { PodPlace } from '../streams/pod.ts';
import { readTar } from '../streams/tar-read.ts';
import { writeTar } from '../streams/tar-write.ts';
import { unpackInto } from '../streams/unpack.ts';
import { UsageError } from '../usage-error.ts';

export const cpCommand = apiCommand({
  name: 'cp',
  args: '<from> <to>',
  summary: 'copy files and folders into an agent, or out of it',
  description:
    'Copies a file or folder: agentiso cp FILE NAME:PATH, agentiso cp NAME:PATH FILE. NAME is the name of an agent, agent/NAME, pod/NAME, or NAMESPACE/NAME. The agent needs tar. Links are not copied.',
  options: [{ flags: '-c, --container <name>', description: 'container of the pod; agents have one, named agent' }],
  async run([from = '', to = ''], options, session) {
    const [source, target] = [copyPlace(from), copyPlace(to)];
    const container = text(options['container']);
    if ('name' in source === 'name' in target) {
      throw new UsageError('one of the two, and only one, must be in an agent: NAME:PATH', {
        hint: 'agentiso cp FILE NAME:PATH or agentiso cp NAME:PATH FILE',
      });
    }
    if ('name' in target) await upload(session, source.path, { pod: podOf(target, session), path: target.path, container });
    else if ('name' in source) await download(session, { pod: podOf(source, session), path: source.path, container }, target.path);
    return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
});

interface Remote {
  readonly pod: PodPlace;
  readonly path: string;
  readonly container: string | undefined;
}

function podOf(place: Extract<CopyPlace, { name: string }>, { namespace }: Session): PodPlace {
  return { namespace: place.namespace ?? namespace, name: place.name };
}

async function upload(session: Session, path: string, remote: Remote): Promise<void> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new AgentisoError('NotFound', `${path} doesn't exist in local filesystem`);
  const isFolder = (await run(session, remote, ['test', '-d', remote.path])).exitCode === 0;
  const target = isFolder || remote.path.endsWith('/') ? join(remote.path, basename(path)) : remote.path;
  const archive = writeTar(path, basename(target), (skipped) => session.err(`skipping ${skipped}: it is neither a file nor a folder\n`));
  await done(session, remote, ['tar', '-xmf', '-', '-C', dirname(target)], { stdin: Readable.from(archive) });
}

async function download(session: Session, remote: Remote, path: string): Promise<void> {
  const isHere = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const name = basename(remote.path);
  // Of a folder that has no name of its own, all that is in it.
  const base = ['', '.', '..', '/'].includes(name) ? '' : name;
  const target = isHere && base !== '' ? join(path, base) : path;
  const archive = new PassThrough();
  const sink = unpackInto({ base, target, warn: session.err });
  const argv = ['tar', '-cf', '-', '-C', base === '' ? remote.path : dirname(remote.path), base === '' ? '.' : `./${base}`];
  const unpacked = readTar(archive, sink).catch((error: unknown) => {
    archive.resume();
    throw new AgentisoError('Internal', messageOf(error), { cause: error });
  });
  // What went wrong here says more than that the agent's tar was not read to its end.
  await Promise.all([unpacked, done(session, remote, argv, { stdout: archive }).finally(() => archive.end())]);
}

interface Ends {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
}

/** Throws with what the command said when it fails. */
async function done(session: Session, remote: Remote, argv: readonly string[], ends: Ends): Promise<void> {
  const { exitCode, said } = await run(session, remote, argv, ends);
  if (exitCode !== 0 && !session.signal.aborted)
    throw new AgentisoError('Internal', said.trim() || `${argv[0]} ended with exit code ${exitCode}`);
}

async function run(session: Session, { pod, container }: Remote, argv: readonly string[], { stdin, stdout }: Ends = {}) {
  let said = '';
  const stderr = new Writable({
    write(bytes: Buffer, _encoding, next) {
      if (said.length < 4_096) said += bytes.toString();
      next();
    },
  });
  const ending = await execIn(session, { pod, container, argv, ends: { stdout: stdout ?? stderr, stderr, ...(stdin ? { stdin } : {}) } });
  if ('problem' in ending) throw new AgentisoError('Unavailable', ending.problem);
  return { exitCode: ending.exitCode, said };
}
