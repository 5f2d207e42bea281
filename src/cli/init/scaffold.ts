/** The files of a new team. Pure. */

export interface ScaffoldFile {
  readonly name: string;
  readonly text: string;
  /** A line that an existing file should have too. */
  readonly line?: string;
}

export function scaffold(team: string): readonly ScaffoldFile[] {
  return [
    { name: 'team.yaml', text: teamText(team) },
    {
      name: '.gitignore',
      text: `# What agentiso keeps here: resources, results and the workspaces of agents.\n${IGNORED}\n`,
      line: IGNORED,
    },
  ];
}

const IGNORED = '.agentiso/';

function teamText(team: string): string {
  return `# A team of two. Check it: agentiso validate team.yaml. Run it: agentiso up -f team.yaml
apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata:
  name: ${team}
spec:
  description: Writes something down and checks it.
  isolation:
    # The strongest that works here: a sandbox where bubblewrap is installed, else a plain process, which shields nothing.
    # minimum: sandbox says that a plain process will not do. agentiso doctor says what this machine can do.
    driver: auto
  roles:
    # One agent for each role (count: 2 makes two): ${team}-writer and ${team}-checker. Each has a workspace of its own.
    - name: writer
      description: Does the work.
      backend: shell # tasks are shell commands
    - name: checker
      description: Looks at what has come out.
      backend: shell
  # The board. Tasks become objects of their own, ${team}-draft and so on: agentiso get tasks
  tasks:
    - name: draft
      title: Write the first version
      assignTo: writer # a role or an agent; without it, whoever is free
      command: echo "first version by $(hostname)" | tee draft.txt
    - name: count
      title: Count its words
      assignTo: writer
      dependsOn: [draft] # starts when draft has succeeded, in the same workspace
      command: wc -w draft.txt
    - name: check
      title: Check the whole
      assignTo: checker
      dependsOn: [draft, count]
      maxAttempts: 2
      command: echo "checked"
`;
}
