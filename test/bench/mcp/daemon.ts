/** The daemon under measurement, with the one Task that is read. */
import { join } from 'node:path';
import { checked, HttpClient } from '../api/http-client.ts';
import { formatRequest } from '../api/response.ts';
import { startServer } from '../api/server-process.ts';
import { untilIdle } from '../harness/idle.ts';
import type { BenchContext } from '../harness/operation.ts';
import { makeTask } from '../objects.ts';
import { programPath } from './programs.ts';

const TASKS = '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks';

export interface Daemon {
  readonly home: string;
  readonly socketPath: string;
  readonly taskName: string;
  readonly taskPath: string;
  /** Its JSON, as the API gives it. */
  readonly taskText: string;
}

/** The Task is of a team that does not exist: it waits, and nobody works on it. */
export async function startDaemon({ dir, own }: BenchContext): Promise<Daemon> {
  const home = join(dir, 'home');
  const socketPath = join(home, 'agentiso.sock');
  const server = own(await startServer('the daemon', [programPath('daemon-process'), home]));
  const { status: _controllersOwn, ...draft } = makeTask(0);
  const taskName = draft.metadata.name;
  const taskPath = `${TASKS}/${taskName}`;
  const client = await HttpClient.connect(socketPath);
  checked(await client.exchange(formatRequest({ method: 'POST', path: TASKS, body: JSON.stringify(draft) })));
  await untilIdle(server.pid);
  const reply = checked(await client.exchange(formatRequest({ method: 'GET', path: taskPath })));
  client.close();
  return { home, socketPath, taskName, taskPath, taskText: reply.body().toString() };
}
