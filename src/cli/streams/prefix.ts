/** Text that comes in pieces, with a word before each of its lines. */

export function linePrefixer(prefix: string): (chunk: string) => string {
  if (prefix === '') return (chunk) => chunk;
  let isAtStart = true;
  return (chunk) => {
    if (chunk === '') return '';
    const text = `${isAtStart ? prefix : ''}${chunk.replace(/\n(?!$)/g, `\n${prefix}`)}`;
    isAtStart = chunk.endsWith('\n');
    return text;
  };
}
