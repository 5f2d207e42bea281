/**
 * `/rescue`: work that was kept when its agent went. `/rescue` lists it, `/rescue/ID` shows one, `/rescue/ID/bundle` gives it as a bundle of git,
 * without what the commits in `have` hold, and DELETE gives it up. An ID is the uid of the agent, or the beginning of one.
 */
import type { RescuedWork } from '#git/rescued.ts';
import type { TeamRepositories, TeamRepository } from '#git/team-repository.ts';
import { type AgentisoError, InvalidError, NotFoundError } from '#lib/errors.ts';
import { type Desk, type DeskAnswer, type DeskRequest, onlyAdmins } from '#server/desk.ts';

const MAX_HAVE = 200;
const COMMIT = /^[0-9a-f]{40,64}$/;

interface Found {
  readonly repository: TeamRepository;
  readonly work: RescuedWork;
}

export function createRescueDesk(
  repositories: Pick<TeamRepositories, 'list' | 'find' | 'remove'>,
  isTeam?: (uid: string) => boolean,
): Desk {
  return {
    may: onlyAdmins,
    async answer(request) {
      const [id = '', part, ...more] = request.path.split('/');
      if (more.length > 0 || (part !== undefined && part !== 'bundle')) throw unknownPath(request.path);
      if (id === '') return listAnswer(repositories, request);
      const found = await find(repositories, id);
      if (part === 'bundle') return bundleAnswer(found, request);
      if (request.method === 'DELETE') return dropAnswer(found, request, { repositories, isTeam });
      if (request.method !== 'GET') throw onlyRead();
      return json({ ...found.work, ...(await found.repository.describeRescued(found.work)) });
    },
  };
}

async function listAnswer(repositories: Pick<TeamRepositories, 'list' | 'find'>, { method }: DeskRequest): Promise<DeskAnswer> {
  if (method !== 'GET') throw onlyRead();
  const all = await repositories.list();
  const listed = await Promise.all(
    all.map(async ({ teamUid, namespace, name, bytes }) => {
      const rescued = (await (await repositories.find(teamUid))?.rescued()) ?? [];
      return { teamUid, namespace, team: name, bytes, rescued: [...rescued].sort((a, b) => (a.at < b.at ? 1 : -1)) };
    }),
  );
  return json({ repositories: listed });
}

async function bundleAnswer({ repository, work }: Found, { method, query, signal }: DeskRequest): Promise<DeskAnswer> {
  if (method !== 'GET') throw onlyRead();
  const asked = (query.get('have') ?? '').split(',').filter((id) => COMMIT.test(id));
  const known = await Promise.all(asked.slice(0, MAX_HAVE).map((id) => repository.resolve(id)));
  const have = known.filter((id) => id !== undefined);
  const bytes = repository.bundle(work.commit, have, signal);
  if (query.get('encoding') === 'base64') return { status: 200, lines: toBase64(bytes) };
  return { status: 200, bytes, contentType: 'application/x-git-bundle' };
}

interface Dropping {
  readonly repositories: Pick<TeamRepositories, 'remove'>;
  readonly isTeam: ((uid: string) => boolean) | undefined;
}

/** With the last of it goes the repository of a team that is gone. */
async function dropAnswer({ repository, work }: Found, { query }: DeskRequest, { repositories, isTeam }: Dropping): Promise<DeskAnswer> {
  if (query.get('confirm') !== 'true') throw new InvalidError(`the work of ${work.agent} would be gone for good; say confirm=true`);
  await repository.unpublish(work.ref);
  await repository.update([{ ref: work.ref, to: undefined, from: work.commit }]);
  if (isTeam?.(repository.teamUid) === false) await repositories.remove(repository.teamUid);
  return json(work);
}

async function find(repositories: Pick<TeamRepositories, 'list' | 'find'>, id: string): Promise<Found> {
  const found: Found[] = [];
  for (const { teamUid } of await repositories.list()) {
    const repository = await repositories.find(teamUid);
    const works = (await repository?.rescued()) ?? [];
    if (repository) found.push(...works.filter((work) => work.id.startsWith(id)).map((work) => ({ repository, work })));
  }
  const exact = found.find(({ work }) => work.id === id);
  const [first, second] = exact ? [exact] : found;
  if (!first) throw new NotFoundError(`no work is kept as ${id}`, { hint: 'agentiso rescue list shows what is' });
  if (second) throw new InvalidError(`${id} is the beginning of several: ${found.map(({ work }) => work.id).join(', ')}; give more of it`);
  return first;
}

function unknownPath(path: string): AgentisoError {
  return new NotFoundError(`there is no /rescue/${path}`, { hint: 'use /rescue, /rescue/ID or /rescue/ID/bundle' });
}

function onlyRead(): AgentisoError {
  return new InvalidError('rescued work is read by GET and given up by DELETE of /rescue/ID');
}

function json(value: unknown): DeskAnswer {
  return { status: 200, value };
}

/** For clients that read lines of text. */
async function* toBase64(content: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  for await (const chunk of content) yield Buffer.from(chunk).toString('base64');
}
