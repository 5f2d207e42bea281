/** The object every benchmark writes: a Task of about 1.4 KB as JSON, in the middle of its life. Pure. */

export interface BenchTask {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: TaskMetadata;
  readonly spec: Readonly<Record<string, unknown>> & { readonly title: string };
  readonly status: Readonly<Record<string, unknown>>;
}

/** What we set; the store adds more, which travels along untouched. */
export interface TaskMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent until the store has created the object. */
  readonly resourceVersion?: string;
}

const STARTED = '2026-01-05T09:30:00Z';
const TITLE = /revision \d{8}/;

export function makeTask(index: number): BenchTask {
  const id = String(index).padStart(6, '0');
  const agent = `backend-${index % 7}`;
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Task',
    metadata: { name: `sprint-task-${id}`, namespace: 'default', labels: { team: 'sprint', area: `area-${index % 50}` } },
    spec: {
      team: 'sprint',
      title: titleOf(0),
      description: `Implement endpoint ${id} of the orders service and cover it with tests.`,
      acceptanceCriteria: ['All tests of the orders service pass', 'The endpoint is described in the API document'],
      verify: ['npm test -- orders', 'npm run lint'],
      assignTo: agent,
      priority: 3,
      dependsOn: ['sprint-design'],
      tags: ['backend', 'orders'],
      files: [`src/orders/endpoint-${id}.ts`, `src/orders/endpoint-${id}.test.ts`],
      prompt:
        'Read the design first, then implement the endpoint with its validation, errors and pagination. Keep the handlers small and write down every decision that the design leaves open.',
      workdir: '/workspace',
      env: { NODE_ENV: 'test' },
      timeoutSeconds: 300,
      maxAttempts: 3,
    },
    status: {
      phase: 'Running',
      owner: agent,
      ownerIncarnation: '5f1d7a52-8d1e-4c39-9f0e-3a7c1b2d4e6f',
      attempt: 1,
      fencingToken: index + 1,
      lease: { holder: agent, renewTime: STARTED, expires: '2026-01-05T09:31:00Z' },
      conditions: [
        { type: 'Assigned', status: 'True', reason: 'AgentFound', message: `assigned to ${agent}`, lastTransitionTime: STARTED },
        { type: 'Ready', status: 'False', reason: 'Running', message: 'attempt 1 is running', lastTransitionTime: STARTED },
      ],
    },
  };
}

/** A copy whose bytes differ from every other revision's but are as many: a store may skip a write that changes nothing. */
export function withRevision(task: BenchTask, revision: number): BenchTask {
  return { ...task, spec: { ...task.spec, title: titleOf(revision) } };
}

/** The same change made to the text of the object's file, as a person with an editor would. */
export function editRevision(text: string, revision: number): string {
  if (!TITLE.test(text)) throw new Error('the file has no title to edit');
  return text.replace(TITLE, titleOf(revision));
}

/** The bytes a store without our format would keep. */
export function encodeTask(index: number, revision: number): Buffer {
  return Buffer.from(JSON.stringify(withRevision(makeTask(index), revision)));
}

export function titleOf(revision: number): string {
  return `revision ${String(revision).padStart(8, '0')}`;
}
