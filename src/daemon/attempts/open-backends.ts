/** The coding agents of this machine, for the command that lists and installs them. */
import { homedir } from 'node:os';
import { providerOfBackend } from '#api/agent-provider.ts';
import { allBackends, installableBackends } from '#backends/all-backends.ts';
import type { Backend } from '#backends/backend.ts';
import { installBackend } from '#backends/install.ts';
import { findInstalled } from '#backends/installed.ts';
import { pruneReleases } from '#backends/prune.ts';
import { releaseOf, toolDirectory } from '#backends/tool-places.ts';
import type { BackendHere, BackendsHere } from '#cli/command.ts';
import { NotFoundError } from '#lib/errors.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export function toolsHere(environment: Variables): string {
  return toolDirectory((name) => environment[name], environment['HOME'] || homedir());
}

export function openBackends(environment: Variables): BackendsHere {
  const tools = toolsHere(environment);
  return {
    tools,
    list: () => Promise.all(allBackends.map((backend) => look(backend, tools))),
    prune: (progress) => pruneReleases({ tools, ...progress }),
    async install(name, progress) {
      const backend = installableBackends.find((each) => each.name === name);
      if (backend === undefined) throw new NotFoundError(`there is no backend ${name} to install`);
      return installBackend(backend, { tools, environment, ...progress });
    },
  };
}

async function look(backend: Backend, tools: string): Promise<BackendHere> {
  const { name, title, packages } = backend;
  const provider = providerOfBackend(name);
  return {
    name,
    title,
    release: releaseOf(backend),
    isInstallable: packages.length > 0,
    ...(await findInstalled(tools, backend)),
    ...(provider !== undefined && { provider }),
  };
}
