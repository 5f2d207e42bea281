/** One run of a coding agent for one attempt of a task, turn by turn to its end. What came of it is an outcome, never an error. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_AGENT_TEXT_BYTES, type PromptOutcome } from '#protocol/prompt.ts';
import type { AcpSession } from './acp-session.ts';
import { AgentHost, type AgentHostParts } from './agent-host.ts';
import { keepEnd } from './cut.ts';
import { RunFailure, toFailure } from './failure.ts';
import { type Fields, textIn } from './loose.ts';
import { runOneShot } from './one-shot.ts';
import { answerPermissions } from './permissions.ts';
import { type Move, nextMove, type Pushes, STANDING_STILL, type TurnEnd, UNSTOPPABLE } from './progress.ts';
import { GO_ON, handOverText, NUDGE, promptText } from './prompt-text.ts';
import { Standstill } from './standstill.ts';
import type { Ask } from './team-socket.ts';
import { Transcript } from './transcript.ts';
import { Tree } from './tree.ts';
import { TurnLog } from './turn-log.ts';
import { Usage } from './usage.ts';
import { verdictOn } from './verdict.ts';

export interface RunParts extends Omit<AgentHostParts, 'onUpdate' | 'onPermission' | 'note'> {
  readonly ask: Ask;
  readonly say: (text: string) => void;
}

const MAX_NOTES = 100;
/** For an agent to end the command that it runs, and to say that it has stopped. */
const CALL_OFF_MS = 10_000;

