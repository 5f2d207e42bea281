/**
 * A workflow as Tasks: one per step, with two labels, named `<team>-<workflow>-<step>`. A step that depends on others gets what they printed:
 * a prompt begins with it, a command has it in the variable AGENTISO_INPUT, where it can never become code. Pure.
 */
import { API_VERSION } from '#api/meta.ts';
import { isName } from '#api/names.ts';
import { circlesFrom } from '#api/task-graph.ts';
import { given } from './given.ts';
import { wrongField } from './with-hint.ts';

export const WORKFLOW_LABEL = 'agentiso.dev/workflow';
export const STEP_LABEL = 'agentiso.dev/step';
export const INPUT_VARIABLE = 'AGENTISO_INPUT';

export interface Step {
  readonly name: string;
  readonly agent: string;
  readonly prompt?: string;
  readonly command?: string;
  readonly model?: string;
  readonly depends_on?: readonly string[];
  readonly timeout_seconds?: number;
  readonly max_attempts?: number;
}

export interface Workflow {
  readonly namespace: string;
  readonly team: string;
  readonly name: string;
  readonly steps: readonly Step[];
}

export interface StepDraft {
  readonly apiVersion: string;
  readonly kind: 'Task';
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface PlannedStep {
  readonly step: string;
  readonly dependsOn: readonly string[];
  readonly draft: StepDraft;
}

export function workflowId({ team, name }: Pick<Workflow, 'team' | 'name'>): string {
  return `${team}-${name}`;
}

/** Throws Invalid, with the field, for the first thing that is wrong. */
export function planWorkflow(workflow: Workflow): PlannedStep[] {
  if (!isName(workflow.name)) throw wrongField('name', 'lower case letters, digits and -, at most 63');
  const names = new Set(workflow.steps.map(({ name }) => name));
  workflow.steps.forEach((step, index) => {
    if (workflow.steps.findIndex(({ name }) => name === step.name) !== index) {
      throw wrongField(`steps[${index}].name`, `there are two steps ${step.name}; give each its own name`);
    }
    checkStep(step, `steps[${index}]`, { workflow, names });
  });
  checkCircles(workflow.steps);
  return workflow.steps.map((step) => ({ step: step.name, dependsOn: step.depends_on ?? [], draft: toDraft(step, workflow) }));
}

function checkStep(step: Step, at: string, { workflow, names }: { workflow: Workflow; names: ReadonlySet<string> }): void {
  const { name, prompt, command, model, depends_on: needs = [] } = step;
  const full = taskName(workflow, name);
  if (!isName(name)) throw wrongField(`${at}.name`, 'lower case letters, digits and -, at most 63');
  if (!isName(full))
    throw wrongField(`${at}.name`, `the task would be called ${full}, and names have at most 63 characters; use shorter ones`);
  if ((command === undefined) === (prompt === undefined)) throw wrongField(`${at}.command`, 'give either a command or a prompt');
  if (model !== undefined) {
    throw wrongField(`${at}.model`, 'a step runs with the model of its agent', 'set model of the role with apply, or leave it out');
  }
  const unknown = needs.find((need) => !names.has(need));
  if (unknown !== undefined) throw wrongField(`${at}.depends_on`, `there is no step ${unknown}; the steps are ${[...names].join(', ')}`);
}

function checkCircles(steps: readonly Step[]): void {
  const needs = new Map(steps.map(({ name, depends_on: dependsOn = [] }) => [name, dependsOn]));
  const [circle] = circlesFrom(needs.keys(), (name) => needs.get(name) ?? []);
  if (circle)
    throw wrongField('steps', `steps that wait for each other never start: ${circle.join(' -> ')}; remove one of these depends_on`);
}

function toDraft(step: Step, workflow: Workflow): StepDraft {
  const { name, agent, command, prompt, depends_on: needs = [] } = step;
  const received = needs.map((need) => outputOf(need, taskName(workflow, need))).join('');
  return {
    apiVersion: API_VERSION,
    kind: 'Task',
    metadata: {
      name: taskName(workflow, name),
      namespace: workflow.namespace,
      labels: { [WORKFLOW_LABEL]: workflowId(workflow), [STEP_LABEL]: name },
    },
    spec: {
      team: workflow.team,
      title: `${workflow.name}: ${name}`,
      assignTo: agent,
      ...given({
        command,
        prompt: prompt === undefined ? undefined : `${received}${prompt}`,
        env: command === undefined || received === '' ? undefined : { [INPUT_VARIABLE]: received },
        dependsOn: needs.length === 0 ? undefined : needs.map((need) => taskName(workflow, need)),
        timeoutSeconds: step.timeout_seconds,
        maxAttempts: step.max_attempts,
      }),
    },
  };
}

function taskName({ team, name }: Workflow, step: string): string {
  return `${team}-${name}-${step}`;
}

function outputOf(step: string, task: string): string {
  return `--- Output from "${step}" ---\n{{tasks.${task}.result.stdout}}\n--- End ---\n`;
}
