/** Real coding agents in a real daemon's sandboxes, with a scripted model behind the daemon's way to providers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Task } from '#api/types.ts';
import { backendNamed, installableBackends } from '#backends/all-backends.ts';
import type { BackendName } from '#backends/backend.ts';
import { installBackend } from '#backends/install.ts';
import { toolsHere } from '../../src/daemon/attempts/open-backends.ts';
import { AgentsHome } from './agents-home.ts';
import { type ScriptedModel, type ScriptedModelOptions, startScriptedModel } from './scripted-model/scripted-model.ts';

/** What the daemon has and no workspace may ever see. */
export const SECRET_KEY = 'sk-test-b1f0c2d4e6a8-this-is-the-secret';
export const MODEL = 'scripted-model';
/** Six hundred megabytes of agent, and some room. */
const MEMORY_MIB = 2_048;
const TASK = { timeout: 150_000, interval: 200 };

export const tools = toolsHere(process.env);

/** AGENTISO_TEST_BACKENDS names those to try; all of them when it is absent. */
export const testedBackends: readonly BackendName[] = (() => {
  const all = installableBackends.map(({ name }) => name);
  const wanted = process.env['AGENTISO_TEST_BACKENDS']?.split(',') ?? all;
  const unknown = wanted.filter((name) => !all.includes(name as BackendName));
  if (unknown.length > 0) throw new Error(`AGENTISO_TEST_BACKENDS names ${unknown.join(', ')}; there are ${all.join(', ')}`);
  return all.filter((name) => wanted.includes(name));
})();

export async function installAgents(names: readonly BackendName[]): Promise<void> {
  for (const name of names) {
    await installBackend(backendNamed(name), { tools, environment: process.env, signal: new AbortController().signal });
  }
}

export function roleOf(name: string, backend: BackendName): object {
  return { name, backend, model: MODEL, resources: { memoryMiB: MEMORY_MIB } };
}

export class CodingAgents {
  readonly at = new AgentsHome();
  readonly #env: NodeJS.ProcessEnv;
  #model: ScriptedModel | undefined;

  /** `env`: what the daemon gets beside the tools. */
  constructor(env: NodeJS.ProcessEnv = {}) {
    this.#env = env;
  }

  get model(): ScriptedModel {
    if (this.#model === undefined) throw new Error('no model runs');
    return this.#model;
  }

  async start(options: ScriptedModelOptions = {}): Promise<void> {
    this.#model = await startScriptedModel({ keys: [SECRET_KEY], ...options });
    mkdirSync(this.at.home, { recursive: true });
    const providers = ['anthropic', 'openai', 'gemini'].map((name) => [name, { apiKey: SECRET_KEY, baseUrl: this.model.url }]);
    writeFileSync(join(this.at.home, 'credentials.yaml'), JSON.stringify({ providers: Object.fromEntries(providers) }), { mode: 0o600 });
    await this.startDaemon();
  }

  startDaemon(args: readonly string[] = []): Promise<void> {
    return this.at.start(args, { AGENTISO_TOOLS: tools, ...this.#env });
  }

  /** Waits longer than others do: some agents take ten seconds to start. */
  ended(name: string, phase = 'Succeeded', wait = TASK): Promise<Task> {
    return vi.waitFor(async () => {
      const task = await this.at.task(name);
      if (task.status?.phase !== phase) throw new Error(`${name}: ${JSON.stringify(task.status)}`);
      return task;
    }, wait);
  }

  async close(stderr: unknown = ''): Promise<void> {
    await this.at.close(stderr);
    await this.#model?.close();
  }
}
