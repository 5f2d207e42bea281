/** Starts api-server.ts and gives a client of it, and the tokens of those it was started for. */
import { type ApiClient, apiClient } from './api-client.ts';
import { readKubeconfig, type Server } from './daemon.ts';
import { type Script, startScript } from './script.ts';

export interface ServedHome {
  readonly script: Script;
  readonly kubeconfig: string;
  readonly server: Server;
  readonly api: ApiClient;
  /** By `viewer`, and by agent as it was given. */
  token(of: string): string;
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

export async function serveHome(home: string, agents: readonly string[] = []): Promise<ServedHome> {
  const script = startScript('api-server.ts', [home, ...agents]);
  const line = await script.line((text) => text.startsWith('{'), 'serving');
  const { kubeconfig, tokens } = JSON.parse(line) as { kubeconfig: string; tokens: Record<string, string> };
  const server = readKubeconfig(kubeconfig);
  const api = apiClient(server);
  return {
    script,
    kubeconfig,
    server,
    api,
    token(of) {
      const token = tokens[of];
      if (!token) throw new Error(`no token was issued for ${of}`);
      return token;
    },
    end(signal = 'SIGTERM') {
      api.close();
      script.child.kill(signal);
      return script.ended;
    },
  };
}
