/** Begins one thing after the other and gives what became of each, in their order, when the last has ended: one promise for all of them. */
export function allOf<T, R>(items: readonly T[], begin: (item: T, outcome: (result: R) => void) => void): Promise<readonly R[]> {
  return new Promise((resolve) => {
    const results = new Array<R>(items.length);
    let left = items.length;
    if (left === 0) resolve(results);
    items.forEach((item, index) => {
      begin(item, (result) => {
        results[index] = result;
        left -= 1;
        if (left === 0) resolve(results);
      });
    });
  });
}
