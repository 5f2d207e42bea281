/**
 * Outputs of earlier Tasks in later ones: `{{tasks.NAME.result.stdout}}`, also stderr, exitCode and commit, in command, prompt and the
 * values of env. NAME is the short or full name of a Task in dependsOn. `{{"{{"}}` stands for two braces as they are; everything else
 * between braces is nobody's business here. In prompt and env the text is put in as it is, to the last newline. In a command it never becomes
 * code: it travels as an environment variable, and the command gets a reference to it that is quoted for the place where it stands.
 * (What a command does with a word it is given is its own affair: `eval` and `sh -c` still run it.) Pure.
 */
import { AgentisoError, type FieldProblem } from '#lib/errors.ts';
import type { TaskSpec } from './generated/task.ts';
import { type Place, shellPlaces } from './shell-places.ts';
import { shortName, type Task } from './types.ts';

export const RESULT_FIELDS = ['stdout', 'stderr', 'exitCode', 'commit'] as const;
export type ResultField = (typeof RESULT_FIELDS)[number];

export type TemplateSpec = Pick<TaskSpec, 'team' | 'dependsOn' | 'command' | 'prompt' | 'env'>;

export interface Reference {
  /** As written: a short or a full name. */
  readonly task: string;
  readonly field: ResultField;
  /** The field of the spec it stands in: `command`, `prompt`, or `env` and a name. */
  readonly segments: readonly string[];
}

export interface Rendered {
  readonly command?: string;
  readonly prompt?: string;
  readonly env: Readonly<Record<string, string>>;
}

type Segments = readonly (string | number)[];

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Absent: two braces as they are, or something that only looks like a reference. */
  readonly reference?: Omit<Reference, 'segments'>;
  readonly isLiteral: boolean;
}

