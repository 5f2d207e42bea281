/** Like Promise.all, but nothing goes on behind the caller's back: a failure is thrown when all have come to an end. */
export async function sideBySide<T extends readonly unknown[]>(
  works: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  for (const settled of await Promise.allSettled(works)) if (settled.status === 'rejected') throw settled.reason;
  return Promise.all(works);
}
