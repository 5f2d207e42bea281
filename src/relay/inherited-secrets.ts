/** What an agent may give to a team that it makes: of the host's variables and of the providers only those that its own team has. Pure. */
import { providerOf } from '#api/agent-provider.ts';
import type { Agent, Team } from '#api/types.ts';

/** As an agent wrote it; its shape is not checked yet. */
type AskedRole = Readonly<Record<string, unknown>>;

/** Why these roles may not be, in words; undefined: they may. What is no proper role is refused by admission. */
export function excessOf(roles: readonly AskedRole[], { metadata, spec }: Team): string | undefined {
  const variables = new Set(spec.roles.flatMap(({ envFrom = [] }) => envFrom.map(({ hostEnv }) => hostEnv)));
  const providers = new Set(spec.roles.flatMap((role) => [role.backend, role.fallback].map((backend) => providerWith(role, backend))));
  for (const role of roles) {
    const variable = variablesOf(role).find((name) => !variables.has(name));
    if (variable !== undefined) return `no role of team ${metadata.name} has the variable ${variable} of the host`;
    const backends = [role['backend'] ?? 'shell', role['fallback']];
    const provider = backends.map((backend) => providerWith(role, backend)).find((name) => name !== undefined && !providers.has(name));
    if (provider !== undefined) return `no role of team ${metadata.name} uses the provider ${provider}`;
  }
  return undefined;
}

function providerWith(role: AskedRole, backend: unknown): string | undefined {
  if (typeof backend !== 'string') return undefined;
  return providerOf({ spec: { ...role, backend } } as unknown as Agent);
}

function variablesOf({ envFrom }: AskedRole): readonly string[] {
  if (!Array.isArray(envFrom)) return [];
  return envFrom.map((source: unknown) => String((source as AskedRole | null)?.['hostEnv']));
}
