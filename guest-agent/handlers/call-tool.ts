/** callTool: the host calls a tool of the agent as that agent. It takes the way of every call from inside. */
import type { ControlHandler } from '#protocol/control.ts';
import { unseenReader } from '../agent-socket/readers.ts';
import type { VerbService } from '../agent-socket/verb-service.ts';

export function callToolHandler(service: () => VerbService): ControlHandler<'callTool'> {
  let calls = 0;
  return async ({ name, arguments: args, reader: word }, { signal, down }) => {
    // Loaded here: few guests are ever asked.
    const { callTool } = await import('../mcp/call-tool.ts');
    const onProgress = (elapsedSeconds: number) => void down.progress.write(`${JSON.stringify({ elapsedSeconds })}\n`);
    calls += 1;
    // A host of an earlier version does not say whose call it is: then none goes on from another.
    const reader = unseenReader(word === undefined ? `call ${calls}` : `host ${word}`);
    const { result, onSent } = await callTool(service(), { name, args }, { reader, signal, onProgress });
    if (onSent !== undefined) setImmediate(() => !signal.aborted && onSent());
    return result;
  };
}
