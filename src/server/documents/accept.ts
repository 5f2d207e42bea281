/** The Accept header: what the client takes, in its order. Quality values are ignored, as Kubernetes' clients sort by hand. */

export interface MediaRange {
  /** Lower case. */
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

function mediaRange(entry: string): MediaRange {
  const [type = '', ...words] = entry.split(';').map((word) => word.trim());
  const parameters = words.map((word) => {
    const [name = '', value = ''] = word.split(/=(.*)/s);
    return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')] as const;
  });
  return { type: type.toLowerCase(), parameters: Object.fromEntries(parameters) };
}

export function parseAccept(header: string | undefined): readonly MediaRange[] {
  return (header ?? '')
    .split(',')
    .filter((entry) => entry.trim() !== '')
    .map(mediaRange);
}

/** Whether an entry takes JSON in its plain form. */
export function takesJson({ type }: MediaRange): boolean {
  return type === 'application/json' || type === 'application/*' || type === '*/*';
}
