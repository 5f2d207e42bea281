/** Which backend an agent gets: the one it asks for if that is installed, or else its fallback. Never another one. */

import { basename } from 'node:path';
import { type KnownModels, whyUnknownModel } from '#api/known-models.ts';
import type { Agent } from '#api/types.ts';
import { backendNamed } from '#backends/all-backends.ts';
import type { BackendName } from '#backends/backend.ts';
import { findInstalled } from '#backends/installed.ts';
import { folderOf } from '#backends/tool-places.ts';
import { StalledError } from '#lib/errors.ts';

export interface ChosenBackend {
  readonly backend: BackendName;
  /** The directory it is in; absent for the shell. */
  readonly tools?: string;
  /** Its folder there. */
  readonly toolFolder?: string;
}

/** Throws StalledError when neither is there, or when it has no model or cannot be held to the agent's rules. */
export async function chooseBackend({ spec }: Agent, tools: string | undefined): Promise<ChosenBackend> {
  const wanted = [spec.backend, spec.fallback].filter((name) => name !== undefined && name !== null) as BackendName[];
  const problems: string[] = [];
  for (const name of wanted) {
    if (name === 'shell') return { backend: name };
    const problem = tools === undefined ? 'this daemon has no tool directory' : await whyMissing(name, tools);
    if (problem === undefined && tools !== undefined) return ready(name, spec, tools);
    problems.push(`${name}: ${problem}`);
  }
  const hint = backendNamed(spec.backend).packages.length > 0 ? `agentiso backends install ${spec.backend}` : 'agentiso backends';
  throw new StalledError('BackendMissing', `${problems.join('; ')}; this helps: ${hint}`, { hint });
}

async function whyMissing(name: BackendName, tools: string): Promise<string | undefined> {
  const found = await findInstalled(tools, backendNamed(name));
  return 'missing' in found ? found.missing : undefined;
}

function ready(name: BackendName, { model, permissions }: Agent['spec'], tools: string): ChosenBackend {
  const backend = backendNamed(name);
  if (backend.model?.mustBeNamed && !model) {
    throw new StalledError('ModelMissing', `the backend ${name} has no model of its own choice: set model`);
  }
  // Rules that nobody keeps would be a promise broken in silence.
  if (permissions !== undefined && backend.acp?.canAsk === false) {
    throw new StalledError(
      'PermissionsUnsupported',
      `the backend ${name} does not ask before it acts: remove permissions, or take another backend`,
    );
  }
  // What people put there themselves has no release.
  return { backend: name, tools, toolFolder: backend.packages.length === 0 ? name : basename(folderOf(tools, backend)) };
}

/** Throws StalledError for a model that the provider of the backend does not have, where that is known: no other is taken in silence. */
export function refuseUnknownModel({ spec }: Agent, { backend }: ChosenBackend, models: KnownModels): void {
  const why = whyUnknownModel({ ...spec, backend }, models);
  if (why !== undefined) throw new StalledError('ModelUnknown', `model ${why}`);
}
