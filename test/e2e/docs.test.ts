/** The documentation cannot rot: commands in it are read by the program's own reader, links and manifests are tried, the README is run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownKind } from '#api/kinds.ts';
import { parseManifest } from '#api/manifest.ts';
import type { KindObject } from '#api/meta.ts';
import { apiCommands } from '#cli/api-commands.ts';
import { parseArguments } from '#cli/arguments.ts';
import type { Command } from '#cli/command.ts';
import { localCommands } from '#cli/local-commands.ts';
import { cliPage } from '../../scripts/generate-cli.ts';
import { inTemporaryFolder, manifests, runCli, startCli } from '../support/cli.ts';
import { kubectlFor, kubectls } from '../support/kubectl.ts';
import { requires } from '../support/requirements.ts';
import { commandLines, fences, headingsOf, linksIn, type Page, shellWords } from './docs-pages.ts';

const root = join(import.meta.dirname, '..', '..');
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => join('docs', name));
const pages: readonly Page[] = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.filter((name) => name.endsWith('.md'))].map(
  (path) => ({ path, text: readFileSync(join(root, path), 'utf8') }),
);
const commands: Readonly<Record<string, Command>> = { ...localCommands, ...apiCommands };
const readme = pages[0] as Page;

/** What the program would say to it; undefined when it would run. */
function complaintAbout(line: string): string | undefined {
  const words = shellWords(line).slice(1);
  if (words.every((word) => ['--help', '--version', 'help'].includes(word))) return undefined;
  const at = words.findIndex((word) => Object.hasOwn(commands, word));
  const command = commands[words[at] ?? ''];
  if (!command) return `no such command: ${line}`;
  // Its name alone is talk about it.
  if (words.length === 1) return undefined;
  try {
    if (!command.isRaw) parseArguments(command, words.toSpliced(at, 1));
    return undefined;
  } catch (error) {
    return `${line}: ${(error as Error).message}`;
  }
}

describe('the documentation', () => {
  it('has commands to check, and the check finds what is wrong', () => {
    expect(pages.flatMap((page) => commandLines(page, 'agentiso')).length).toBeGreaterThan(30);
    expect(complaintAbout('agentiso get tasks -o wide')).toBeUndefined();
    expect(complaintAbout('agentiso gte tasks')).toContain('no such command');
    expect(complaintAbout('agentiso get tasks --wide')).toContain("unknown option '--wide'");
  });

  it.each(pages.map((page) => [page.path, page] as const))('%s names only commands and flags that exist', (_path, page) => {
    expect(commandLines(page, 'agentiso').flatMap((line) => complaintAbout(line) ?? [])).toEqual([]);
  });

  it.each(pages.map((page) => [page.path, page] as const))('%s links to what is there', (_path, { path, text }) => {
    const broken = linksIn(text).filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !headingsOf(readFileSync(join(root, target), 'utf8')).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it.each(pages.map((page) => [page.path, page] as const))('%s has only manifests that would be accepted', (_path, { text }) => {
    const whole = fences(text).filter(({ language, body }) => language === 'yaml' && body.startsWith('apiVersion: agentiso.dev'));
    for (const { body } of whole) {
      const { documents, problems } = parseManifest(body);
      expect(problems).toEqual([]);
      for (const { value } of documents) {
        const object = value as unknown as KindObject;
        const placed = { ...object, metadata: { ...object.metadata, namespace: 'default' } };
        expect(() => knownKind(object.kind).admit(placed, undefined)).not.toThrow();
      }
    }
  });

  it('describes the commands as they are', () => {
    expect(readFileSync(join(root, 'docs/cli.md'), 'utf8')).toBe(cliPage());
  });
});

/** The README's own command, kept running as on a terminal, while the work is done beside it. */
async function besideTheReadme(work: (folder: string) => Promise<void>): Promise<void> {
  await inTemporaryFolder(async (folder) => {
    const env = { AGENTISO_HOME: undefined };
    const up = startCli(['up', '-f', join(manifests, 'quickstart.yaml'), '--stay'], { cwd: folder, env });
    try {
      await up.said('still serving');
      await work(folder);
    } finally {
      up.child.kill('SIGTERM');
      // It writes into the folder until it has ended.
      await up.result;
    }
    expect(await up.result).toMatchObject({ code: 0 });
  });
}

describe('the README', () => {
  it('begins with the command that does the job, and has the one that runs the tests', () => {
    const [first] = fences(readme.text);
    expect(first?.body.trim()).toBe('scripts/agentiso up -f manifests/quickstart.yaml');
    expect(fences(readme.text).map(({ body }) => body.trim())).toContain('scripts/test');
  });

  it('shows commands that work beside the first one', async () => {
    const lines = commandLines(readme, 'agentiso').filter((line) => /agentiso (get|describe) /.test(line));
    expect(lines.length).toBeGreaterThan(1);
    await besideTheReadme(async (folder) => {
      for (const line of lines) expect(await runCli(shellWords(line).slice(1), { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
    });
  });
});

requires(kubectls.ok, kubectls.reason)('the README, with kubectl', () => {
  it('shows commands that work beside the first one', async () => {
    const lines = commandLines(readme, 'kubectl').filter((line) => /kubectl (get|describe) /.test(line));
    expect(lines.length).toBeGreaterThan(1);
    await besideTheReadme(async (folder) => {
      for (const binary of kubectls.binaries) {
        const kubectl = kubectlFor(binary, join(folder, '.agentiso', 'kubeconfig'), folder);
        for (const line of lines) expect(await kubectl.ok(shellWords(line).slice(1))).toContain('quickstart-review');
      }
    });
  });
});
