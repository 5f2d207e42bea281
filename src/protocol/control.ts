/** The control connection, logical port 5000: everything the host asks of a guest. The guest asks nothing here. */
import { common, nothing } from './common.ts';
import { type HandlersOf, method, type NameIn, type OpenCallOf, type ParamsOf, type ResultOf, streaming } from './method.ts';
import { promptOutcome } from './prompt.ts';
import { ProtocolError } from './protocol-error.ts';
import {
  anyFields,
  count,
  flag,
  integer,
  list,
  map,
  nullable,
  object,
  oneOf,
  type Parsed,
  type Parser,
  parser,
  pattern,
  text,
} from './shape.ts';
import type { ToolResult } from './tool-surface.ts';

/** An exec may not ask for more. */
export const MAX_EXEC_TIMEOUT_MS = 3_600_000;
/** Between SIGTERM and SIGKILL of an exec that is over its time: part of how long its answer may take. */
export const EXEC_KILL_GRACE_MS = 5_000;
/** Of one file, in whatever pieces. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** Of an attempt's output, what becomes part of its Task. More than that is also kept whole. */
export const MAX_RESULT_TEXT_BYTES = 64 * 1024;
/** Of each stream. */
export const MAX_ARTIFACT_BYTES = 64 * 1024 * 1024;
/** What one answer carries of a file. */
export const MAX_PIECE_BYTES = 1024 * 1024;

const ipv4 = pattern(/^\d{1,3}(\.\d{1,3}){3}$/, 'an IPv4 address');
const macAddress = pattern(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/, 'a MAC address');
const hexSeed = pattern(/^[0-9a-f]{128}$/, '64 bytes in hexadecimal');
const INT32 = integer({ min: -0x8000_0000, max: 0x7fff_ffff });
const timeoutMs = integer({ min: 1, max: MAX_EXEC_TIMEOUT_MS });
const port = integer({ min: 1, max: 65_535 });
const cells = integer({ min: 1, max: 10_000 });

const commandFields = object(
  {},
  {
    /** Run by /bin/sh -c. */
    command: text,
    /** Run as it stands. */
    argv: list(text, { min: 1 }),
    /** Below the workspace root; `/workspace/...` means the root wherever it really lies. */
    cwd: text,
    env: map(text),
  },
);

/** Either `command` or `argv`. */
function withCommand<T>(rest: Parser<T>): Parser<Parsed<typeof commandFields> & T> {
  const parse = (value: unknown, what: string) => {
    const fields = commandFields(value, what);
    if ((fields.command === undefined) === (fields.argv === undefined)) {
      throw new ProtocolError('Invalid', `${what} needs either command or argv`);
    }
    return { ...fields, ...rest(value, what) };
  };
  return parser(parse, () => ({ allOf: [commandFields.schema(), rest.schema()] }));
}

const execParams = withCommand(object({ timeoutMs }));
const execResult = object({
  /** -1: did not start, timed out or was cancelled; 128 + n: ended by signal n. */
  exitCode: INT32,
  stdout: text,
  stderr: text,
  stdoutTruncated: flag,
  stderrTruncated: flag,
  timedOut: flag,
  elapsedMs: count,
});

const execStreamParams = withCommand(
  object(
    {
      /** Chosen by the caller: `execResize` names it. */
      execId: text,
      hasStdin: flag,
    },
    { timeoutMs, tty: object({ rows: cells, columns: cells }, { term: text }) },
  ),
);
const execStreamResult = object({ exitCode: INT32, timedOut: flag });

const jobState = object(
  { jobId: count, isRunning: flag, startedAt: text, stdoutBytes: count, stderrBytes: count },
  { exitCode: INT32, endedAt: text },
);
const jobPollParams = object(
  { jobId: count },
  { stdoutOffset: count, stderrOffset: count, maxBytes: integer({ min: 1, max: MAX_PIECE_BYTES }) },
);
/** Output from the offsets on, cut between characters; the next offsets follow from the lengths in bytes. */
const jobPollResult = object({ state: jobState, stdout: text, stderr: text, stdoutNext: count, stderrNext: count });

const fileKind = oneOf('file', 'directory', 'link', 'other');
const fileInfo = object({ name: text, kind: fileKind, size: count, mode: count, modified: text });
const fileWriteParams = object({ path: text }, { mode: integer({ min: 0, max: 0o777 }), append: flag, makeParents: flag });

const logsParams = object(
  { follow: flag, timestamps: flag },
  { tailLines: count, /** By the guest's own clock. */ maxAgeMs: count, limitBytes: count, source: text },
);

