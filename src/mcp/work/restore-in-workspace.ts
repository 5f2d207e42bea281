/** Brings rescued work into the repository of a running workspace, as a branch: by the git in there, which alone reads what agents wrote. */
import { type RescuedDetails, rescuedBundle } from '#client/rescue.ts';
import { AgentisoError, AlreadyExistsError, ConflictError } from '#lib/errors.ts';
import { timeLimit } from '#lib/time-limit.ts';
import type { ToolCall } from '../tool.ts';
import type { WorkspaceReference, WorkspaceRun } from '../workspace-io.ts';

/** Of a repository with many branches the newest tell enough. */
const MAX_HAVE = 50;
/** What a workspace takes as one file. */
const MAX_BUNDLE_BYTES = 32 * 1024 * 1024;
const BUNDLE = 'agentiso-rescue.bundle';
const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES = 64 * 1024;

/** $1 bundle, empty for none; $2 branch; $3 commit. */
const TAKE_IN = `set -e
if [ -n "$1" ]; then git fetch --quiet --no-tags --no-write-fetch-head "$1" '+refs/agentiso/outgoing/*:refs/agentiso/restored/*'; fi
git branch --no-track "$2" "$3"
git for-each-ref --format='delete %(refname)' refs/agentiso/restored | git update-ref --stdin`;

export interface Restored {
  readonly branch: string;
  readonly commit: string;
}

export async function restoreInWorkspace(call: ToolCall, workspace: WorkspaceReference, work: RescuedDetails): Promise<Restored> {
  const branch = `rescue/${work.agent}`;
  const refs = await git(call, workspace, [
    'for-each-ref',
    '--sort=-committerdate',
    '--format=%(objectname) %(refname)',
    'refs/heads',
    'refs/remotes',
  ]);
  const lines = refs.split('\n').filter(Boolean);
  if (lines.some((line) => line.endsWith(` refs/heads/${branch}`))) {
    throw new AlreadyExistsError(`the workspace of ${workspace.agent} has a branch ${branch} already`, {
      hint: `rename it first with workspace_exec: git branch -m ${branch} NAME`,
    });
  }
  const have = lines.slice(0, MAX_HAVE).map((line) => line.split(' ')[0] ?? '');
  const bundle = await collect(rescuedBundle(call, work.id, have), work);
  const file = bundle.length === 0 ? '' : (await git(call, workspace, ['rev-parse', '--git-path', BUNDLE])).trim();
  try {
    if (file !== '') await call.workspaces.writeFile(workspace, { path: file, content: bundle }, call.signal);
    await run(call, workspace, ['/bin/sh', '-c', TAKE_IN, 'restore', file, branch, work.commit]);
  } finally {
    // Also when the call has ended.
    if (file !== '') await run({ ...call, signal: timeLimit(TIMEOUT_MS) }, workspace, ['rm', '-f', '--', file]);
  }
  return { branch, commit: work.commit };
}

/** A repository that has it all gets nothing. */
async function collect(chunks: AsyncIterable<Buffer>, { id }: RescuedDetails): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_BUNDLE_BYTES) {
      throw new AgentisoError('TooLarge', `the work is larger than ${MAX_BUNDLE_BYTES} bytes, which is too much for a workspace at once`, {
        hint: `somebody at the machine can say agentiso rescue restore ${id} --into DIR`,
      });
    }
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}

async function git(call: ToolCall, workspace: WorkspaceReference, args: readonly string[]): Promise<string> {
  return (await run(call, workspace, ['git', ...args])).stdout;
}

async function run({ workspaces, signal }: ToolCall, workspace: WorkspaceReference, argv: readonly string[]): Promise<WorkspaceRun> {
  const done = await workspaces.exec(workspace, { argv }, { timeoutMs: TIMEOUT_MS, maxOutputBytes: OUTPUT_BYTES, signal });
  if (done.exitCode === 0) return done;
  throw new ConflictError(`${argv[0]} failed in the workspace of ${workspace.agent}: ${done.stderr.trim().slice(-1_000)}`, {
    hint: 'its /workspace must be a git repository; workspace_exec can look at it',
  });
}
