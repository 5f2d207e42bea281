/** An attempt whose work is done: the commands of `verify` decide whether it has succeeded. */
import type { Agent, Task } from '#api/types.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { Result, WithStatus } from '#runtime/controller.ts';
import { LOOK_MS, type Means } from './attending.ts';
import { countFailure, fail, succeed } from './transitions.ts';
import type { Verification } from './verifier.ts';

export async function verifyAttempt(task: WithStatus<Task>, agent: Agent, { deps, ctx }: Means): Promise<Result> {
  if (!deps.verifier) {
    fail(task, { reason: 'NotSupportedYet', message: 'this version does not act on spec.verify; remove it to run the task' }, ctx);
    return {};
  }
  const verification = await deps.verifier.verify(task, agent);
  if (!verification || verification.attempt !== task.status.attempt) return { requeueAfterMs: LOOK_MS };
  const { passed } = verification;
  task.status.verification = { ...verification, commands: verification.commands.map((command) => ({ ...command })) };
  const message = passed ? `all ${verification.commands.length} commands passed` : whatFailed(verification);
  const verdict = { reason: passed ? 'Passed' : 'VerifyFailed', message };
  setCondition(task, { type: 'Verified', status: passed ? 'True' : 'False', ...verdict }, ctx.now());
  if (!passed) return countFailure(task, 'VerifyFailed', `did not pass verification: ${message}`, ctx);
  succeed(task, `was verified: ${message}`, ctx);
  return { requeueAfterMs: 0 };
}

function whatFailed({ commands }: Verification): string {
  const failed = commands.find(({ exitCode }) => exitCode !== 0);
  return failed ? `${failed.command} exited with ${failed.exitCode}` : 'its commands could not run';
}
