/** callTool: the host calls a tool of the agent as that agent. It takes the way of every call from inside. */
import type { ControlHandler } from '#protocol/control.ts';
import type { VerbService } from '../agent-socket/verb-service.ts';

export function callToolHandler(service: () => VerbService): ControlHandler<'callTool'> {
  return async ({ name, arguments: args }, { signal, down }) => {
    // Loaded here: few guests are ever asked.
    const { callTool } = await import('../mcp/call-tool.ts');
    const onProgress = (elapsedSeconds: number) => void down.progress.write(`${JSON.stringify({ elapsedSeconds })}\n`);
    const { result, onSent } = await callTool(service(), { name, args }, { signal, onProgress });
    if (onSent !== undefined) setImmediate(() => !signal.aborted && onSent());
    return result;
  };
}
