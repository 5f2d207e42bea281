/** exec: one command in the workspace. What goes wrong with the command is a result, not an error. */
import type { CallContext, ExecParams, ExecResult, Handler } from '#protocol/messages.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { checkEnv } from '../command-env.ts';
import type { Guest } from '../guest.ts';
import { fitIntoAnswer } from '../output.ts';
import { type CommandEnd, runCommand } from '../run-command.ts';
import { resolveInWorkspace } from '../workspace-path.ts';

export function execHandler(guest: Guest): Handler<'exec'> {
  return async (params, context) => {
    if (guest.groups.isClosed) throw new ProtocolError('Unavailable', 'the guest is stopping');
    const startedAt = performance.now();
    const end = await run(guest, { params, context }).catch(toFailedStart);
    return toResult(end, { timeoutMs: params.timeoutMs, elapsedMs: Math.round(performance.now() - startedAt) });
  };
}

async function run(guest: Guest, { params, context }: { params: ExecParams; context: CallContext }): Promise<CommandEnd> {
  const { root, baseEnv, groups } = guest;
  checkEnv(params.env ?? {});
  const cwd = await resolveInWorkspace(root, params.cwd ?? root);
  return runCommand({
    argv: 'argv' in params ? params.argv : ['/bin/sh', '-c', params.command],
    cwd,
    env: { ...baseEnv, ...params.env },
    timeoutMs: params.timeoutMs,
    signal: context.signal,
    groups,
  });
}

function toFailedStart(error: unknown): CommandEnd {
  const text = `exec failed: ${error instanceof Error ? error.message : String(error)}`;
  return { exitCode: -1, stoppedBy: undefined, stdout: { text: '', isTruncated: false }, stderr: { text, isTruncated: false } };
}

function toResult(end: CommandEnd, { timeoutMs, elapsedMs }: { timeoutMs: number; elapsedMs: number }): ExecResult {
  const { stdout, stderr } = fitIntoAnswer(end);
  const note = end.stoppedBy === 'timeout' ? `task timed out after ${timeoutMs / 1000}s` : 'cancelled';
  return {
    exitCode: end.stoppedBy === undefined ? end.exitCode : -1,
    stdout: stdout.text,
    stderr: end.stoppedBy === undefined ? stderr.text : appendLine(stderr.text, note),
    stdoutTruncated: stdout.isTruncated,
    stderrTruncated: stderr.isTruncated,
    timedOut: end.stoppedBy === 'timeout',
    elapsedMs,
  };
}

function appendLine(text: string, line: string): string {
  return text === '' || text.endsWith('\n') ? text + line : `${text}\n${line}`;
}
