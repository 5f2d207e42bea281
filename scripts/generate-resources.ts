/** Writes src/api/generated/resources.ts: what the daemon serves, for commands that need not ask it. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupVersions } from '../src/server/documents/groups.ts';
import type { Resource } from '../src/server/resources.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'src/api/generated/resources.ts');

function served({ group, version, plural, singular, kind, shortNames, categories, isNamespaced, verbs, subresources }: Resource) {
  const names = subresources.map(({ name }) => name);
  return { group, version, plural, singular, kind, shortNames, categories, isNamespaced, verbs: [...verbs].sort(), subresources: names };
}

const resources = groupVersions.flatMap((one) => one.resources.map(served));
writeFileSync(
  target,
  `// Generated from src/server/resources.ts by \`npm run generate\`. Do not edit.
import type { ServedResource } from '../served-resource.ts';

export const servedResources: readonly ServedResource[] = ${JSON.stringify(resources, null, 2)};
`,
);
execFileSync('npx', ['biome', 'format', '--write', target], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
