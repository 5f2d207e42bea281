/** What a server refused, as lines for a person. */
import { StatusError } from '#client/status-error.ts';
import { errorText } from '../api-command.ts';

/** A refusal as a line for the person; everything that is no refusal is thrown on. */
export function complaint(error: unknown): string {
  const said = errorText(error);
  if (said === undefined) throw error;
  return said;
}

/** The same refusal with the file it is about, as kubectl says it: `error when creating "team.yaml": …`. */
export function inFile(error: unknown, verb: string, source: string | undefined): unknown {
  if (!(error instanceof StatusError) || source === undefined || error.status.reason === 'Invalid') return error;
  const name = JSON.stringify(source === '-' ? 'STDIN' : source);
  return new StatusError({ ...error.status, message: `error when ${verb} ${name}: ${error.message}` }, error);
}
