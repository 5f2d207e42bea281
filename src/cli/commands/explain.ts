/** `agentiso explain`: what the fields of a kind mean. */

import { type ApiResource, apiVersionOf, type Discovery } from '#client/discovery.ts';
import { loadSchema } from '#client/openapi.ts';
import { InvalidError, isCode } from '#lib/errors.ts';
import { apiCommand, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { explainText } from '../print/explain.ts';

export const explainCommand = apiCommand({
  name: 'explain',
  args: '<field>',
  summary: 'say what the fields of a kind mean: TYPE, TYPE.FIELD.FIELD',
  description: 'Shows the documentation of a kind or of one of its fields, as the server describes it.',
  options: [
    { flags: '--recursive', description: 'the names of all fields below it, without their descriptions' },
    { flags: '--api-version <version>', description: 'of this version: group/version' },
  ],
  async run([word = ''], options, { connection, discovery, out }) {
    const { resource, path } = split(await discovery(), word, text(options['apiVersion']));
    const { schema, document } = await loadSchema(connection, resource);
    const { group, version, kind } = resource;
    out(explainText({ group, version, kind, schema, document, path, isRecursive: options['recursive'] === true }));
    return EXIT.ok;
  },
});

interface Asked {
  readonly resource: ApiResource;
  readonly path: readonly string[];
}

/** `teams.agentiso.dev.spec` and `teams.spec` both have dots: the longest beginning that is a resource is the resource. */
function split(discovery: Discovery, word: string, apiVersion: string | undefined): Asked {
  const parts = word.split('.').filter((part) => part !== '');
  for (let length = parts.length; length > 0; length--) {
    const found = tryFind(discovery, parts.slice(0, length).join('.'));
    if (found) return { resource: inVersion(discovery, found, apiVersion), path: parts.slice(length) };
  }
  return { resource: discovery.find(parts[0] ?? ''), path: parts.slice(1) };
}

function tryFind(discovery: Discovery, word: string): ApiResource | undefined {
  try {
    return discovery.find(word);
  } catch (error) {
    if (isCode(error, 'NotFound')) return undefined;
    throw error;
  }
}

function inVersion(discovery: Discovery, resource: ApiResource, apiVersion: string | undefined): ApiResource {
  if (apiVersion === undefined || apiVersionOf(resource) === apiVersion) return resource;
  const other = discovery.ofKind(apiVersion, resource.kind);
  if (!other) throw new InvalidError(`couldn't find resource for "${apiVersion}, Kind=${resource.kind}"`);
  return other;
}
