/** Differences on the screen: our own unified diff, or the program that the person has chosen for it. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unifiedDiff } from '#client/write/unified-diff.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Session } from '../api-command.ts';

export interface ComparedTexts {
  /** Of the file that would hold it. */
  readonly name: string;
  readonly live: string;
  readonly merged: string;
}

/** True when there is a difference. */
export async function showDifference(compared: readonly ComparedTexts[], session: Session): Promise<boolean> {
  const program = session.environment?.externalDiff;
  if (program) return runProgram(program, compared, session);
  const texts = compared.map(({ name, live, merged }) => unifiedDiff(live, merged, { from: `LIVE/${name}`, to: `MERGED/${name}` }));
  for (const text of texts) if (text !== '') session.out(text);
  return texts.some((text) => text !== '');
}

/** Two folders of files, as kubectl gives them to $KUBECTL_EXTERNAL_DIFF. */
async function runProgram(program: string, compared: readonly ComparedTexts[], session: Session): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-diff-'));
  try {
    for (const side of ['LIVE', 'MERGED']) mkdirSync(join(folder, side));
    for (const { name, live, merged } of compared) {
      if (live !== '') writeFileSync(join(folder, 'LIVE', name), live);
      writeFileSync(join(folder, 'MERGED', name), merged);
    }
    const code = await run(program, [join(folder, 'LIVE'), join(folder, 'MERGED')], session);
    if (code > 1) throw new AgentisoError('IoError', `${program} ended with ${code}`);
    return code === 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(program: string, folders: readonly string[], { out, err, signal }: Session): Promise<number> {
  const [command = '', ...args] = program.split(/\s+/).filter((word) => word !== '');
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, ...folders], { stdio: ['ignore', 'pipe', 'pipe'], signal });
    child.stdout.setEncoding('utf8').on('data', out);
    child.stderr.setEncoding('utf8').on('data', err);
    child.on('error', (error) => reject(new AgentisoError('IoError', `${command} could not be run: ${error.message}`, { cause: error })));
    child.on('close', (code) => resolve(code ?? 2));
  });
}
