/** Tasks that are made over the book: open requests to a team, and Tasks without a name. */
import { API_VERSION, type Draft, type OwnerReference } from '#api/meta.ts';
import { shortName, type Task, type Team } from '#api/types.ts';
import { AgentisoError, ignoreNotFound, isCode } from '#lib/errors.ts';
import type { TaskBook } from '#relay/task-book.ts';
import { TASK_FINALIZER } from './boards.ts';
import { type BookDeps, nowOf, type Principal, placeOf, refuseLong, speakerName } from './book-desk.ts';
import { nameOf } from './numbered.ts';
import { CREATED_BY_ANNOTATION, REQUESTED_ANNOTATION } from './request.ts';

type Asked = Parameters<TaskBook['request']>[1];
type NewTask = Parameters<TaskBook['createTask']>[1];
type OpenRequest = ReturnType<TaskBook['openRequests']>[number];

const REQUEST_BYTES = 256 * 1024;
/** What spec.prompt takes. */
const PROMPT_CHARACTERS = 100_000;
const TITLE_CHARACTERS = 120;
const TRIES = 100;

export async function makeRequest(deps: BookDeps, principal: Principal, asked: Asked): Promise<{ requestId: string }> {
  const { description, context = '', timeoutSeconds } = asked;
  if (description.trim() === '') throw new AgentisoError('Invalid', 'description: Required value: say what you ask for');
  const text = context === '' ? description : `${description}\n\n${context}`;
  refuseLong('the request', text, REQUEST_BYTES);
  const place = placeOf(principal, asked);
  const spec = { team: place.team, title: titleOf(description), ...wordsOf(text), request: { by: speakerName(principal), timeoutSeconds } };
  const annotations = { [REQUESTED_ANNOTATION]: nowOf(deps).toISOString() };
  const { metadata } = await createNumbered(deps, principal, { place, spec, annotations });
  return { requestId: shortName(place.team, metadata.name) };
}

export async function makeTask(deps: BookDeps, principal: Principal, asked: NewTask): Promise<{ name: string }> {
  const { title, command, timeoutSeconds, assignTo } = asked;
  const place = placeOf(principal, asked);
  const spec = {
    team: place.team,
    title,
    command,
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(assignTo !== undefined && { assignTo }),
  };
  return { name: (await createNumbered(deps, principal, { place, spec, annotations: {} })).metadata.name };
}

export function listOpen(
  { boards }: BookDeps,
  principal: Principal,
  place: { namespace: string; team: string },
  limit: number,
): OpenRequest[] {
  const { namespace, team } = placeOf(principal, place);
  const board = boards.known(namespace, team);
  // Nobody has asked about this team yet: the next one gets an answer.
  if (!board) void boards.ofTeam(namespace, team).catch(() => undefined);
  const cards = board?.openTo(principal.kind === 'agent' ? principal.agent : undefined, limit) ?? [];
  return cards.flatMap(({ name, offer, priority, created }) => {
    if (!offer) return [];
    const { title, description, from, expiresAt } = offer;
    const expires = expiresAt === undefined ? {} : { expires_at: expiresAt };
    return [{ request_id: shortName(team, name), title, description, from, priority, created_at: created, ...expires }];
  });
}

interface Numbered {
  readonly place: { readonly namespace: string; readonly team: string };
  readonly spec: object;
  readonly annotations: Readonly<Record<string, string>>;
}

async function createNumbered(deps: BookDeps, principal: Principal, { place, spec, annotations }: Numbered): Promise<Task> {
  const board = await deps.boards.ofTeam(place.namespace, place.team);
  const ownerReferences = principal.kind === 'agent' ? await teamAsOwner(deps, place) : [];
  for (let attempt = 1; ; attempt++) {
    const draft = {
      apiVersion: API_VERSION,
      kind: 'Task',
      metadata: {
        name: nameOf(place.team, board.takeNumber()),
        namespace: place.namespace,
        annotations: { ...annotations, [CREATED_BY_ANNOTATION]: speakerName(principal) },
        // The controller would add it; so it can be claimed at once.
        finalizers: [TASK_FINALIZER],
        ...(ownerReferences.length > 0 && { ownerReferences }),
      },
      spec,
    };
    try {
      const task = await deps.client.create<Task>(draft as unknown as Draft<Task>);
      deps.boards.stored(task);
      return task;
    } catch (error) {
      if (!isCode(error, 'AlreadyExists') || attempt === TRIES) throw error;
    }
  }
}

/** What agents ask for goes with their team, for nobody else knows of it; the team does not keep it as it keeps the Tasks of its list. */
async function teamAsOwner({ client }: BookDeps, { namespace, team }: Numbered['place']): Promise<OwnerReference[]> {
  const found = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name: team }));
  return found ? [{ apiVersion: found.apiVersion, kind: found.kind, name: team, uid: found.metadata.uid }] : [];
}

function titleOf(description: string): string {
  const [line = ''] = description.trim().split('\n');
  const clean = [...line].filter((character) => character >= ' ' && character !== '\u007f');
  return clean.slice(0, TITLE_CHARACTERS).join('');
}

/** What does not fit into a prompt, or may not stand there, is a description. */
function wordsOf(text: string): { prompt: string; description?: string } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that the schema of spec.prompt refuses
  const isPrompt = text.length <= PROMPT_CHARACTERS && !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text);
  return isPrompt ? { prompt: text } : { prompt: 'See the description.', description: text };
}
