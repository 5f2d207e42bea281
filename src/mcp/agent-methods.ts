/** What an agent's client can ask: its tools, which its guest answers. */

import type { Logger } from '#lib/log.ts';
import { anyFields, object, text } from '#protocol/shape.ts';
import { toErrorResult } from '#protocol/tool-surface.ts';
import type { AgentCaller, AgentMode } from './agent-mode.ts';
import { refusalOf } from './call-tool.ts';
import { progressOf } from './progress.ts';
import { paramsOf } from './rpc-params.ts';
import type { Methods } from './server.ts';

const callParams = object({ name: text }, { arguments: anyFields });

export function agentMethods(
  mode: AgentMode,
  agent: AgentCaller,
  parts: { readonly log: Logger; readonly homes: readonly string[] },
): Methods {
  return {
    'tools/list': () => ({ tools: mode.tools }),
    'tools/call': async (params, extra) => {
      const { name, arguments: given = {} } = paramsOf(callParams, params);
      const progress = progressOf(extra);
      try {
        return await mode.call(agent, name, given, { signal: extra.signal, progress: progress.tell });
      } catch (error) {
        return toErrorResult(refusalOf(parts, error, name));
      } finally {
        progress.end();
      }
    },
  };
}
