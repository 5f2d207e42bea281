/** The lines of a body that arrives in pieces: whole, wherever the pieces are cut, without empty ones. */

export async function* bodyLines(pieces: AsyncIterable<string>, signal: AbortSignal | undefined): AsyncIterable<string> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (signal?.aborted) return;
      if (line !== '') yield line;
    }
  }
  if (rest !== '' && !signal?.aborted) yield rest;
}
