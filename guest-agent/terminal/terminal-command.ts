/**
 * A command on a terminal of its own, without native code: `script` of util-linux makes the terminal and passes bytes to and fro. What it
 * runs first sets the size, tells its session and the terminal's name on descriptor 3, and then becomes the command. In this order, so that
 * whoever has the name can change the size for good.
 */
import type { ExecStreamParams } from '#protocol/control.ts';

export type TerminalSize = Pick<NonNullable<ExecStreamParams['tty']>, 'rows' | 'columns'>;

export interface TerminalReport {
  /** The command's pid, which leads the session. */
  readonly sessionId: number;
  /** /dev/pts/N */
  readonly device: string;
}

/** `script` hands its command to $SHELL -c, so that has to be a shell whose rules are known; the command gets the SHELL it should have. */
export function terminalArgv(argv: readonly string[], { rows, columns }: TerminalSize, shell: string | undefined): readonly string[] {
  const restoreShell = shell === undefined ? 'unset SHELL' : `SHELL=${quote(shell)}`;
  const setUp = `stty echo rows ${rows} cols ${columns}; echo "$$ $(tty)" >&3; exec 3>&-; ${restoreShell}`;
  return ['script', '-qefc', `${setUp}; exec ${argv.map(quote).join(' ')}`, '/dev/null'];
}

export function parseReport(line: string): TerminalReport | undefined {
  const [, pid, device] = /^(\d+) (\/dev\/pts\/\d+)\n/.exec(line) ?? [];
  return pid === undefined || device === undefined ? undefined : { sessionId: Number(pid), device };
}

/** Inside single quotes a shell leaves everything alone. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
