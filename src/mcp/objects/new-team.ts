/** The Team that team_create is asked for: from its fields, or from a manifest. Pure. */
import { parseManifest } from '#api/manifest.ts';
import { API_VERSION } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import { isObject, type JsonObject } from '#lib/json.ts';
import { manifestRefusal } from './refusal.ts';

export interface NewTeam {
  readonly name?: string;
  readonly roles?: readonly JsonObject[];
  readonly manifest?: string;
  readonly description?: string;
  readonly repo?: string;
  readonly repo_ref?: string;
  readonly max_agents?: number;
  readonly parent?: string;
  readonly tasks?: readonly JsonObject[];
  readonly network?: JsonObject;
  readonly isolation?: JsonObject;
}

const EITHER = 'give either name and roles, or manifest with one document of kind Team; apply takes more';

/** As it is sent; the API checks it. */
export function newTeam(asked: NewTeam): JsonObject {
  if (asked.manifest !== undefined) return ofManifest(asked.manifest, asked);
  if (asked.name === undefined) throw missing('name');
  if (asked.roles === undefined) throw missing('roles');
  return { apiVersion: API_VERSION, kind: 'Team', metadata: { name: asked.name }, spec: specOf(asked) };
}

function missing(field: string): InvalidError {
  const message = `${field} is missing`;
  return new InvalidError(message, [{ path: field, segments: [field], kind: 'Required', message }], { hint: EITHER });
}

function specOf({ roles, description, repo, repo_ref, max_agents, parent, tasks, network, isolation }: NewTeam): JsonObject {
  const spec = {
    description,
    parent,
    repo: repo === undefined ? undefined : { ...repositoryOf(repo), ref: repo_ref },
    roles,
    tasks,
    budget: max_agents === undefined ? undefined : { maxAgents: max_agents },
    network,
    isolation,
  };
  // JSON leaves out what is undefined.
  return JSON.parse(JSON.stringify(spec)) as JsonObject;
}

function repositoryOf(repo: string): JsonObject {
  return repo.startsWith('/') ? { path: repo } : { url: repo };
}

function ofManifest(manifest: string, { name }: NewTeam): JsonObject {
  const { documents, problems } = parseManifest(manifest);
  if (problems.length > 0) {
    throw manifestRefusal(
      problems.map(({ line, column, message }) => `manifest:${line}:${column}: ${message}`),
      EITHER,
    );
  }
  const [only, ...others] = documents.map(({ value }) => value);
  if (only?.['kind'] !== 'Team' || others.length > 0)
    throw new InvalidError('manifest must hold one document of kind Team', [], { hint: EITHER });
  const metadata = isObject(only['metadata']) ? only['metadata'] : {};
  if (name !== undefined && metadata['name'] !== undefined && metadata['name'] !== name) {
    throw new InvalidError(`name is ${name}, but the manifest says ${metadata['name']}`, [], { hint: EITHER });
  }
  return { ...only, metadata: { name, ...metadata } };
}
