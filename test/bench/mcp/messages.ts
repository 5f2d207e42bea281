/** What clients say in the benchmarks of MCP, as lines. Pure. */

export const INITIALIZE = line({
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
});

export const INITIALIZED = line({ method: 'notifications/initialized' });

/** One call that is made over and over, and the text that its answer must hold. */
export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
  readonly expected: string;
}

export function echo(message: string): Call {
  return { name: 'echo', arguments: { message }, expected: `"text":${JSON.stringify(message)}` };
}

export function readTask(name: string): Call {
  return { name: 'get', arguments: { kind: 'Task', name }, expected: `"name":"${name}"` };
}

export function toLine({ name, arguments: args }: Call, id: number): string {
  return line({ id, method: 'tools/call', params: { name, arguments: args } });
}

/** Empty when the answer is right. */
export function problemOf({ expected }: Call, id: number, answer: string): string {
  const isRight = answer.includes(expected) && answer.includes(`"id":${id}`) && !answer.includes('"isError":true');
  return isRight ? '' : `another answer to call ${id}: ${answer.slice(0, 300)}`;
}

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
}