export class Run {
  readonly #parts: RunParts;
  readonly #usage = new Usage();
  readonly #transcript: Transcript;
  readonly #log: TurnLog;
  readonly #host: AgentHost;
  readonly #notes: { readonly reason: string; readonly message: string }[] = [];
  #tree: Tree | undefined;
  #stopReason: string | undefined;
  #lastWords = '';
  #acknowledged: Promise<void> | undefined;
  /** Of an agent that is started for one answer, by its own account. */
  #oneShot: { readonly toolCalls: number } | undefined;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const note = (reason: string, message: string) => this.#note(reason, message);
    this.#transcript = new Transcript({ path: parts.job.transcript, say: parts.say, now: parts.now });
    this.#log = new TurnLog(this.#transcript, this.#usage, { ...parts.backend.acp?.quirks, now: parts.now });
    const onPermission = answerPermissions({ ...parts, log: this.#log, transcript: this.#transcript, note });
    this.#host = new AgentHost({ ...parts, onUpdate: (update) => this.#log.update(update), onPermission, note });
  }

  async run(): Promise<PromptOutcome> {
    const { job, signal } = this.#parts;
    let cancelling: Promise<void> | undefined;
    const cancel = () => {
      cancelling = this.#host.cancel();
    };
    signal.addEventListener('abort', cancel, { once: true });
    let failure: RunFailure | undefined;
    try {
      this.#tree = await Tree.remember(job.workspace);
      if (job.mode === 'oneShot') await this.#answerOnce();
      else await this.#converse();
    } catch (error) {
      failure = toFailure(error);
    }
    await cancelling;
    await this.#host.end();
    const outcome = await this.#outcome(signal.aborted ? new RunFailure('Cancelled', 'the run was ended') : failure);
    const how = outcome.error === undefined ? (outcome.stopReason ?? 'done') : `${outcome.error.code}: ${outcome.error.message}`;
    this.#transcript.add({ type: 'end', text: how, ...(outcome.usage && { usage: outcome.usage }) });
    this.#transcript.close();
    return outcome;
  }

  async #converse(): Promise<void> {
    const whole = this.#wholePrompt();
    let session = await this.#host.openSession(this.#parts.job.lastSession);
    let text = session.isLoaded ? `${GO_ON}\n\n${whole}` : whole;
    let turns: TurnEnd[] = [];
    let pushes: Pushes = { nudges: 0, handOvers: 0 };
    for (let total = 1; ; total += 1) {
      turns.push(await this.#turn(session, text));
      const move = nextMove(turns, pushes, total);
      if (move === 'done') return;
      checkMove(move, total);
      text = GO_ON;
      if (move === 'goOn') continue;
      turns = [];
      if (move === 'nudge') {
        this.#note('Nudged', 'the last turns did the same and changed nothing');
        pushes = { ...pushes, nudges: pushes.nudges + 1 };
        text = NUDGE;
        continue;
      }
      this.#note('HandedOver', 'a new session goes on: the last one did the same again and again');
      pushes = { ...pushes, handOvers: pushes.handOvers + 1 };
      text = handOverText({ prompt: whole, lastWords: this.#lastWords, changed: (await this.#tree?.state())?.changed ?? [] });
      await this.#host.end();
      this.#usage.sessionEnded();
      session = await this.#host.openSession(undefined);
    }
  }

  async #turn(session: AcpSession, text: string): Promise<TurnEnd> {
    this.#transcript.add({ type: 'prompt', text });
    const treeHash = async () => (await this.#tree?.state())?.hash ?? '';
    const standstill = new Standstill(treeHash);
    this.#log.beginTurn({ onFirst: () => void this.#acknowledge(), onCallEnded: standstill.callEnded });
    try {
      const answering = session.prompt(text);
      const end = await Promise.race([answering, standstill.found]);
      if (typeof end === 'string') this.#stopReason = await this.#callOff(session, answering, end);
      else this.#stopReason = await this.#answered(end);
    } finally {
      if (this.#log.words !== '') this.#lastWords = this.#log.words;
    }
    return { stopReason: this.#stopReason, treeHash: await treeHash(), calls: this.#log.callsOfTurn };
  }

  async #answered(answer: Fields): Promise<string> {
    await this.#acknowledge();
    this.#usage.turn(answer);
    return textIn(answer, 'stopReason') ?? 'unknown';
  }

  /** Where it gets nowhere, it is told so: in the same session, if that still listens. */
  async #callOff(session: AcpSession, answering: Promise<Fields>, why: string): Promise<string> {
    this.#note('StandingStill', `the turn was called off: ${why}`);
    const isStopped = await session.cancel(CALL_OFF_MS);
    if (isStopped) {
      await this.#answered(await answering);
      return STANDING_STILL;
    }
    // That it ends with its process is no news then.
    answering.catch(() => {});
    return UNSTOPPABLE;
  }

  async #answerOnce(): Promise<void> {
    const { oneShot, name } = this.#parts.backend;
    if (oneShot === undefined) throw new RunFailure('BackendMissing', `${name} cannot be run for one answer`);
    const prompt = this.#wholePrompt();
    await this.#host.checkTools();
    const launch = oneShot.launch({ ...this.#host.context, prompt, mcpServers: [this.#host.mcpServer] });
    this.#transcript.add({ type: 'prompt', text: prompt });
    const agent = await this.#host.start(launch);
    const onFirst = () => void this.#acknowledge();
    const { parseEnd } = oneShot;
    const end = await runOneShot({ agent, stdin: launch.stdin, parseEnd, transcript: this.#transcript, onFirst });
    await this.#acknowledge();
    this.#oneShot = end;
    this.#lastWords = end.text;
    this.#stopReason = end.isError ? 'error' : 'end_turn';
    if (end.usage) this.#usage.add(end.usage);
    if (end.isError) throw new RunFailure('AgentError', end.text);
  }

  /** The messages in front of the prompt have been read. Those that cannot be acknowledged are shown once more. */
  #acknowledge(): Promise<void> {
    const { job, ask } = this.#parts;
    if (job.unreadIds.length === 0) return Promise.resolve();
    this.#acknowledged ??= ask('checkMessages', { limit: 0, ack: job.unreadIds }).then(
      () => {},
      (error: Error) => this.#note('NotAcknowledged', `messages were not marked as seen: ${error.message}`),
    );
    return this.#acknowledged;
  }

  #wholePrompt(): string {
    const { unread, text, workspace } = this.#parts.job;
    return promptText({ unread, text, conventions: readIfThere(join(workspace, 'AGENTS.md')) });
  }

  #note(reason: string, message: string): void {
    if (this.#notes.length < MAX_NOTES) this.#notes.push({ reason, message });
    // The transcript has what was refused from whoever refused it.
    if (reason !== 'PermissionDenied') this.#transcript.add({ type: 'note', text: `${reason}: ${message}`, reason });
  }

  async #outcome(failure: RunFailure | undefined): Promise<PromptOutcome> {
    const { filesChanged } = (await this.#tree?.state().catch(() => undefined)) ?? { filesChanged: 0 };
    const { toolCalls } = this.#oneShot ?? this.#log;
    const { sessionId } = this.#host;
    const usage = this.#usage.total;
    return {
      text: keepEnd(this.#lastWords, MAX_AGENT_TEXT_BYTES),
      evidence: { toolCalls, filesChanged },
      ...verdictOn({ failure, toolCalls, filesChanged, words: this.#lastWords }, this.#parts.now()),
      ...(this.#stopReason !== undefined && { stopReason: this.#stopReason }),
      ...(sessionId !== undefined && { sessionId }),
      ...(usage && { usage }),
      ...(this.#notes.length > 0 && { notes: this.#notes }),
    };
  }
}

function checkMove(move: Move, turns: number): void {
  if (move === 'refused') throw new RunFailure('Refused', 'the agent refuses to do this');
  if (move === 'cancelled') throw new RunFailure('Cancelled', 'the turn was cancelled');
  if (move === 'giveUp') throw new RunFailure('NoProgress', `after ${turns} turns nothing changes any more, also in a new session`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
