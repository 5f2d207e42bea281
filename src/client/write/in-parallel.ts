/** Work on many things, a few at a time, answers in the order of the things. */
const WIDTH = 16;

export async function inParallel<T, R>(things: readonly T[], work: (thing: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = new Array(things.length);
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < things.length; index = next++) answers[index] = await work(things[index] as T);
  };
  await Promise.all(Array.from({ length: Math.min(WIDTH, things.length) }, worker));
  return answers;
}
