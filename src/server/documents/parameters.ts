/** The parameters of requests, by what is asked for. */

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: 'string' | 'boolean' | 'integer';
  readonly description: string;
}

/** `x-kubernetes-action` of an operation. */
export type Action = 'list' | 'post' | 'deletecollection' | 'get' | 'put' | 'delete' | 'patch';

function query(name: string, description: string, type: Parameter['type'] = 'string'): Parameter {
  return { name, in: 'query', type, description };
}

const DRY_RUN = query('dryRun', 'With "All" the request is checked and answered in full, but nothing is stored.');
const FIELD_MANAGER = query('fieldManager', 'Name under which the changed fields are recorded; at most 128 printable characters.');
const FIELD_VALIDATION = query(
  'fieldValidation',
  'What to do about unknown and duplicate fields: "Ignore" drops them, "Warn" (the default) drops them and warns, "Strict" refuses the request.',
);
const FORCE = query('force', 'For apply only: takes over fields that other managers own.', 'boolean');
const RESOURCE_VERSION = query('resourceVersion', 'Bounds which version of the data may answer the request.');

const LIST: readonly Parameter[] = [
  query('allowWatchBookmarks', 'Allows events of type BOOKMARK in a watch.', 'boolean'),
  query('continue', 'Token from the previous page of a list.'),
  query('fieldSelector', 'Selects objects by their fields. Default: all.'),
  query('labelSelector', 'Selects objects by their labels. Default: all.'),
  query('limit', 'Most items on one page of a list. Default: all.', 'integer'),
  RESOURCE_VERSION,
  query('resourceVersionMatch', 'How resourceVersion is meant: "Exact" or "NotOlderThan".'),
  query('sendInitialEvents', 'Starts a watch with the present objects and a bookmark at their end.', 'boolean'),
  query('timeoutSeconds', 'Ends a watch after so many seconds.', 'integer'),
  query('watch', 'Answers with a stream of changes instead of a list.', 'boolean'),
];
const DELETE: readonly Parameter[] = [
  DRY_RUN,
  query('gracePeriodSeconds', 'Seconds the object has to end by itself.', 'integer'),
  query('orphanDependents', 'Deprecated: use propagationPolicy.', 'boolean'),
  query('propagationPolicy', 'What becomes of dependents: "Background" (the default), "Foreground" or "Orphan".'),
];
const WRITE = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];

export const actionParameters: Readonly<Record<Action, readonly Parameter[]>> = {
  list: LIST,
  post: WRITE,
  deletecollection: [...LIST, ...DELETE].sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name)),
  get: [RESOURCE_VERSION],
  put: WRITE,
  delete: DELETE,
  patch: [...WRITE, FORCE],
};

const PRETTY = query('pretty', 'If "true", the answer is indented for people.');

/** What every operation on a path takes: the words of the path itself, and `pretty`. */
export function pathParameters(path: string, kind: string): readonly Parameter[] {
  const word = (name: string, description: string): readonly Parameter[] =>
    path.includes(`{${name}}`) ? [{ name, in: 'path', type: 'string', description }] : [];
  return [...word('name', `name of the ${kind}`), ...word('namespace', 'namespace of the object'), PRETTY];
}
