/** `agentiso://teams/{team}/agents/{agent}/logs`: the newest lines of an agent's log. */
import type { Agent } from '#api/types.ts';
import { resourcePath, send } from '#client/resource-api.ts';
import { isCode, UnavailableError } from '#lib/errors.ts';
import type { Asking, Resource } from '../resource.ts';
import type { UriValues } from '../uri-template.ts';
import { named, type Source, together } from './changes.ts';
import { completeName } from './complete.ts';
import { findMember } from './find.ts';
import { namespaceOf, shortNameOf, teamTemplate, uriIn } from './place.ts';
import { plainText } from './quoted.ts';

const NEWEST_LINES = 200;
const PODS = { group: '', version: 'v1', plural: 'pods', isNamespaced: true } as const;

const uriTemplate = teamTemplate('/agents/{agent}/logs');
const mimeType = 'text/plain';

export const agentLogsResource: Resource = {
  uriTemplate,
  name: 'agent-logs',
  title: 'Log of an agent',
  description: `The newest ${NEWEST_LINES} lines that an agent has written, also those of earlier runs. The tool workspace_logs gives more.`,
  mimeType,
  async list({ client }) {
    const { items } = await client.list<Agent>('Agent');
    return items.map((agent) => {
      const { team } = agent.spec;
      const values = { team, agent: shortNameOf(agent) };
      const uri = uriIn(uriTemplate, agent.metadata.namespace, values);
      return { uri, name: `${team}/${values.agent}/logs`, title: `Log of agent ${values.agent} of team ${team}`, mimeType };
    });
  },
  async read(values, asking) {
    const response = await openLog(await agentAt(values, asking), asking, { tailLines: NEWEST_LINES });
    return plainText((await response.text()) || 'It has written nothing yet.\n');
  },
  async *changes(values, asking) {
    yield* together([newLines(await agentAt(values, asking))], asking);
  },
  complete: completeName,
};

function agentAt(values: UriValues, asking: Asking): Promise<Agent> {
  const { team = '', agent: name = '' } = values;
  return findMember<Agent>(asking, { kind: 'Agent', namespace: namespaceOf(values), team, name });
}

/** Ends with the run of the agent, and begins again when the Agent has changed: a log that breaks off does not say why. */
function newLines(agent: Agent): Source {
  const { namespace, name } = agent.metadata;
  return async function* (asking) {
    let isFirst = true;
    for await (const _change of named('Agent', namespace, name)(asking)) {
      let hasBegun = false;
      for await (const _lines of followLog(agent, asking)) {
        hasBegun = true;
        yield;
      }
      if (isFirst && !hasBegun) yield;
      isFirst = false;
    }
  };
}

async function* followLog(agent: Agent, asking: Asking): AsyncGenerator<void> {
  try {
    const response = await openLog(agent, asking, { tailLines: 0, follow: true });
    yield;
    for await (const _chunk of response.chunks()) yield;
  } catch (error) {
    if (!isCode(error, 'Unavailable') && !isCode(error, 'NotFound')) throw error;
  }
}

async function openLog(agent: Agent, { connection, signal }: Asking, query: { tailLines: number; follow?: boolean }) {
  const { namespace, name } = agent.metadata;
  const path = resourcePath(PODS, { namespace, name, subresource: 'log', query });
  try {
    return await send(connection, { method: 'GET', path, signal });
  } catch (error) {
    // A kubelet has no other word for a pod that does not run.
    if (!isCode(error, 'Invalid')) throw error;
    const address = uriIn(teamTemplate('/agents/{agent}'), namespace, { team: agent.spec.team, agent: shortNameOf(agent) });
    throw new UnavailableError(`the log of ${name} cannot be read: it does not run`, {
      hint: `read ${address} for the reason`,
      cause: error,
    });
  }
}
