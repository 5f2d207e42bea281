/** The file that lets kubectl and other Kubernetes clients talk to this server: where it is, whom to trust, and the token. */
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { stringify } from 'yaml';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { writePrivateFile } from './auth/private-file.ts';

export interface KubeconfigOptions {
  /** `https://127.0.0.1:6443`. Clients send the token over https only. */
  readonly server: string;
  readonly caPem: string;
  readonly token: string;
  readonly namespace?: string;
}

const NAME = 'agentiso';

export function kubeconfigText({ server, caPem, token, namespace }: KubeconfigOptions): string {
  const authority = Buffer.from(caPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: NAME, cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: NAME, user: { token } }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME, ...(namespace === undefined ? {} : { namespace }) } }],
    'current-context': NAME,
  };
  return stringify(config, { lineWidth: 0 });
}

/** Folders that are missing are made private; one that is there may be shared and stays as it is. */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new AgentisoError('IoError', `cannot make the folder of ${path}: ${messageOf(cause)}`, { cause });
  }
  await writePrivateFile(path, text);
}
