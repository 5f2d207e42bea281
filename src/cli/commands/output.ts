/** `agentiso output`: everything that a task has printed, also what its Task object has only the beginning and the end of. */
import { written } from '#lib/drained.ts';
import { apiCommand, type Session, text } from '../api-command.ts';
import { EXIT } from '../command.ts';
import { MAX_KEPT_BYTES, taskOutput, type WantedOutput } from '../read/task-output.ts';
import { standardStreams } from '../streams/standard.ts';
import { UsageError } from '../usage-error.ts';

export const outputCommand = apiCommand({
  name: 'output',
  args: '<task>',
  summary: 'print everything that a task has printed',
  description:
    'Prints the whole standard output of the last attempt of a task that has ended, byte by byte, up to 64 MiB. Of an earlier attempt there is only what was too large for the Task.',
  options: [
    { flags: '--stderr', description: 'its standard error instead' },
    { flags: '--attempt <number>', description: 'of this attempt instead of the last one' },
  ],
  async run([word = ''], options, session) {
    const name = word.replace(/^(?:task|tasks|tk)\//, '');
    if (name === '' || name.includes('/')) throw new UsageError('give the name of a task: agentiso output NAME');
    const attempt = attemptOf(text(options['attempt']));
    await print(session, name, { stream: options['stderr'] === true ? 'stderr' : 'stdout', attempt });
    return session.signal.aborted ? EXIT.interrupted : EXIT.ok;
  },
});

async function print(session: Session, name: string, wanted: Pick<WantedOutput, 'stream' | 'attempt'>): Promise<void> {
  const { connection, namespace, signal, err } = session;
  const { stdout } = standardStreams();
  let bytes = 0;
  for await (const piece of taskOutput(connection, { ...wanted, namespace, name, signal })) {
    bytes += piece.length;
    await written(stdout, piece);
  }
  if (bytes >= MAX_KEPT_BYTES) err(`warning: only the first ${MAX_KEPT_BYTES} bytes are kept; there may have been more\n`);
}

function attemptOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new UsageError(`option '--attempt' argument '${value}' is invalid. Give a number from 1 on.`);
}
