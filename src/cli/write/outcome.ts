/** What a command says about an object it has written, in kubectl's words. */
import { type ApiResource, qualifiedSingular } from '#client/discovery.ts';
import type { DryRun } from '#client/write/requests.ts';

type Named = Pick<ApiResource, 'kind' | 'singular' | 'plural' | 'group'>;

/** `team.agentiso.dev/x` */
export function objectName(resource: Named, name: string): string {
  return `${qualifiedName(resource)}/${name}`;
}

/** `team.agentiso.dev` */
export function qualifiedName(resource: Named): string {
  return qualifiedSingular(resource);
}

export function dryRunSuffix(dryRun: DryRun): string {
  return { none: '', client: ' (dry run)', server: ' (server dry run)' }[dryRun];
}

export function timedOut({ resource, name }: { resource: Named; name: string }): string {
  return `error: timed out waiting for the condition on ${resource.plural}/${name}\n`;
}