/** Which attempt of which task. */
export const attemptKey = object({ taskUid: text, attempt: count });
/** transcript: what was said and done in a run of a coding agent, line by line as JSON. */
const outputName = oneOf('stdout', 'stderr', 'transcript');
export const taskResult = object(
  {
    taskUid: text,
    taskName: text,
    attempt: count,
    fencingToken: count,
    /** The guest crashed between start and end of the attempt: nobody knows how far it came. */
    isLost: flag,
    exitCode: INT32,
    stdout: text,
    stderr: text,
    stdoutTruncated: flag,
    stderrTruncated: flag,
    timedOut: flag,
    elapsedMs: count,
  },
  {
    sourceMessageId: text,
    /** HEAD of the repository that the workspace is, when the command had ended. */
    commit: text,
    /** Outputs that are kept whole beside the result, up to MAX_ARTIFACT_BYTES each, until it is acknowledged: `artifactRead` gives them. */
    artifacts: list(object({ name: outputName, sizeBytes: count }), { max: 3 }),
    /** Of a prompt: what came of it. Its text is in stdout. */
    outcome: promptOutcome,
  },
);

const configureParams = object(
  {
    /** Where HTTP is bound; null: nowhere but loopback. */
    httpAddress: nullable(text),
    agentToken: text,
    /** Null where no peers may come in. */
    teamToken: nullable(text),
    card: anyFields,
    /** Source address of a peer → its name, for messages that come in over HTTP. */
    peers: map(text),
    maxTasks: integer({ min: 1, max: 64 }),
  },
  {},
);

const gitExportParams = object(
  {
    /** Folder of the repository, at or below the workspace root. */
    path: text,
    /** Also what is not committed, and stashes. */
    withUncommitted: flag,
    /** Commits the host has: what they hold is left out. */
    have: list(text, { max: 1000 }),
    /** First everything that runs is ended, and nothing may start any more: what is exported is the last that was written. */
    isFinal: flag,
  },
  {},
);
const gitExportResult = object(
  {
    isRepository: flag,
    /** False: nothing that the host lacks. */
    hasBundle: flag,
    /**
     * What the bundle would hold, by its names there: `refs/agentiso/export/head`, `…/wip` (what was not committed), `…/stash/0` and so on,
     * `…/branches/NAME`. A name whose commit the host has is not in the bundle.
     */
    refs: map(text),
    /** At most 1,000. */
    uncommittedFiles: list(text),
    /** Local branches, by name. */
    branches: map(text),
  },
  { head: text, /** Absent when the head is detached. */ branch: text },
);
const gitImportParams = object({ path: text, branch: text, to: text }, { /** Absent: the branch must not exist. */ from: text });
const gitImportResult = object({ state: oneOf('landed', 'moved', 'dirty') }, { now: text, message: text });

const toolAnswer = object(
  { content: list(object({ type: oneOf('text'), text })) },
  { structuredContent: anyFields, /** Never false. */ isError: flag },
);
const toolResult: Parser<ToolResult> = parser(
  (value, what) => {
    const { isError, ...answer } = toolAnswer(value, what);
    return isError ? { ...answer, isError } : answer;
  },
  () => toolAnswer.schema(),
);

const toolsDisk = object({ disk: text, place: text });
/** Of a virtual machine's network device. On its link there is nobody but the gateway. */
const machineLink = object({ address: ipv4, mac: macAddress, gateway: ipv4, gatewayMac: macAddress });
const machineParams = object(
  {
    /** 64 bytes nobody else has, in hexadecimal: copies of one machine would otherwise draw the same numbers. */
    seed: hexSeed,
    timeMs: count,
  },
  {
    link: machineLink,
    /** Serial number of the disk that holds the workspace. */
    disk: text,
    /** Serial number of a disk with tools, and where programs are to find them. */
    tools: toolsDisk,
    /** Whether the host carries connections to the agent's proxy. Without it there is no way out, and no word of one. */
    egress: flag,
  },
);

const prepareParams = object({ seed: hexSeed, timeMs: count }, { disk: text, tools: toolsDisk });
const wakeParams = object({ seed: hexSeed, timeMs: count }, { link: machineLink });

