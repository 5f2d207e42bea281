/** Suites of a daemon seen by every version of kubectl: one daemon a file, and for each test a namespace, folder and cache of its own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';
import { type Kubectl, kubectlFor, kubectls } from './kubectl.ts';
import { requires } from './requirements.ts';

export interface Place extends Kubectl {
  readonly daemon: Daemon;
  readonly namespace: string;
  readonly folder: string;
  /** Writes a file into the test's folder; its path. */
  file(name: string, text: string): string;
}

export type KubectlTest = (name: string, test: (kubectl: Place) => Promise<void>) => void;

let places = 0;

/** Tests of one version run beside each other, so none may count on what is outside of its namespace. */
export function withEveryKubectl(title: string, define: (test: KubectlTest, daemon: () => Daemon) => void): void {
  requires(kubectls.ok, kubectls.reason)(title, () => {
    const { folder, remove } = temporaryFolder();
    let daemon: Daemon;
    beforeAll(async () => {
      daemon = await startDaemon(join(folder, 'home'));
    });
    afterAll(async () => {
      const { code, stderr } = await daemon.stop();
      remove();
      if (code !== 0 || stderr !== '') throw new Error(`the daemon ended with ${code} and said: ${stderr}`);
    });
    describe.each(kubectls.binaries)('kubectl $version', (binary) => {
      const test: KubectlTest = (name, work) =>
        it.concurrent(name, async () => {
          const namespace = `place-${++places}`;
          const own = join(folder, namespace);
          mkdirSync(own);
          const { status, text } = await daemon.api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
          if (status !== 201) throw new Error(text);
          const file = (path: string, content: string) => {
            writeFileSync(join(own, path), content);
            return join(own, path);
          };
          await work({ ...kubectlFor(binary, daemon.kubeconfig, own, namespace), daemon, namespace, folder: own, file });
        });
      define(test, () => daemon);
    });
  });
}

/** A Task that stays what it is: there is no team to work on it. */
export function taskYaml(name: string, spec = 'title: first', metadata = ''): string {
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: ${name}\n${metadata}spec:\n  team: nobody\n  command: "true"\n  ${spec}\n`;
}
