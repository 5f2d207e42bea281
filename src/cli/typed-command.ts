/** Advice names this program. Where `agentiso` is not what people type, it names what they typed: what it says can then be done as it stands. Pure. */

/** Commands of ours behind the word; `the agentiso daemon` and paths that end in the name are left alone. */
export function asTyped(text: string, command: string | undefined, names: readonly string[]): string {
  if (command === undefined || !text.includes('agentiso ')) return text;
  return text.replace(/(?<![\w./-])agentiso (?=([a-z-]+))/g, (found, name: string) => (names.includes(name) ? `${command} ` : found));
}
