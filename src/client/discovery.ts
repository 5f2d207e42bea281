/** What a server serves, and which of it a person means by `tm`, `Team` or `teams.agentiso.dev`. */
import { NotFoundError } from '#lib/errors.ts';
import { nearest } from '#lib/suggest.ts';
import type { ResourceName } from './resource-api.ts';

export interface ApiResource extends ResourceName {
  readonly kind: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** In the version the server prefers for it. Other versions are found only when named. */
  readonly isPreferred: boolean;
}

export interface Discovery {
  /** Core first, then in the server's order. */
  readonly resources: readonly ApiResource[];
  /** Throws NotFoundError with the nearest word when there is no such resource. */
  find(word: string): ApiResource;
  /** As `find`, but a category stands for all that can be listed in it. */
  findAll(word: string): readonly ApiResource[];
  /** The resource of an object, by its own words. */
  ofKind(apiVersion: string, kind: string): ApiResource | undefined;
}

export function discoveryOf(resources: readonly ApiResource[]): Discovery {
  const find = (word: string) => {
    const found = match(resources, word);
    if (!found) throw unknownResource(word, resources);
    return found;
  };
  return {
    resources,
    find,
    findAll(word) {
      const inCategory = resources.filter(({ isPreferred, categories }) => isPreferred && categories.includes(word));
      const listable = inCategory.filter(({ verbs }) => verbs.includes('list'));
      return listable.length > 0 && !match(resources, word) ? listable : [find(word)];
    },
    ofKind: (apiVersion, kind) => resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion),
  };
}

export function apiVersionOf({ group, version }: Pick<ResourceName, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `teams.agentiso.dev`, `namespaces`: a resource in messages. */
export function qualifiedPlural({ plural, group }: Pick<ResourceName, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** `team.agentiso.dev`, `namespace`: before the name of an object. */
export function qualifiedSingular({ singular, group }: Pick<ApiResource, 'singular' | 'group'>): string {
  return group === '' ? singular : `${singular}.${group}`;
}

function match(resources: readonly ApiResource[], word: string): ApiResource | undefined {
  const lower = word.toLowerCase();
  const [name = '', ...rest] = lower.split('.');
  const suffix = rest.join('.');
  const byName = (each: ApiResource) => [each.plural, each.singular, each.kind.toLowerCase()].includes(name);
  const byShortName = (each: ApiResource) => each.shortNames.includes(name);
  const isIn = ({ group, version, isPreferred }: ApiResource) => {
    if (suffix === '') return isPreferred;
    return (isPreferred && suffix === group) || suffix === (group === '' ? version : `${version}.${group}`);
  };
  const inGroup = resources.filter(isIn);
  return inGroup.find(byName) ?? inGroup.find(byShortName);
}

function unknownResource(word: string, resources: readonly ApiResource[]): NotFoundError {
  const isQualified = word.includes('.');
  const words = resources.flatMap((each) => {
    if (isQualified) return [qualifiedPlural(each), qualifiedSingular(each)];
    return [each.plural, each.singular, ...each.shortNames.filter(({ length }) => length > 2), ...each.categories];
  });
  const meant = nearest(word, words);
  return new NotFoundError(`the server doesn't have a resource type "${word}"${meant ? `; did you mean ${meant}?` : ''}`);
}
