/** The order of a list that was merged: what the patch names as the patch has it, the rest where it was, as far as both can be. Pure. */

export interface Ordering {
  /** What is in the list, without doubles. */
  readonly all: readonly unknown[];
  /** The order that the patch asks for. */
  readonly asked: readonly unknown[];
  /** The order in which the list was. */
  readonly before: readonly unknown[];
}

/** Items that the patch does not name go before the first named one that they stood before, after the one of them that went before. */
export function inOrder({ all, asked, before }: Ordering): unknown[] {
  const present = new Set(all);
  const named = new Set(asked.filter((item) => present.has(item)));
  const result = [...named];
  let from = 0;
  for (const item of all) {
    if (named.has(item)) continue;
    const place = before.indexOf(item);
    while (from < result.length && (place < 0 || place >= before.indexOf(result[from]))) from++;
    result.splice(from, 0, item);
    from++;
  }
  return result;
}
