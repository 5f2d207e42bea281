/** Lines on stdout for whoever may kill this process at any moment. */
import { writeSync } from 'node:fs';

const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Said when it returns, also to a listener that is slow: a step must not happen before the one before it was told. */
export function sayLine(line: object): void {
  const data = Buffer.from(`${JSON.stringify(line)}\n`);
  for (let done = 0; done < data.length; ) {
    try {
      done += writeSync(1, data, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(nothing, 0, 0, 1);
    }
  }
}
