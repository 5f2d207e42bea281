/** A change of what a followed directory declares does not last: the directory takes it back. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Advice } from './finding.ts';
import type { View } from './view.ts';

/** How a directory of `serve --watch` calls itself as a manager of fields. */
const DIRECTORY = /^dir:(.+)-[0-9a-f]+$/;
const CHANGES = /^agentiso (?:patch|edit) (\w+) (\S+)/;

/** Says so where the command would change such an object. */
export function mindDirectories(advice: Advice | undefined, view: View): Advice | undefined {
  const [, kind, name] = CHANGES.exec(advice?.command ?? '') ?? [];
  const target = view.objects.find((object) => object.kind.toLowerCase() === kind && object.metadata.name === name);
  const directory = target && directoryOf(target);
  if (!advice || directory === undefined) return advice;
  return {
    ...advice,
    text: `${advice.text.replace(/:$/, '')} (in its file: the directory ${directory} would take this back)${advice.text.endsWith(':') ? ':' : ''}`,
  };
}

function directoryOf({ metadata }: KindObject): string | undefined {
  const managers = (metadata.managedFields ?? []).map(({ manager }) => DIRECTORY.exec(manager)?.[1]);
  return managers.find((name) => name !== undefined);
}
