/** What to do next after what a guest refuses. */
import type { Hints } from '../work/with-hint.ts';

export const FILE_HINTS: Hints = {
  Forbidden: 'only files below the root of the workspace can be used, and only as their permissions allow the agent',
  NotFound: 'workspace_file_list shows what is there',
};

export const COMMAND_HINTS: Hints = {
  Forbidden: 'leave out PATH, IFS, ENV, BASH_ENV and LD_* of env, and give a cwd below the root of the workspace',
};

export const JOB_HINTS: Hints = {
  NotFound: 'workspace_exec_start gives the job_id; jobs are forgotten an hour after their end, and when the agent stops',
};
