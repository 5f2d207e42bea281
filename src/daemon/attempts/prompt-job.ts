/** What is sent to an agent's workspace for a prompt: its words, and by which rules the coding agent there goes. */
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { backendOf } from '#controllers/task/roster.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { PermissionRule, PromptJob } from '#protocol/prompt.ts';
import type { Vault } from '#vault/vault.ts';
import { type ConventionNote, taskPrompt } from './task-prompt.ts';

export interface PromptSources {
  readonly client: Pick<Client, 'get'>;
  /** Absent: there are no notes. */
  readonly vault?: Pick<Vault, 'search' | 'read'>;
}

/** Notes with this tag are for every prompt of the teams that can see them. */
const CONVENTIONS_TAG = 'conventions';
const MAX_NOTES = 20;
/** Where a role says nothing: the workspace is the boundary. */
const EVERYTHING: readonly PermissionRule[] = [{ action: 'allow' }];

/** `prompt`: with references filled in. */
export async function toPromptJob(task: Task, agent: Agent, prompt: string, sources: PromptSources): Promise<PromptJob> {
  const { model, provider, permissions } = agent.spec;
  const [dependencies, notes] = await Promise.all([dependenciesOf(task, sources.client), conventionsOf(task, sources.vault)]);
  return {
    backend: backendOf(agent),
    mode: task.spec.promptMode === 'OneShot' ? 'oneShot' : 'acp',
    text: taskPrompt({ task, prompt, dependencies, notes }),
    rules: permissions?.rules ?? EVERYTHING,
    ...(permissions && { askMs: permissions.askSeconds * 1_000 }),
    ...(typeof model === 'string' && { model }),
    ...(typeof provider === 'string' && { provider }),
  };
}

async function dependenciesOf({ metadata: { namespace }, spec }: Task, client: Pick<Client, 'get'>): Promise<readonly Task[]> {
  const found = (spec.dependsOn ?? []).map(async (written) => {
    // The full name first, as everywhere a Task is named.
    const named = [written, `${spec.team}-${written}`].map((name) => ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name })));
    return (await Promise.all(named)).find((task) => task?.spec.team === spec.team);
  });
  return (await Promise.all(found)).filter((task) => task !== undefined);
}

async function conventionsOf({ metadata: { namespace }, spec: { team } }: Task, vault: PromptSources['vault']): Promise<ConventionNote[]> {
  if (!vault) return [];
  const scope = { namespace, team };
  const { hits } = await vault.search(scope, { pattern: '', tag: CONVENTIONS_TAG, limit: 100 });
  const paths = [...new Set(hits.map(({ path }) => path))].sort().slice(0, MAX_NOTES);
  const notes = await Promise.all(paths.map((path) => ignoreNotFound(vault.read(scope, path))));
  return notes.flatMap((note) => (note ? [{ path: note.path, content: withoutFrontmatter(note.content) }] : []));
}

function withoutFrontmatter(content: string): string {
  return content.replace(/^---\n[\s\S]*?\n---\n/, '');
}
