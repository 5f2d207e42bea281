/** `agentiso describe`: everything about an object, with what it owns and what happened to it. */
import type { ApiResource } from '#client/discovery.ts';
import { type ApiObject, listObjects } from '#client/resource-api.ts';
import { isNotFound } from '#client/status-error.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { lastMessages } from '../messages/last.ts';
import { describeObject } from '../print/describe.ts';
import { settle, tellFailures } from '../read/failures.ts';
import { fetchObjects, nothingFound, type Selection } from '../read/fetch.ts';
import { eventsOf, ownership } from '../read/related.ts';
import { resolveArguments, type Wanted } from '../resolve.ts';
import { UsageError } from '../usage-error.ts';

export const describeCommand = apiCommand({
  name: 'describe',
  args: '<type> [names...]',
  summary: 'show an object with its events and what it owns',
  description: 'Shows objects in detail: TYPE, TYPE NAME, TYPE NAME-PREFIX or TYPE/NAME.',
  options: [
    { flags: '-l, --selector <labels>', description: 'only objects with these labels' },
    { flags: '-A, --all-namespaces', description: 'of all namespaces' },
    { flags: '--show-events', description: 'with events; --show-events=false leaves them out' },
  ],
  async run(args, options, session) {
    const { resources } = await session.discovery();
    const wanted = resolveArguments(await session.discovery(), args);
    const selection = { isAllNamespaces: options['allNamespaces'] === true, labelSelector: text(options['selector']) };
    if (selection.isAllNamespaces && wanted.some(({ name }) => name !== undefined)) {
      throw new UsageError('a resource cannot be retrieved by name across all namespaces');
    }
    const { values, failures } = await settle(wanted.map((each) => find(session, each, selection)));
    const found = values.flat();
    const ownedBy = ownership(session, resources);
    const withEvents = options['showEvents'] !== false;
    const described = await Promise.all(
      found.map(async ({ object, resource }) => {
        const [events, owned, more] = await Promise.all([
          withEvents ? eventsOf(session, object) : undefined,
          ownedBy(object, resource),
          lastMessages(session, object),
        ]);
        return describeObject({ object, events, owned, more, now: new Date() });
      }),
    );
    session.out(described.join('\n\n'));
    if (found.length === 0 && failures.length === 0) session.err(nothingFound(wanted, selection, session));
    tellFailures(failures, session);
    return failures.length === 0 ? EXIT.ok : EXIT.failure;
  },
});

interface Found {
  readonly object: ApiObject;
  readonly resource: ApiResource;
}

/** A name that is nobody's may be the beginning of some. */
async function find(session: Session, wanted: Wanted, selection: Selection): Promise<readonly Found[]> {
  const { resource, name = '' } = wanted;
  try {
    const { objects } = await fetchObjects(session, wanted, selection);
    return objects.map((object) => ({ object, resource }));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const location = resource.isNamespaced ? { namespace: session.namespace } : {};
    const { items } = await listObjects(session.connection, { resource, location, signal: session.signal });
    const beginning = items.filter(({ metadata }) => metadata.name?.startsWith(name));
    if (beginning.length === 0) throw error;
    return beginning.map((object) => ({ object, resource }));
  }
}