const PIECE = /\{\{[ \t]*(?:"\{\{"|tasks\.([^{}\n]*?))[ \t]*\}\}/g;
const REFERENCE = /^([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\.result\.(stdout|stderr|exitCode|commit)$/;
const EXPECTED = `write {{tasks.NAME.result.FIELD}} with one of ${RESULT_FIELDS.join(', ')}, or {{"{{"}} for the braces themselves`;
/** The kernel takes no longer string among the variables of a program: 32 pages, with name, equals sign and the closing zero. */
const MAX_VARIABLE_BYTES = 128 * 1024;

export function hasReferences(spec: TemplateSpec): boolean {
  return referencesOf(spec).length > 0;
}

export function referencesOf(spec: TemplateSpec): readonly Reference[] {
  return textsOf(spec).flatMap(({ segments, text }) =>
    piecesOf(text).flatMap(({ reference }) => (reference ? [{ ...reference, segments }] : [])),
  );
}

/** What is wrong with the references of one spec, whatever other Tasks there are. `at` is where the spec stands in its object. */
export function templateProblems(spec: TemplateSpec, at: Segments = ['spec']): FieldProblem[] {
  return textsOf(spec).flatMap(({ segments, text }) => {
    const pieces = piecesOf(text);
    const places = segments[0] === 'command' ? shellPlaces(text, pieces) : [];
    return pieces.flatMap((piece, index) => {
      const why = problemOf(piece, spec) ?? refusalOf(piece, places[index]);
      return why === undefined ? [] : [toProblem([...at, ...segments], piece, why)];
    });
  });
}

/**
 * `dependencies` are the Tasks that the references name, in any order. Throws AgentisoError: TooLarge for an output that is no longer
 * whole or does not fit, Invalid for one that is not there.
 */
export function render({ spec }: Pick<Task, 'spec'>, dependencies: readonly Task[]): Rendered {
  const read = (reference: Omit<Reference, 'segments'>) => readValue(reference, spec.team, dependencies);
  const env = Object.entries(spec.env ?? {}).map(([name, text]) => [name, checkVariable(name, fill(text, read))] as const);
  const command = typeof spec.command === 'string' ? fillCommand(spec.command, read) : undefined;
  return {
    ...(command && { command: command.text }),
    ...(typeof spec.prompt === 'string' && { prompt: fill(spec.prompt, read) }),
    env: { ...Object.fromEntries(env), ...command?.env },
  };
}

function textsOf({ command, prompt, env = {} }: TemplateSpec): { readonly segments: readonly string[]; readonly text: string }[] {
  const own = Object.entries({ command, prompt }).flatMap(([name, text]) => (typeof text === 'string' ? [{ segments: [name], text }] : []));
  return [...own, ...Object.entries(env).map(([name, text]) => ({ segments: ['env', name], text }))];
}

function piecesOf(text: string): readonly Piece[] {
  return [...text.matchAll(PIECE)].map((match) => {
    const [whole, inner] = match;
    const [, task, field] = REFERENCE.exec(inner ?? '') ?? [];
    return {
      start: match.index,
      end: match.index + whole.length,
      text: whole,
      isLiteral: inner === undefined,
      ...(task !== undefined && { reference: { task, field: field as ResultField } }),
    };
  });
}

function problemOf({ reference, isLiteral }: Piece, { team, dependsOn = [] }: TemplateSpec): string | undefined {
  if (isLiteral) return undefined;
  if (!reference) return EXPECTED;
  if (dependsOn.some((name) => shortName(team, name) === shortName(team, reference.task))) return undefined;
  const known = dependsOn.length === 0 ? 'it is empty' : `it has ${dependsOn.join(', ')}`;
  return `names a Task that is not in dependsOn (${known}); add ${reference.task} to dependsOn`;
}

function refusalOf({ isLiteral }: Piece, place: Place | undefined): string | undefined {
  if (isLiteral || typeof place !== 'object') return undefined;
  return `${place.refusal}; put it into env, as in NAME: "{{...}}", and write "$NAME" in the command`;
}

function toProblem(segments: Segments, { text }: Piece, why: string): FieldProblem {
  return { path: pathOf(segments), segments, kind: 'Invalid', message: `Invalid value: ${JSON.stringify(text)}: ${why}` };
}

function pathOf(segments: Segments): string {
  return segments.reduce<string>(
    (path, part) => (typeof part === 'number' ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`),
    '',
  );
}

type ReadValue = (reference: Omit<Reference, 'segments'>) => string;

function fill(text: string, read: ReadValue): string {
  return text.replaceAll(PIECE, (whole) => {
    const [piece] = piecesOf(whole);
    if (piece?.isLiteral) return '{{';
    return piece?.reference ? read(piece.reference) : whole;
  });
}

function fillCommand(command: string, read: ReadValue): { readonly text: string; readonly env: Readonly<Record<string, string>> } {
  const pieces = piecesOf(command);
  const places = shellPlaces(command, pieces);
  const names = new Map<string, string>();
  const env: Record<string, string> = {};
  let text = '';
  let at = 0;
  for (const [index, piece] of pieces.entries()) {
    text += command.slice(at, piece.start) + filled(piece, places[index]);
    at = piece.end;
  }
  return { text: text + command.slice(at), env };

  function filled(piece: Piece, place: Place | undefined): string {
    const { reference, isLiteral } = piece;
    if (isLiteral) return '{{';
    if (!reference || place === undefined) return piece.text;
    const refusal = refusalOf(piece, place);
    if (refusal !== undefined) throw new AgentisoError('Invalid', `${piece.text} ${refusal}`, { reason: 'BadReference' });
    return quoted(variableOf(reference), place);
  }

  /** One for each value, however often it is used. */
  function variableOf(reference: Omit<Reference, 'segments'>): string {
    const key = `${reference.task} ${reference.field}`;
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = `AGENTISO_REF_${names.size}`;
    names.set(key, name);
    env[name] = checkVariable(name, read(reference));
    return name;
  }
}

/** In single quotes nothing is expanded: they end before it and begin again behind it. */
function quoted(name: string, place: Place): string {
  const expansion = `\${${name}}`;
  if (place === 'bare') return `"${expansion}"`;
  return place === 'single' ? `'"${expansion}"'` : expansion;
}

function readValue({ task: name, field }: Omit<Reference, 'segments'>, team: string, dependencies: readonly Task[]): string {
  const named = (fullName: string) => dependencies.find(({ metadata }) => metadata.name === fullName);
  const task = named(name) ?? named(`${team}-${name}`);
  const result = task?.status?.result;
  const value = result?.[field];
  if (result === undefined || value === undefined) {
    const why = field === 'commit' && result ? 'nothing was committed in its workspace' : 'it has no result';
    throw new AgentisoError('Invalid', `task ${name} has no ${field} to refer to: ${why}`, { reason: 'MissingInput' });
  }
  if ((field === 'stdout' || field === 'stderr') && isCut(result, field)) {
    throw new AgentisoError('TooLarge', `${field} of task ${name} is too large to refer to: only its beginning and end are in the Task`, {
      hint: `agentiso output ${task?.metadata.name ?? name} prints all of it; let the task write a file instead, or print less`,
    });
  }
  return String(value);
}

/** The whole output is kept beside the Task for exactly those streams that were cut. Where nothing is kept, either may have been. */
function isCut({ truncated, artifacts = [] }: NonNullable<NonNullable<Task['status']>['result']>, field: 'stdout' | 'stderr'): boolean {
  if (!truncated) return false;
  return artifacts.length === 0 || artifacts.some(({ name }) => name === `${field}.log`);
}

function checkVariable(name: string, value: string): string {
  if (value.includes('\0')) {
    throw new AgentisoError('Invalid', `the value for environment variable ${name} has a zero byte, which no variable can hold`, {
      reason: 'BadInput',
    });
  }
  const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  if (bytes <= MAX_VARIABLE_BYTES) return value;
  throw new AgentisoError('TooLarge', `environment variable ${name} would have ${bytes} bytes; at most ${MAX_VARIABLE_BYTES} are possible`);
}
