/** Keys that leave a live view. A terminal in raw mode sends Ctrl-C as a key and not as a signal. */
import { rawTerminal, type StandardStreams } from '../streams/standard.ts';

/** Also Ctrl-C and Ctrl-D. */
const LEAVING = ['q', 'Q', '\u0003', '\u0004'];

/** Returns what gives the terminal back. */
export function onLeave(streams: StandardStreams, leave: () => void): () => void {
  const { stdin } = streams;
  if (!stdin.isTTY) return () => {};
  const restore = rawTerminal(streams);
  const onData = (bytes: Buffer | string) => {
    if ([...String(bytes)].some((key) => LEAVING.includes(key))) leave();
  };
  stdin.on('data', onData);
  return () => {
    stdin.off('data', onData);
    stdin.pause();
    restore();
  };
}
