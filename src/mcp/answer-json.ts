/** The answer of a tool is in its result twice, as JSON text for a model and as fields for a program. The text is made once, and used for both. */
import type { ToolResult } from '#protocol/tool-surface.ts';

/** Results whose last text is the JSON of their fields, and that have nothing else. */
const twice = new WeakSet<object>();

export function givenTwice(result: ToolResult): ToolResult {
  twice.add(result);
  return result;
}

/** The JSON of a message, whatever it is. */
export function jsonOf(message: object): string {
  const { result, id } = message as { readonly result?: ToolResult; readonly id?: unknown };
  if (result === undefined || !twice.has(result)) return JSON.stringify(message);
  const { content } = result;
  const fields = content.at(-1)?.text;
  return `{"result":{"content":${JSON.stringify(content)},"structuredContent":${fields}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}
