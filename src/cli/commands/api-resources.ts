/** `agentiso api-resources`: what the server serves. */

import { type ApiResource, apiVersionOf, qualifiedPlural } from '#client/discovery.ts';
import { loadDiscovery } from '#client/discovery-load.ts';
import { apiCommand, text } from '../api-command.ts';
import { EXIT, type OptionValues } from '../command.ts';
import { alignLines, TABLE_STYLE } from '../print/align.ts';

export const apiResourcesCommand = apiCommand({
  name: 'api-resources',
  summary: 'list the types of objects the server knows',
  options: [
    { flags: '-o, --output <format>', description: 'wide or name', choices: ['wide', 'name'] },
    { flags: '--api-group <group>', description: 'only of this group' },
    { flags: '--namespaced', description: 'only what belongs to a namespace; --namespaced=false: only what does not' },
    { flags: '--verbs <verbs>', description: 'only what supports all of these' },
    { flags: '--categories <names>', description: 'only what is in all of these' },
    { flags: '--sort-by <field>', description: 'name or kind', choices: ['name', 'kind'] },
    { flags: '--no-headers', description: 'without the line of headers' },
  ],
  async run(_args, options, { out, connection }) {
    // What is asked for is the server's own word.
    const { resources } = await loadDiscovery(connection);
    const shown = resources.filter((each) => isWanted(each, options)).sort(orderOf(text(options['sortBy'])));
    if (options['output'] === 'name') out(shown.map((each) => `${qualifiedPlural(each)}\n`).join(''));
    else out(alignLines(linesOf(shown, options), TABLE_STYLE));
    return EXIT.ok;
  },
});

function isWanted({ group, isNamespaced, verbs, categories, isPreferred }: ApiResource, options: OptionValues): boolean {
  const namespaced = options['namespaced'];
  return (
    isPreferred &&
    verbs.length > 0 &&
    (options['apiGroup'] === undefined || options['apiGroup'] === group) &&
    (namespaced === undefined || namespaced === isNamespaced) &&
    words(options['verbs']).every((verb) => verbs.includes(verb)) &&
    words(options['categories']).every((category) => categories.includes(category))
  );
}

function words(value: OptionValues[string]): string[] {
  return typeof value === 'string' ? value.split(',') : [];
}

function orderOf(field: string | undefined): (a: ApiResource, b: ApiResource) => number {
  const keyOf = (each: ApiResource) => {
    if (field === 'name') return [each.plural];
    return field === 'kind' ? [each.kind] : [each.group, each.plural];
  };
  return (a, b) => (keyOf(a).join('\0') < keyOf(b).join('\0') ? -1 : 1);
}

function linesOf(resources: readonly ApiResource[], options: OptionValues): string[][] {
  const isWide = options['output'] === 'wide';
  const headers = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', ...(isWide ? ['VERBS', 'CATEGORIES'] : [])];
  const rows = resources.map((each) => [
    each.plural,
    each.shortNames.join(','),
    apiVersionOf(each),
    String(each.isNamespaced),
    each.kind,
    ...(isWide ? [each.verbs.join(','), each.categories.join(',')] : []),
  ]);
  return options['headers'] === false ? rows : [headers, ...rows];
}