export const control = {
  ...common,
  /** Gives a virtual machine that waits for its identity its disks ahead: `bind` finds them in place. Comes before bind; a second time changes nothing. */
  prepare: method(prepareParams, nothing),
  /** Gives a member of the warm pool, or a virtual machine, its identity; comes before hello, once. */
  bind: method(object({ id: text, incarnation: text, hostname: text }, { machine: machineParams }), nothing),
  /** To a machine that goes on after a time: its clock stood still, and what it draws from now on shall be nothing that it drew before. */
  wake: method(wakeParams, nothing),
  configure: method(configureParams, object({}, { httpProblem: text, httpUrl: text })),
  exec: method(execParams, execResult),
  execStream: streaming(execStreamParams, execStreamResult, { up: ['stdin'], down: ['stdout', 'stderr'] }),
  execResize: method(object({ execId: text, rows: cells, columns: cells }), nothing),
  jobStart: method(withCommand(object({}, { timeoutMs })), object({ jobId: count })),
  jobPoll: method(jobPollParams, jobPollResult),
  jobKill: method(object({ jobId: count }, { signal: text }), object({ state: jobState })),
  jobList: method(nothing, object({ jobs: list(jobState) })),
  /** All or none; gone when the guest ends. */
  setEnv: method(object({ env: map(text) }), nothing),
  fileRead: streaming(object({ path: text }, { offset: count, limit: count }), object({ size: count }), { down: ['content'] }),
  fileWrite: streaming(fileWriteParams, object({ bytes: count }), { up: ['content'] }),
  fileEdit: method(object({ path: text, oldText: text, newText: text }), object({ matches: count })),
  fileList: method(object({ path: text }), object({ entries: list(fileInfo) })),
  fileStat: method(object({ path: text }), fileInfo),
  logs: streaming(logsParams, nothing, { down: ['lines'] }),
  /** A tool of this agent, called as this agent. `reader`: whose calls belong together, for its mail. `progress`: one line of JSON, `{elapsedSeconds}`, now and then while it takes its time. */
  callTool: streaming(object({ name: text, arguments: anyFields }, { reader: text }), toolResult, { down: ['progress'] }),
  /** One bundle of what is in a repository of the workspace and not at the host. */
  gitExport: streaming(gitExportParams, gitExportResult, { down: ['bundle'] }),
  /** Moves a branch of a repository of the workspace, with its check-out if that is clean, from one commit to another that the bundle brings. */
  gitImport: streaming(gitImportParams, gitImportResult, { up: ['bundle'] }),
  /** To a TCP port on loopback inside the workspace. */
  portForward: streaming(object({ port }), nothing, { up: ['data'], down: ['data'] }),
  pollResults: method(
    object({ limit: integer({ min: 1, max: 100 }) }),
    object({ results: list(taskResult), pendingTasks: count, running: list(attemptKey) }),
  ),
  ackResults: method(object({ keys: list(attemptKey) }), nothing),
  /** All of one output of an attempt. NotFound when it was not kept. */
  artifactRead: streaming(object({ taskUid: text, attempt: count, name: outputName }), object({ sizeBytes: count }), { down: ['content'] }),
  /** Ends an attempt, or keeps one that has not come yet from ever starting; its result, if any, is dropped. */
  revokeTask: method(attemptKey, object({ wasRunning: flag })),
  /** Lets what an attempt has started stand still, or go on. Its time limit waits meanwhile. False: it does not run here. */
  freezeTask: method(object({ taskUid: text, attempt: count, isFrozen: flag }), object({ isRunning: flag })),
  shutdown: method(object({}, { graceMs: count }), nothing),
};

type Control = typeof control;
export type ControlMethodName = NameIn<Control>;
export type ControlParams<M extends ControlMethodName> = ParamsOf<Control, M>;
export type ControlResult<M extends ControlMethodName> = ResultOf<Control, M>;
export type ControlCall<M extends ControlMethodName> = OpenCallOf<Control, M>;
export type ControlHandlers = HandlersOf<Control>;
export type ControlHandler<M extends ControlMethodName> = ControlHandlers[M];

export type MachineParams = Parsed<typeof machineParams>;
export type PrepareParams = Parsed<typeof prepareParams>;
export type WakeParams = Parsed<typeof wakeParams>;
export type MachineLink = Parsed<typeof machineLink>;
export type ExecParams = Parsed<typeof execParams>;
export type ExecResult = Parsed<typeof execResult>;
export type ExecStreamParams = Parsed<typeof execStreamParams>;
export type JobState = Parsed<typeof jobState>;
export type FileInfo = Parsed<typeof fileInfo>;
export type TaskResult = Parsed<typeof taskResult>;
export type AttemptKey = Parsed<typeof attemptKey>;
export type OutputName = Parsed<typeof outputName>;
export type ConfigureParams = Parsed<typeof configureParams>;
export type GitExportParams = Parsed<typeof gitExportParams>;
export type GitExportResult = Parsed<typeof gitExportResult>;
export type GitImportParams = Parsed<typeof gitImportParams>;
export type GitImportResult = Parsed<typeof gitImportResult>;
export type LogsParams = Parsed<typeof logsParams>;
