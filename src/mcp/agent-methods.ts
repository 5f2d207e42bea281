/** What an agent's client can ask: its tools, which its guest answers. */
import { randomUUID } from 'node:crypto';
import { AgentisoError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { anyFields, object, text } from '#protocol/shape.ts';
import { toErrorResult } from '#protocol/tool-surface.ts';
import type { AgentCaller, AgentMode } from './agent-mode.ts';
import { refusalOf } from './call-tool.ts';
import { progressOf } from './progress.ts';
import { paramsOf } from './rpc-params.ts';
import type { Methods } from './server.ts';

const callParams = object({ name: text }, { arguments: anyFields });

export interface AgentMethodsParts {
  readonly log: Logger;
  readonly homes: readonly string[];
  /** The names of tools that agents may not call, unless they have one of that name themselves. */
  readonly operatorTools: ReadonlySet<string>;
}

export function agentMethods(mode: AgentMode, agent: AgentCaller, parts: AgentMethodsParts): Methods {
  const reader = randomUUID();
  const own = new Set(mode.tools.map(({ name }) => name));
  return {
    'tools/list': () => ({ tools: mode.tools }),
    'tools/call': async (params, extra) => {
      const { name, arguments: given = {} } = paramsOf(callParams, params);
      const progress = progressOf(extra);
      try {
        if (!own.has(name) && parts.operatorTools.has(name)) throw notForAgents(name, agent);
        return await mode.call(agent, name, given, { reader, signal: extra.signal, progress: progress.tell });
      } catch (error) {
        return toErrorResult(refusalOf(parts, error, name));
      } finally {
        progress.end();
      }
    },
  };
}

function notForAgents(tool: string, { namespace, team, name }: AgentCaller): AgentisoError {
  return new AgentisoError('Forbidden', `${tool} is a tool of operators; this token is of agent ${namespace}/${team}/${name}`, {
    hint: 'tools/list names yours',
  });
}
