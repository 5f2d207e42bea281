/** The process that does what Node cannot: it is started early, told line by line, and says how far it came. */
import { lazy } from '../lazy-modules.ts';
import { SET_UP_SCRIPT } from './script.ts';

export interface Helper {
  tell(lines: readonly string[]): void;
  /** Rejects with what failed. One at a time. */
  said(word: string): Promise<void>;
  /** It may go, when nobody is in a hurry any more. */
  end(): void;
}

const SET_UP_MS = 50_000;
/** The end of a process takes the processor from whoever has just been told that all is done. */
const LINGER_MS = 2_000;

export function startHelper(path: string): Helper {
  const child = lazy.childProcess.spawn('perl', ['-e', SET_UP_SCRIPT], { env: { PATH: path }, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  let unfinished = '';
  let onLine = (): void => {};
  const take = (...taken: readonly string[]) => {
    lines.push(...taken);
    onLine();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const [last = '', ...before] = (unfinished + text).split('\n').reverse();
    unfinished = last;
    take(...before.reverse());
  });
  child.once('error', ({ message }) => take(`failed: ${message}`));
  child.once('exit', (code) => take(`failed: its process ended with ${code}`));
  // Whoever has ended does not listen, and its end is heard.
  child.stdin.on('error', () => {});
  const said = (word: string) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer within ${SET_UP_MS} ms`)), SET_UP_MS);
      onLine = () => {
        const line = lines.shift();
        if (line === undefined) return;
        onLine = () => {};
        clearTimeout(timer);
        if (line === word) resolve();
        else reject(new Error(line.replace('failed: ', '')));
      };
      onLine();
    });
  return {
    said,
    tell: (told) => void child.stdin.write(`${told.join('\n')}\n`),
    end: () => void setTimeout(() => child.stdin.destroy(), LINGER_MS),
  };
}
