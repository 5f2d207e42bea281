// Generated from crds/ by `npm run generate`. Do not edit.
import type { CustomResourceDefinition } from '../schema.ts';

export const crds: readonly CustomResourceDefinition[] = [
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'teams.agentiso.dev',
    },
    spec: {
      group: 'agentiso.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Team',
        listKind: 'TeamList',
        plural: 'teams',
        singular: 'team',
        shortNames: ['tm'],
        categories: ['all', 'agentiso'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: {
            status: {},
          },
          additionalPrinterColumns: [
            {
              name: 'Phase',
              type: 'string',
              description: 'Where the team is in its life.',
              jsonPath: '.status.phase',
            },
            {
              name: 'Agents',
              type: 'integer',
              description: 'Agents the team has now, sub-teams not counted.',
              jsonPath: '.status.budget.used',
            },
            {
              name: 'Tasks',
              type: 'integer',
              description: 'Tasks of the team.',
              jsonPath: '.status.taskSummary.total',
            },
            {
              name: 'Done',
              type: 'integer',
              description: 'Tasks that succeeded.',
              jsonPath: '.status.taskSummary.succeeded',
            },
            {
              name: 'Failed',
              type: 'integer',
              description: 'Tasks that failed for good.',
              jsonPath: '.status.taskSummary.failed',
            },
            {
              name: 'Parent',
              type: 'string',
              description: 'The team this one is nested in.',
              jsonPath: '.spec.parent',
              priority: 1,
            },
            {
              name: 'Max agents',
              type: 'integer',
              description: 'Most agents the team and its sub-teams may have.',
              jsonPath: '.spec.budget.maxAgents',
              priority: 1,
            },
            {
              name: 'Remaining',
              type: 'integer',
              description: 'Agents that may still be added.',
              jsonPath: '.status.budget.remaining',
              priority: 1,
            },
            {
              name: 'Ready',
              type: 'string',
              description: 'Why the team is ready or not.',
              jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
              priority: 1,
            },
            {
              name: 'Age',
              type: 'date',
              jsonPath: '.metadata.creationTimestamp',
            },
          ],
          selectableFields: [
            {
              jsonPath: '.spec.parent',
            },
            {
              jsonPath: '.status.phase',
            },
          ],
          schema: {
            openAPIV3Schema: {
              description:
                'A Team is a group of agents that share a repository, a budget, a network policy and a task board. Applying it makes its Agents and Tasks; deleting it removes them.',
              type: 'object',
              required: ['spec'],
              'x-kubernetes-validations': [
                {
                  rule: "size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",
                  message:
                    "the name of a Team must be an RFC 1123 label; lower-case letters, digits and '-', at most 63 characters, no '.'",
                },
                {
                  rule: 'self.spec.roles.all(r, size(self.metadata.name) + size(r.name) + (r.count > 1 ? 2 + size(string(r.count)) : 1) <= 63)',
                  message:
                    "an agent would get a name over 63 characters; shorten the team's or the role's name, agents are named <team>-<role>-<number>",
                  fieldPath: '.spec.roles',
                },
                {
                  rule: '!has(self.spec.tasks) || self.spec.tasks.all(t, size(self.metadata.name) + size(t.name) + 1 <= 63)',
                  message:
                    "a Task would get a name over 63 characters; shorten the team's or the task's name, Tasks are named <team>-<task>",
                  fieldPath: '.spec.tasks',
                },
                {
                  rule: '!has(self.spec.parent) || self.spec.parent != self.metadata.name',
                  message: 'a Team cannot be its own parent; name another Team or leave parent out',
                  fieldPath: '.spec.parent',
                },
              ],
              properties: {
                apiVersion: {
                  description: 'Version of the schema this document is written in; agentiso.dev/v1alpha1.',
                  type: 'string',
                },
                kind: {
                  description: 'Kind of this document; Team.',
                  type: 'string',
                },
                metadata: {
                  type: 'object',
                },
                spec: {
                  description: 'What the team should be. People write it; controllers make the machine match.',
                  type: 'object',
                  required: ['roles'],
                  'x-kubernetes-validations': [
                    {
                      rule: 'has(self.parent) ? has(oldSelf.parent) && self.parent == oldSelf.parent : !has(oldSelf.parent)',
                      message:
                        'parent cannot change after creation; keep the old value, or delete the Team and create it under the other parent',
                      fieldPath: '.parent',
                    },
                    {
                      rule: 'self.roles.map(r, r.count).sum() <= self.budget.maxAgents',
                      message: 'the counts of all roles together exceed budget.maxAgents; lower a count or raise budget.maxAgents',
                      fieldPath: '.roles',
                    },
                  ],
                  properties: {
                    description: {
                      description: 'What the team is for, in a sentence or two. Shown to people and to the agents.',
                      type: 'string',
                      maxLength: 4096,
                    },
                    parent: {
                      description:
                        'Name of the Team in the same namespace that this one is nested in. Its policy and budget bound this team, and deleting it deletes this team. Cannot change after creation; absent means a top-level team.',
                      type: 'string',
                      nullable: true,
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                    },
                    suspend: {
                      description:
                        'Holds the team while true. No further Task is handed out, its agents are stopped, and a Task that runs is handed back. Sub-teams go on. Default false.',
                      type: 'boolean',
                      default: false,
                    },
                    repo: {
                      description:
                        'The git repository that every workspace starts as a copy of, given by path or by url. Absent means empty workspaces.',
                      type: 'object',
                      'x-kubernetes-validations': [
                        {
                          rule: '!has(self.path) || !has(self.url)',
                          message: 'set path (a repository on this machine) or url (a remote one), not both',
                        },
                      ],
                      properties: {
                        path: {
                          description: 'Absolute path of a git repository on the machine that runs agentiso.',
                          type: 'string',
                          nullable: true,
                          maxLength: 4096,
                          pattern: '^/[^\\x00]*$',
                        },
                        url: {
                          description:
                            'Address of a remote git repository, for example https://example.com/shop.git or git@example.com:shop.git. Do not put a password in it.',
                          type: 'string',
                          nullable: true,
                          maxLength: 2048,
                          pattern: '^((https?|ssh|git|file)://|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:)[^\\x00-\\x20\\x7f]+$',
                        },
                        ref: {
                          description: 'Branch, tag or commit the workspaces start from. Default main.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 255,
                          pattern: '^[^-\\x00-\\x20\\x7f~^:?*\\[\\\\][^\\x00-\\x20\\x7f~^:?*\\[\\\\]*$',
                          default: 'main',
                        },
                      },
                    },
                    roles: {
                      description:
                        'The kinds of agents the team has, and how many of each. A role with count 1 gives the agent <team>-<role>, a larger count <team>-<role>-1 and so on.',
                      type: 'array',
                      minItems: 1,
                      maxItems: 64,
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['name'],
                      items: {
                        type: 'object',
                        required: ['name'],
                        'x-kubernetes-validations': [
                          {
                            rule: "self.name != 'lead' || self.count == 1",
                            message: "the role 'lead' must have count 1; a team has one lead, use another role name for several agents",
                            fieldPath: '.count',
                          },
                          {
                            rule: 'self.count == 1 || !has(self.portForwards) || self.portForwards.all(p, !has(p.hostPort))',
                            message:
                              'hostPort can only be fixed for a role with count 1, several agents cannot share one port; leave hostPort out and a free port is chosen for each',
                            fieldPath: '.portForwards',
                          },
                        ],
                        properties: {
                          name: {
                            description:
                              "Name of the role inside the team, and the start of its agents' names. Tasks are assigned to it by this name. The name lead marks the one agent that leads the team.",
                            type: 'string',
                            minLength: 1,
                            maxLength: 63,
                            pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                            'x-kubernetes-validations': [
                              {
                                rule: "!(self in ['orchestrator', 'system', 'all', 'self'])",
                                message: 'orchestrator, system, all and self are reserved; choose another role name',
                              },
                            ],
                          },
                          count: {
                            description:
                              'How many agents of this role to run. Lowering it removes the highest numbers once they are idle. Default 1.',
                            type: 'integer',
                            minimum: 1,
                            maximum: 1000,
                            default: 1,
                          },
                          role: {
                            description:
                              'A free word for what these agents are, for example developer or reviewer. Absent means the name of the role.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 63,
                            pattern: '^[^\\x00-\\x1f\\x7f]+$',
                          },
                          description: {
                            description:
                              'What an agent of this role should do and know. The agent is given this text and others see it on its card.',
                            type: 'string',
                            maxLength: 4096,
                          },
                          skills: {
                            description: 'What these agents are good at, for example rust or sql. Others find them by it.',
                            type: 'array',
                            maxItems: 64,
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 63,
                              pattern: '^[^\\x00-\\x1f\\x7f]+$',
                            },
                          },
                          backend: {
                            description:
                              'What does the work inside the workspace. shell (the default) only runs commands; the others are coding agents, acp is any agent that speaks the Agent Client Protocol.',
                            type: 'string',
                            enum: ['shell', 'claude-code', 'codex', 'gemini', 'qwen', 'droid', 'opencode', 'acp'],
                            default: 'shell',
                          },
                          fallback: {
                            description:
                              'Backend to use when the first one is not installed. Absent means none, and the agent then reports BackendMissing instead of starting.',
                            type: 'string',
                            nullable: true,
                            pattern: '^(shell|claude-code|codex|gemini|qwen|droid|opencode|acp)$',
                          },
                          model: {
                            description:
                              "Model the backend should use, by the backend's own name for it. Absent means the backend's configured model.",
                            type: 'string',
                            nullable: true,
                            minLength: 1,
                            maxLength: 256,
                            pattern: '^[^\\x00-\\x1f\\x7f]+$',
                          },
                          permissions: {
                            description:
                              'What the agent may do of what it asks about first. Some things are never allowed, whatever is said here: forced pushes, hard resets, recursive forced removals, writes to raw devices, destructive SQL, power-off, and changes of files outside the workspace. Absent means that everything else is allowed: the workspace is the boundary.',
                            type: 'object',
                            properties: {
                              rules: {
                                description: 'The first rule that fits decides. What none fits is denied.',
                                type: 'array',
                                maxItems: 64,
                                'x-kubernetes-list-type': 'atomic',
                                items: {
                                  type: 'object',
                                  required: ['action'],
                                  properties: {
                                    action: {
                                      description: 'allow, deny, or ask the lead, who is a person where the team has no agent lead.',
                                      type: 'string',
                                      enum: ['allow', 'ask', 'deny'],
                                    },
                                    kind: {
                                      description: 'What kind of thing the tool does. Absent means any.',
                                      type: 'string',
                                      enum: [
                                        'read',
                                        'edit',
                                        'delete',
                                        'move',
                                        'search',
                                        'execute',
                                        'think',
                                        'fetch',
                                        'switch_mode',
                                        'other',
                                      ],
                                    },
                                    tool: {
                                      description: 'Name or title of the tool; * stands for anything. Absent means any.',
                                      type: 'string',
                                      minLength: 1,
                                      maxLength: 256,
                                    },
                                    command: {
                                      description:
                                        'Command line that the tool would run; * stands for anything. Absent means any, and tools that run none.',
                                      type: 'string',
                                      minLength: 1,
                                      maxLength: 1024,
                                    },
                                  },
                                },
                              },
                              askSeconds: {
                                description: 'How long an answer may take, 1 to 1800 seconds. Then it is no. Default 300.',
                                type: 'integer',
                                minimum: 1,
                                maximum: 1800,
                                default: 300,
                              },
                            },
                          },
                          provider: {
                            description:
                              "Provider of models whose key the agent's requests are given, by its name in HOME/credentials.yaml. Absent means the backend's own: anthropic for claude-code, gemini for gemini, openai for codex, qwen, droid and opencode, none for shell and acp.",
                            type: 'string',
                            nullable: true,
                            maxLength: 63,
                            pattern: '^[a-z][a-z0-9-]*$',
                          },
                          budget: {
                            description:
                              'What the Tasks of the agent together may use, beside what their teams allow; each agent of a role has it for itself. Set aside when it claims a Task; what was not used is given back. With nothing left the agent gets no new Task, and what runs is frozen until it may use more.',
                            type: 'object',
                            properties: {
                              tokens: {
                                description:
                                  'Tokens that the agent may use, of the question and of the answer, cached ones included. Absent means no limit.',
                                type: 'integer',
                                nullable: true,
                                minimum: 1,
                                maximum: 1000000000000,
                              },
                              usd: {
                                description:
                                  'Money that the agent may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.',
                                type: 'string',
                                nullable: true,
                                maxLength: 16,
                                pattern: '^[0-9]{1,8}(\\.[0-9]{1,6})?$',
                              },
                              seconds: {
                                description:
                                  "Wall time that the agent's Tasks may take, in seconds, time they were frozen left out. Absent means no limit.",
                                type: 'integer',
                                nullable: true,
                                minimum: 1,
                                maximum: 31536000,
                              },
                            },
                          },
                          image: {
                            description:
                              'Image of the catalogue the workspace starts from, for example base, python, rust or agents. Default base, which has git and node.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 63,
                            pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                            default: 'base',
                          },
                          resources: {
                            description: 'Size of each workspace. A change replaces the workspace when it has no running Task.',
                            type: 'object',
                            default: {},
                            properties: {
                              vcpus: {
                                description: 'Processor cores, 1 to 8. Default 2.',
                                type: 'integer',
                                minimum: 1,
                                maximum: 8,
                                default: 2,
                              },
                              memoryMiB: {
                                description: 'Memory in MiB, 64 to 8192. Default 512.',
                                type: 'integer',
                                minimum: 64,
                                maximum: 8192,
                                default: 512,
                              },
                              diskGiB: {
                                description: 'Disk in GiB, 1 to 100. Default 10.',
                                type: 'integer',
                                minimum: 1,
                                maximum: 100,
                                default: 10,
                              },
                            },
                          },
                          restartPolicy: {
                            description:
                              "What happens when the agent's process ends. OnFailure (the default) restarts it after an error, Always also after a clean end, Never leaves it stopped. The disk is kept.",
                            type: 'string',
                            enum: ['Always', 'OnFailure', 'Never'],
                            default: 'OnFailure',
                          },
                          maxConcurrentTasks: {
                            description:
                              'How many Tasks each agent of the role may have in work at once, 1 to 64. Without it each Agent says so itself, 4 unless it is changed there.',
                            type: 'integer',
                            minimum: 1,
                            maximum: 64,
                          },
                          envFrom: {
                            description:
                              'Secrets to pass in as environment variables. Only their names are written here; the values stay in memory.',
                            type: 'array',
                            maxItems: 64,
                            'x-kubernetes-list-type': 'map',
                            'x-kubernetes-list-map-keys': ['hostEnv'],
                            items: {
                              type: 'object',
                              required: ['hostEnv'],
                              properties: {
                                hostEnv: {
                                  description:
                                    'Name of an environment variable of the agentiso daemon. The agent gets it under the same name; if it is missing the agent does not start and says SecretMissing.',
                                  type: 'string',
                                  minLength: 1,
                                  maxLength: 128,
                                  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
                                },
                              },
                            },
                          },
                          portForwards: {
                            description: 'Ports of the workspace that are reachable on 127.0.0.1 of the machine.',
                            type: 'array',
                            maxItems: 32,
                            'x-kubernetes-list-type': 'map',
                            'x-kubernetes-list-map-keys': ['guestPort'],
                            items: {
                              type: 'object',
                              required: ['guestPort'],
                              properties: {
                                guestPort: {
                                  description: 'TCP port inside the workspace, 1 to 65535.',
                                  type: 'integer',
                                  minimum: 1,
                                  maximum: 65535,
                                },
                                hostPort: {
                                  description:
                                    "TCP port on 127.0.0.1, 1024 to 65535 and not one that agentiso itself uses. Absent means a free one from 30000 to 32767, shown in the agent's status.",
                                  type: 'integer',
                                  nullable: true,
                                  minimum: 1024,
                                  maximum: 65535,
                                },
                              },
                            },
                          },
                          inputSchema: {
                            description: 'JSON Schema of the input these agents accept. Shown on their cards; absent means any.',
                            type: 'object',
                            'x-kubernetes-preserve-unknown-fields': true,
                          },
                          outputSchema: {
                            description: 'JSON Schema of the output these agents give. Shown on their cards; absent means any.',
                            type: 'object',
                            'x-kubernetes-preserve-unknown-fields': true,
                          },
                        },
                      },
                    },
                    tasks: {
                      description:
                        'Work the team starts with. Each entry becomes a Task named <team>-<name>; more can be added at any time as Task documents of their own.',
                      type: 'array',
                      maxItems: 500,
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['name'],
                      items: {
                        type: 'object',
                        required: ['name'],
                        'x-kubernetes-validations': [
                          {
                            rule: 'has(self.command) != has(self.prompt)',
                            message: 'set exactly one of command (run as a shell command) and prompt (given to the agent)',
                          },
                          {
                            rule: '!has(self.dependsOn) || !(self.name in self.dependsOn)',
                            message: 'a task cannot depend on itself; remove its own name from dependsOn',
                            fieldPath: '.dependsOn',
                          },
                        ],
                        properties: {
                          name: {
                            description: 'Short name of the task inside the team. Other tasks name it in dependsOn.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 63,
                            pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                          },
                          title: {
                            description: 'What the Task is about, in one line. Absent means its name is shown.',
                            type: 'string',
                            maxLength: 256,
                            pattern: '^[^\\x00-\\x1f\\x7f]*$',
                          },
                          description: {
                            description: 'What is to be done and why, as text or Markdown. Shown on the board and given to the agent.',
                            type: 'string',
                            maxLength: 262144,
                          },
                          acceptanceCriteria: {
                            description:
                              'What must be true when the Task is done, one sentence each. For readers; verify holds what a machine can check.',
                            type: 'array',
                            maxItems: 64,
                            'x-kubernetes-list-type': 'atomic',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 2048,
                            },
                          },
                          assignTo: {
                            description:
                              'Agent or role that should do it, by short or full name. Absent means any agent of the team may claim it.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 63,
                            pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                          },
                          skills: {
                            description: 'Skills an agent must have to do it, all of them. Absent means any agent that assignTo allows.',
                            type: 'array',
                            maxItems: 16,
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 63,
                              pattern: '^[^\\x00-\\x1f\\x7f]+$',
                            },
                          },
                          priority: {
                            description:
                              'Order among Tasks that could start, 1 (first) to 5 (last). Equal ones start in order of creation. Default 3.',
                            type: 'integer',
                            minimum: 1,
                            maximum: 5,
                            default: 3,
                          },
                          dependsOn: {
                            description:
                              'Tasks of the same team that must have succeeded before this one may start, by short or full name. Until then it is Blocked.',
                            type: 'array',
                            maxItems: 100,
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 63,
                              pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                            },
                          },
                          command: {
                            description:
                              'Shell command to run in the workspace. Exit code 0 is success. Set either this or prompt. {{tasks.NAME.result.stdout}} (also stderr, exitCode, commit) stands for what a Task of dependsOn gave; here it is always one word and never code. Write {{"{{"}} for two braces as they are.',
                            type: 'string',
                            nullable: true,
                            minLength: 1,
                            maxLength: 32768,
                            pattern: '^[^\\x00]*$',
                          },
                          prompt: {
                            description:
                              "Text to give to the agent's backend, at most 100 KiB. Set either this or command. {{tasks.NAME.result.stdout}} and its like are replaced by the text as it is.",
                            type: 'string',
                            nullable: true,
                            minLength: 1,
                            maxLength: 102400,
                            pattern: '^[^\\x00-\\x08\\x0b-\\x1f\\x7f]*$',
                          },
                          promptMode: {
                            description:
                              'How a prompt is given to the agent. Session, which is meant when it is absent, opens a session of the Agent Client Protocol, OneShot starts the program for one answer.',
                            type: 'string',
                            enum: ['Session', 'OneShot'],
                          },
                          verify: {
                            description:
                              'Shell commands that must all exit with 0, run in a fresh workspace at the commit of the result. Only then does the Task succeed. All together get timeoutSeconds; they see the environment of the Task and no network.',
                            type: 'array',
                            maxItems: 64,
                            'x-kubernetes-list-type': 'atomic',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 32768,
                              pattern: '^[^\\x00]*$',
                            },
                          },
                          workdir: {
                            description: 'Folder to run in, at or below /workspace. Default /workspace.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 4096,
                            pattern: '^/[^\\x00]*$',
                            default: '/workspace',
                          },
                          env: {
                            description: "Plain environment variables for this Task. Not for secrets, which belong in the role's envFrom.",
                            type: 'object',
                            maxProperties: 128,
                            'x-kubernetes-validations': [
                              {
                                rule: "self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",
                                message: "a variable name starts with a letter or '_' and goes on with letters, digits or '_'",
                              },
                            ],
                            additionalProperties: {
                              type: 'string',
                              maxLength: 32768,
                              pattern: '^[^\\x00]*$',
                            },
                          },
                          timeoutSeconds: {
                            description:
                              'Longest time one attempt may take, in seconds, 1 to 1800. Then everything it started is killed. Absent means 300 for a command and 1800 for a prompt.',
                            type: 'integer',
                            minimum: 1,
                            maximum: 1800,
                          },
                          maxAttempts: {
                            description:
                              'How often the Task is tried before it is Failed, 1 to 100. Attempts are some seconds apart. Default 3.',
                            type: 'integer',
                            minimum: 1,
                            maximum: 100,
                            default: 3,
                          },
                          budget: {
                            description:
                              "What the Task may use in all its attempts together. What it may use is set aside from its team's budget when it is claimed, and what it has not used is given back. A running Task that has used it up is frozen until it may use more.",
                            type: 'object',
                            properties: {
                              tokens: {
                                description:
                                  'Tokens that the Task may use, of the question and of the answer, cached ones included. Absent means no limit.',
                                type: 'integer',
                                nullable: true,
                                minimum: 1,
                                maximum: 1000000000000,
                              },
                              usd: {
                                description:
                                  'Money that the Task may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.',
                                type: 'string',
                                nullable: true,
                                maxLength: 16,
                                pattern: '^[0-9]{1,8}(\\.[0-9]{1,6})?$',
                              },
                              seconds: {
                                description:
                                  'Wall time that the Task may take, in seconds, time it was frozen left out. Absent means no limit.',
                                type: 'integer',
                                nullable: true,
                                minimum: 1,
                                maximum: 31536000,
                              },
                            },
                          },
                          planRequired: {
                            description:
                              'If true, the agent first submits a plan and works only after the lead has approved it. Default false.',
                            type: 'boolean',
                            default: false,
                          },
                          stuckPolicy: {
                            description:
                              'What happens when the Task runs far longer than others without progress. Report (the default) only tells the lead, Reassign also gives it to another agent.',
                            type: 'string',
                            enum: ['Report', 'Reassign'],
                            default: 'Report',
                          },
                          files: {
                            description:
                              'Glob patterns of the files the Task will touch, relative to the workspace. Running Tasks that overlap are marked. One that may touch files in which branches of its team do not fit waits while others can run.',
                            type: 'array',
                            maxItems: 256,
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 1024,
                              pattern: '^[^\\x00-\\x1f\\x7f]+$',
                            },
                          },
                          tags: {
                            description: 'Free words to sort and find Tasks by.',
                            type: 'array',
                            maxItems: 64,
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                              minLength: 1,
                              maxLength: 63,
                              pattern: '^[^\\x00-\\x1f\\x7f]+$',
                            },
                          },
                          retry: {
                            description:
                              'Raise it by one to try a Task that has Failed once more, with all its attempts. Tasks that wait for it go on if it succeeds then. Default 0.',
                            type: 'integer',
                            minimum: 0,
                            maximum: 1000000,
                            default: 0,
                          },
                          cancelled: {
                            description:
                              'Set to true to give the Task up. A running attempt is killed and the Task ends as Failed with reason Cancelled.',
                            type: 'boolean',
                            default: false,
                          },
                          ttlSecondsAfterFinished: {
                            description: 'Seconds after its end when the Task is deleted. Absent means it stays as long as the team.',
                            type: 'integer',
                            nullable: true,
                            minimum: 0,
                            maximum: 31536000,
                          },
                        },
                      },
                    },
                    merge: {
                      description:
                        'If present, the work of every agent is merged once all Tasks of the team are done. Absent means nothing is merged by itself.',
                      type: 'object',
                      properties: {
                        strategy: {
                          description:
                            'How the work is joined. sequential (the default) merges one source after the other, branch-per-source keeps a branch for each, cherry-pick takes commit by commit.',
                          type: 'string',
                          enum: ['sequential', 'branch-per-source', 'cherry-pick'],
                          default: 'sequential',
                        },
                        into: {
                          description: "Branch of the team's repository that receives the work. Default main.",
                          type: 'string',
                          minLength: 1,
                          maxLength: 255,
                          pattern: '^[^-\\x00-\\x20\\x7f~^:?*\\[\\\\][^\\x00-\\x20\\x7f~^:?*\\[\\\\]*$',
                          default: 'main',
                        },
                      },
                    },
                    maxParallelTasks: {
                      description:
                        'Most Tasks of this team that are worked on at once, those of sub-teams not counted. Absent means as many as its agents take.',
                      type: 'integer',
                      nullable: true,
                      minimum: 1,
                      maximum: 10000,
                    },
                    budget: {
                      description:
                        'How large the team may grow, and what its Tasks may use. Agents of a sub-team are reserved from it when the sub-team is created, tokens, money and time of a Task when the Task is claimed.',
                      type: 'object',
                      default: {},
                      properties: {
                        maxAgents: {
                          description: 'Most agents of this team and all its sub-teams together, whatever their driver. Default 10.',
                          type: 'integer',
                          minimum: 1,
                          maximum: 1000,
                          default: 10,
                        },
                        maxDepth: {
                          description: 'Deepest level a sub-team may have; a top-level team is level 0, its sub-team level 1. Default 3.',
                          type: 'integer',
                          minimum: 0,
                          maximum: 10,
                          default: 3,
                        },
                        tokens: {
                          description:
                            'Tokens that the Tasks of this team and of its sub-teams together may use, of the question and of the answer, cached ones included. Absent means no limit.',
                          type: 'integer',
                          nullable: true,
                          minimum: 1,
                          maximum: 1000000000000,
                        },
                        usd: {
                          description:
                            'Money that the Tasks of this team and of its sub-teams together may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.',
                          type: 'string',
                          nullable: true,
                          maxLength: 16,
                          pattern: '^[0-9]{1,8}(\\.[0-9]{1,6})?$',
                        },
                        seconds: {
                          description:
                            'Wall time that the Tasks of this team and of its sub-teams together may take, in seconds, time it was frozen left out. Absent means no limit.',
                          type: 'integer',
                          nullable: true,
                          minimum: 1,
                          maximum: 31536000,
                        },
                      },
                    },
                    isolation: {
                      description: 'How strongly workspaces are kept apart from the machine. From weak to strong, process, sandbox, vm.',
                      type: 'object',
                      default: {},
                      properties: {
                        driver: {
                          description: 'What runs the workspaces. auto (the default) takes the strongest that works on this machine.',
                          type: 'string',
                          enum: ['auto', 'process', 'sandbox', 'vm'],
                          default: 'auto',
                        },
                        minimum: {
                          description:
                            'Weakest isolation that is acceptable. If the machine cannot give it, agents do not start. Default process.',
                          type: 'string',
                          enum: ['process', 'sandbox', 'vm'],
                          default: 'process',
                        },
                        requireLimits: {
                          description:
                            'If true, agents start only where limits on memory, processor and processes can be enforced. Default false.',
                          type: 'boolean',
                          default: false,
                        },
                      },
                    },
                    network: {
                      description:
                        'What the agents may reach. Everything is denied unless allowed here; a sub-team never gets more than its parent.',
                      type: 'object',
                      default: {},
                      properties: {
                        allowInternet: {
                          description: 'If true, agents reach the internet, but never private or host addresses. Default false.',
                          type: 'boolean',
                          default: false,
                        },
                        allowInterAgent: {
                          description: 'If true, agents of the team reach each other directly. Messages work without it. Default false.',
                          type: 'boolean',
                          default: false,
                        },
                        allowedPorts: {
                          description:
                            'TCP ports, 1 to 65535, that agents may use among each other. Empty or absent means all, if allowInterAgent is true.',
                          type: 'array',
                          maxItems: 128,
                          'x-kubernetes-list-type': 'set',
                          items: {
                            type: 'integer',
                            minimum: 1,
                            maximum: 65535,
                          },
                        },
                        allowCidrs: {
                          description: 'IPv4 ranges that agents may reach in addition, private ones included, for example 192.168.7.0/24.',
                          type: 'array',
                          maxItems: 128,
                          'x-kubernetes-list-type': 'set',
                          items: {
                            type: 'string',
                            maxLength: 18,
                            pattern: '^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])/(3[0-2]|[12]?[0-9])$',
                          },
                        },
                        allowDomains: {
                          description:
                            'Names that agents may reach by HTTP and HTTPS through the proxy of agentiso, even without internet. An exact name such as registry.npmjs.org, or *.example.com for everything below one.',
                          type: 'array',
                          maxItems: 256,
                          'x-kubernetes-list-type': 'set',
                          items: {
                            type: 'string',
                            minLength: 1,
                            maxLength: 253,
                            pattern: '^(\\*\\.)?([a-z0-9]([-a-z0-9]*[a-z0-9])?\\.)*[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                          },
                        },
                      },
                    },
                    messaging: {
                      description: 'How agents of the team talk to each other.',
                      type: 'object',
                      default: {},
                      properties: {
                        enabled: {
                          description: 'If false, the message tools of the team are off and answer Unavailable. Default true.',
                          type: 'boolean',
                          default: true,
                        },
                        broadcast: {
                          description:
                            'Who may write to all agents at once. Lead (the default) means the lead and the orchestrator, Any means every agent.',
                          type: 'string',
                          enum: ['Lead', 'Any'],
                          default: 'Lead',
                        },
                      },
                    },
                    subTeams: {
                      description: 'Which agents may create sub-teams of this team; None, only the Lead, or Any. Default Any.',
                      type: 'string',
                      enum: ['None', 'Lead', 'Any'],
                      default: 'Any',
                    },
                    golden: {
                      description:
                        'A prepared snapshot that every member starts from, made once and again when this part changes. Absent means members start from the image of their role.',
                      type: 'object',
                      properties: {
                        from: {
                          description: 'Take the snapshot of this agent, written <team>/<agent>, instead of preparing one.',
                          type: 'string',
                          nullable: true,
                          maxLength: 127,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                        },
                        image: {
                          description: 'Image of the catalogue the preparation starts from. Default base.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                          default: 'base',
                        },
                        gitUrl: {
                          description: 'Address of a git repository to clone into the workspace first. Do not put a password in it.',
                          type: 'string',
                          nullable: true,
                          maxLength: 2048,
                          pattern: '^((https?|ssh|git|file)://|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:)[^\\x00-\\x20\\x7f]+$',
                        },
                        setupCommands: {
                          description: 'Shell commands to run in order, at most 300 seconds each. One that fails stops the preparation.',
                          type: 'array',
                          maxItems: 64,
                          'x-kubernetes-list-type': 'atomic',
                          items: {
                            type: 'string',
                            minLength: 1,
                            maxLength: 32768,
                            pattern: '^[^\\x00]*$',
                          },
                        },
                        snapshot: {
                          description: 'Name of the snapshot. Default golden.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                          default: 'golden',
                        },
                        allowInternet: {
                          description: 'If true, the preparation may use the internet. The members still follow network. Default false.',
                          type: 'boolean',
                          default: false,
                        },
                      },
                    },
                    terminationGracePeriodSeconds: {
                      description: 'Seconds an agent gets to end in good order before it is killed, 0 to 3600. Default 30.',
                      type: 'integer',
                      minimum: 0,
                      maximum: 3600,
                      default: 30,
                    },
                  },
                },
                status: {
                  description: 'What the controllers have seen. Written by controllers only.',
                  type: 'object',
                  properties: {
                    phase: {
                      description:
                        'Where the team is in its life. Creating until every agent is ready, Ready, Working while a Task is claimed or runs, Completing while results are collected or merged, Terminating while it is being deleted, Destroyed when gone.',
                      type: 'string',
                      enum: ['Creating', 'Ready', 'Working', 'Completing', 'Terminating', 'Destroyed'],
                    },
                    members: {
                      description: 'The agents of the team, sub-teams not counted.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['name'],
                      items: {
                        type: 'object',
                        required: ['name'],
                        properties: {
                          name: {
                            description: 'Short name of the agent inside the team.',
                            type: 'string',
                          },
                          role: {
                            description: 'Name of the role it was made from.',
                            type: 'string',
                          },
                          phase: {
                            description: 'Phase of the agent.',
                            type: 'string',
                          },
                          isolation: {
                            description: 'Driver that really runs it; process, sandbox or vm.',
                            type: 'string',
                          },
                          ip: {
                            description: 'Address of its workspace. Absent if it has none of its own.',
                            type: 'string',
                          },
                          messagesPending: {
                            description: 'Messages in its inbox that it has not acknowledged.',
                            type: 'integer',
                            minimum: 0,
                          },
                          workspaceId: {
                            description: 'Id of its workspace, which is the uid of the Agent.',
                            type: 'string',
                          },
                          incarnation: {
                            description: 'Id of its present run. New at every start.',
                            type: 'string',
                          },
                        },
                      },
                    },
                    taskSummary: {
                      description: 'How many Tasks of the team are in each phase.',
                      type: 'object',
                      properties: {
                        total: {
                          description: 'All Tasks.',
                          type: 'integer',
                          minimum: 0,
                        },
                        pending: {
                          description: 'Tasks that wait for an agent.',
                          type: 'integer',
                          minimum: 0,
                        },
                        claimed: {
                          description: 'Tasks an agent has taken but not started.',
                          type: 'integer',
                          minimum: 0,
                        },
                        running: {
                          description: 'Tasks in work.',
                          type: 'integer',
                          minimum: 0,
                        },
                        blocked: {
                          description: 'Tasks that wait for other Tasks or for a decision.',
                          type: 'integer',
                          minimum: 0,
                        },
                        succeeded: {
                          description: 'Tasks done.',
                          type: 'integer',
                          minimum: 0,
                        },
                        failed: {
                          description: 'Tasks that failed for good.',
                          type: 'integer',
                          minimum: 0,
                        },
                      },
                    },
                    messagesPending: {
                      description: 'Messages for people that nobody has acknowledged; agentiso inbox shows them.',
                      type: 'integer',
                      minimum: 0,
                    },
                    budget: {
                      description: 'What of budget.maxAgents is taken.',
                      type: 'object',
                      properties: {
                        used: {
                          description: 'Agents of the team itself.',
                          type: 'integer',
                        },
                        reserved: {
                          description: 'Agents set aside for direct sub-teams, the sum of their maxAgents.',
                          type: 'integer',
                        },
                        remaining: {
                          description: 'Agents that may still be added, here or set aside for a sub-team.',
                          type: 'integer',
                        },
                        reservations: {
                          description: 'What is set aside for whom. A sub-team starts only when it stands here with its whole maxAgents.',
                          type: 'array',
                          'x-kubernetes-list-type': 'map',
                          'x-kubernetes-list-map-keys': ['uid'],
                          items: {
                            type: 'object',
                            required: ['uid', 'name', 'maxAgents'],
                            properties: {
                              uid: {
                                description: 'Uid of the sub-team.',
                                type: 'string',
                              },
                              name: {
                                description: 'Its name.',
                                type: 'string',
                              },
                              maxAgents: {
                                description: 'Agents set aside for it and its own sub-teams.',
                                type: 'integer',
                                minimum: 0,
                              },
                            },
                          },
                        },
                      },
                    },
                    spending: {
                      description:
                        "What of the team's tokens, money and time is used or set aside. Absent while the team has no such limit.",
                      type: 'object',
                      properties: {
                        used: {
                          description: 'What Tasks that are not claimed any more have used, those of sub-teams and deleted ones included.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Used in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Used in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Used in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        reserved: {
                          description: 'What is set aside for claimed Tasks.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Set aside in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Set aside in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Set aside in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        remaining: {
                          description: 'What may still be set aside. Absent where there is no limit.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Left in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Left in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Left in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        claims: {
                          description: 'What is set aside for which Task.',
                          type: 'array',
                          'x-kubernetes-list-type': 'map',
                          'x-kubernetes-list-map-keys': ['uid'],
                          items: {
                            type: 'object',
                            required: ['uid', 'task'],
                            properties: {
                              uid: {
                                description: 'Uid of the Task.',
                                type: 'string',
                              },
                              task: {
                                description: 'Its name.',
                                type: 'string',
                              },
                              reserved: {
                                description: 'What is set aside for it in this claim.',
                                type: 'object',
                                properties: {
                                  tokens: {
                                    description: 'Set aside in tokens.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                  usd: {
                                    description: 'Set aside in US dollars.',
                                    type: 'string',
                                  },
                                  seconds: {
                                    description: 'Set aside in seconds.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                },
                              },
                              before: {
                                description: 'What it had used before this claim.',
                                type: 'object',
                                properties: {
                                  tokens: {
                                    description: 'Used before in tokens.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                  usd: {
                                    description: 'Used before in US dollars.',
                                    type: 'string',
                                  },
                                  seconds: {
                                    description: 'Used before in seconds.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                },
                              },
                            },
                          },
                        },
                      },
                    },
                    depth: {
                      description: 'Nesting level. 0 for a top-level team, one more than the parent otherwise.',
                      type: 'integer',
                      minimum: 0,
                    },
                    resources: {
                      description: 'What the workspaces of the team take together, sub-teams not counted.',
                      type: 'object',
                      properties: {
                        vcpus: {
                          description: 'Sum of processor cores.',
                          type: 'integer',
                          minimum: 0,
                        },
                        memoryMiB: {
                          description: 'Sum of memory in MiB.',
                          type: 'integer',
                          minimum: 0,
                        },
                        diskGiB: {
                          description: 'Sum of disk in GiB.',
                          type: 'integer',
                          minimum: 0,
                        },
                      },
                    },
                    conditions: {
                      description:
                        'What is true of the team now, and why. Ready is True when every agent has its workspace, network and relay for the present spec.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['type'],
                      items: {
                        type: 'object',
                        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
                        properties: {
                          type: {
                            description: 'Name of the condition.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 316,
                          },
                          status: {
                            description: 'Whether it holds; True, False or Unknown.',
                            type: 'string',
                            enum: ['True', 'False', 'Unknown'],
                          },
                          reason: {
                            description: 'One word that says why, for programs.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 1024,
                            pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
                          },
                          message: {
                            description: 'A sentence that says why, for people. May be empty.',
                            type: 'string',
                            maxLength: 32768,
                          },
                          lastTransitionTime: {
                            description: 'When status last changed.',
                            type: 'string',
                            format: 'date-time',
                          },
                          observedGeneration: {
                            description: 'Generation of the spec this was seen for.',
                            type: 'integer',
                            minimum: 0,
                          },
                        },
                      },
                    },
                    observedGeneration: {
                      description: 'Generation of the spec that the whole status was computed for.',
                      type: 'integer',
                      minimum: 0,
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'agents.agentiso.dev',
    },
    spec: {
      group: 'agentiso.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Agent',
        listKind: 'AgentList',
        plural: 'agents',
        singular: 'agent',
        shortNames: ['ag'],
        categories: ['all', 'agentiso'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: {
            status: {},
          },
          additionalPrinterColumns: [
            {
              name: 'Team',
              type: 'string',
              description: 'The team the agent belongs to.',
              jsonPath: '.spec.team',
            },
            {
              name: 'Role',
              type: 'string',
              description: 'Role of the team it was made from.',
              jsonPath: '.spec.roleName',
            },
            {
              name: 'Phase',
              type: 'string',
              description: 'What the agent is doing.',
              jsonPath: '.status.phase',
            },
            {
              name: 'Driver',
              type: 'string',
              description: 'Isolation that is really in force.',
              jsonPath: '.status.isolation.driver',
            },
            {
              name: 'Restarts',
              type: 'integer',
              description: 'How often it was restarted.',
              jsonPath: '.status.restarts',
            },
            {
              name: 'Tasks',
              type: 'string',
              description: 'Tasks it works on.',
              jsonPath: '.status.currentTasks',
            },
            {
              name: 'Backend',
              type: 'string',
              description: 'Backend in use.',
              jsonPath: '.status.backend',
              priority: 1,
            },
            {
              name: 'Model',
              type: 'string',
              description: 'Model asked for.',
              jsonPath: '.spec.model',
              priority: 1,
            },
            {
              name: 'Messages',
              type: 'integer',
              description: 'Messages not yet acknowledged.',
              jsonPath: '.status.messagesPending',
              priority: 1,
            },
            {
              name: 'IP',
              type: 'string',
              description: 'Address of the workspace.',
              jsonPath: '.status.ip',
              priority: 1,
            },
            {
              name: 'Heartbeat',
              type: 'date',
              description: 'Time since its last sign of life.',
              jsonPath: '.status.lastHeartbeat',
              priority: 1,
            },
            {
              name: 'Ready',
              type: 'string',
              description: 'Why the agent is ready or not.',
              jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
              priority: 1,
            },
            {
              name: 'Age',
              type: 'date',
              jsonPath: '.metadata.creationTimestamp',
            },
          ],
          selectableFields: [
            {
              jsonPath: '.spec.team',
            },
            {
              jsonPath: '.spec.roleName',
            },
            {
              jsonPath: '.spec.role',
            },
            {
              jsonPath: '.status.phase',
            },
          ],
          schema: {
            openAPIV3Schema: {
              description:
                'An Agent is one worker of a Team with a workspace of its own. Teams make their Agents; one written by hand joins an existing Team inside its budget.',
              type: 'object',
              required: ['spec'],
              'x-kubernetes-validations': [
                {
                  rule: "size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",
                  message:
                    "the name of an Agent must be an RFC 1123 label; lower-case letters, digits and '-', at most 63 characters, no '.'",
                },
              ],
              properties: {
                apiVersion: {
                  description: 'Version of the schema this document is written in; agentiso.dev/v1alpha1.',
                  type: 'string',
                },
                kind: {
                  description: 'Kind of this document; Agent.',
                  type: 'string',
                },
                metadata: {
                  type: 'object',
                },
                spec: {
                  description: "What the agent should be. The Team's controller writes it; people do for an Agent made by hand.",
                  type: 'object',
                  required: ['team'],
                  properties: {
                    team: {
                      description: 'Name of the Team in the same namespace that the agent belongs to. Cannot change after creation.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                      'x-kubernetes-validations': [
                        {
                          rule: 'self == oldSelf',
                          message:
                            'team cannot change after creation; keep the old value, or delete the Agent and create it in the other team',
                        },
                      ],
                    },
                    desiredState: {
                      description:
                        'What the agent should do. Running (the default), Suspended keeps it in memory without running (sandbox and vm, and not while it holds a Task), Stopped ends it in good order and keeps its disk.',
                      type: 'string',
                      enum: ['Running', 'Suspended', 'Stopped'],
                      default: 'Running',
                    },
                    source: {
                      description:
                        'What the workspace begins as a copy of. Absent means what its team works on. Cannot change after creation.',
                      type: 'object',
                      required: ['agent', 'snapshot'],
                      'x-kubernetes-validations': [
                        {
                          rule: 'self == oldSelf',
                          message: 'what an agent began as cannot change; create another Agent',
                        },
                      ],
                      properties: {
                        agent: {
                          description: 'Full name of the Agent that it is a copy of.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                        },
                        snapshot: {
                          description: 'Name of the Snapshot of that agent.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                        },
                      },
                    },
                    restore: {
                      description:
                        "Takes the agent's files back to a Snapshot of its own, once. The agent is ended, its files are replaced, another run begins. Acted on again when at is another time.",
                      type: 'object',
                      required: ['snapshot', 'at'],
                      properties: {
                        snapshot: {
                          description: 'Name of the Snapshot.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                        },
                        at: {
                          description: 'When this was asked for; tells one restore from the next.',
                          type: 'string',
                          format: 'date-time',
                          maxLength: 64,
                        },
                      },
                    },
                    roleName: {
                      description: "Name of the entry in the Team's roles that the agent was made from. Absent for an Agent made by hand.",
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                    },
                    role: {
                      description:
                        'A free word for what the agent is, for example developer or reviewer. Absent means the name of the role.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[^\\x00-\\x1f\\x7f]+$',
                    },
                    description: {
                      description: 'What the agent should do and know. The agent is given this text and others see it on its card.',
                      type: 'string',
                      maxLength: 4096,
                    },
                    skills: {
                      description: 'What the agent is good at, for example rust or sql. Others find it by them.',
                      type: 'array',
                      maxItems: 64,
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 63,
                        pattern: '^[^\\x00-\\x1f\\x7f]+$',
                      },
                    },
                    backend: {
                      description:
                        'What does the work inside the workspace. shell (the default) only runs commands; the others are coding agents, acp is any agent that speaks the Agent Client Protocol.',
                      type: 'string',
                      enum: ['shell', 'claude-code', 'codex', 'gemini', 'qwen', 'droid', 'opencode', 'acp'],
                      default: 'shell',
                    },
                    fallback: {
                      description:
                        'Backend to use when the first one is not installed. Absent means none, and the agent then reports BackendMissing instead of starting.',
                      type: 'string',
                      nullable: true,
                      pattern: '^(shell|claude-code|codex|gemini|qwen|droid|opencode|acp)$',
                    },
                    model: {
                      description:
                        "Model the backend should use, by the backend's own name for it. Absent means the backend's configured model.",
                      type: 'string',
                      nullable: true,
                      minLength: 1,
                      maxLength: 256,
                      pattern: '^[^\\x00-\\x1f\\x7f]+$',
                    },
                    permissions: {
                      description:
                        'What the agent may do of what it asks about first. Some things are never allowed, whatever is said here: forced pushes, hard resets, recursive forced removals, writes to raw devices, destructive SQL, power-off, and changes of files outside the workspace. Absent means that everything else is allowed: the workspace is the boundary.',
                      type: 'object',
                      properties: {
                        rules: {
                          description: 'The first rule that fits decides. What none fits is denied.',
                          type: 'array',
                          maxItems: 64,
                          'x-kubernetes-list-type': 'atomic',
                          items: {
                            type: 'object',
                            required: ['action'],
                            properties: {
                              action: {
                                description: 'allow, deny, or ask the lead, who is a person where the team has no agent lead.',
                                type: 'string',
                                enum: ['allow', 'ask', 'deny'],
                              },
                              kind: {
                                description: 'What kind of thing the tool does. Absent means any.',
                                type: 'string',
                                enum: ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'],
                              },
                              tool: {
                                description: 'Name or title of the tool; * stands for anything. Absent means any.',
                                type: 'string',
                                minLength: 1,
                                maxLength: 256,
                              },
                              command: {
                                description:
                                  'Command line that the tool would run; * stands for anything. Absent means any, and tools that run none.',
                                type: 'string',
                                minLength: 1,
                                maxLength: 1024,
                              },
                            },
                          },
                        },
                        askSeconds: {
                          description: 'How long an answer may take, 1 to 1800 seconds. Then it is no. Default 300.',
                          type: 'integer',
                          minimum: 1,
                          maximum: 1800,
                          default: 300,
                        },
                      },
                    },
                    provider: {
                      description:
                        "Provider of models whose key the agent's requests are given, by its name in HOME/credentials.yaml. Absent means the backend's own: anthropic for claude-code, gemini for gemini, openai for codex, qwen, droid and opencode, none for shell and acp.",
                      type: 'string',
                      nullable: true,
                      maxLength: 63,
                      pattern: '^[a-z][a-z0-9-]*$',
                    },
                    budget: {
                      description:
                        'What the Tasks of the agent together may use, beside what their teams allow; each agent of a role has it for itself. Set aside when it claims a Task; what was not used is given back. With nothing left the agent gets no new Task, and what runs is frozen until it may use more.',
                      type: 'object',
                      properties: {
                        tokens: {
                          description:
                            'Tokens that the agent may use, of the question and of the answer, cached ones included. Absent means no limit.',
                          type: 'integer',
                          nullable: true,
                          minimum: 1,
                          maximum: 1000000000000,
                        },
                        usd: {
                          description:
                            'Money that the agent may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.',
                          type: 'string',
                          nullable: true,
                          maxLength: 16,
                          pattern: '^[0-9]{1,8}(\\.[0-9]{1,6})?$',
                        },
                        seconds: {
                          description:
                            "Wall time that the agent's Tasks may take, in seconds, time they were frozen left out. Absent means no limit.",
                          type: 'integer',
                          nullable: true,
                          minimum: 1,
                          maximum: 31536000,
                        },
                      },
                    },
                    maxConcurrentTasks: {
                      description: 'How many Tasks the agent may have in work at once, 1 to 64. Further ones wait on the board. Default 4.',
                      type: 'integer',
                      minimum: 1,
                      maximum: 64,
                      default: 4,
                    },
                    image: {
                      description:
                        'Image of the catalogue the workspace starts from, for example base, python, rust or agents. Default base, which has git and node.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                      default: 'base',
                    },
                    isolation: {
                      description:
                        'How strongly the workspace is kept apart from the machine. Filled in from the Team; what is absent follows the Team.',
                      type: 'object',
                      properties: {
                        driver: {
                          description: 'What runs the workspace. auto takes the strongest that works on this machine.',
                          type: 'string',
                          enum: ['auto', 'process', 'sandbox', 'vm'],
                        },
                        minimum: {
                          description: 'Weakest isolation that is acceptable. If the machine cannot give it, the agent does not start.',
                          type: 'string',
                          enum: ['process', 'sandbox', 'vm'],
                        },
                        requireLimits: {
                          description: 'If true, the agent starts only where limits on memory, processor and processes can be enforced.',
                          type: 'boolean',
                        },
                      },
                    },
                    resources: {
                      description: 'Size of the workspace. A change replaces the workspace when it has no running Task.',
                      type: 'object',
                      default: {},
                      properties: {
                        vcpus: {
                          description: 'Processor cores, 1 to 8. Default 2.',
                          type: 'integer',
                          minimum: 1,
                          maximum: 8,
                          default: 2,
                        },
                        memoryMiB: {
                          description: 'Memory in MiB, 64 to 8192. Default 512.',
                          type: 'integer',
                          minimum: 64,
                          maximum: 8192,
                          default: 512,
                        },
                        diskGiB: {
                          description: 'Disk in GiB, 1 to 100. Default 10.',
                          type: 'integer',
                          minimum: 1,
                          maximum: 100,
                          default: 10,
                        },
                      },
                    },
                    restartPolicy: {
                      description:
                        "What happens when the agent's process ends. OnFailure (the default) restarts it after an error, Always also after a clean end, Never leaves it stopped. The disk is kept.",
                      type: 'string',
                      enum: ['Always', 'OnFailure', 'Never'],
                      default: 'OnFailure',
                    },
                    envFrom: {
                      description:
                        'Secrets to pass in as environment variables. Only their names are written here; the values stay in memory.',
                      type: 'array',
                      maxItems: 64,
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['hostEnv'],
                      items: {
                        type: 'object',
                        required: ['hostEnv'],
                        properties: {
                          hostEnv: {
                            description:
                              'Name of an environment variable of the agentiso daemon. The agent gets it under the same name; if it is missing the agent does not start and says SecretMissing.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 128,
                            pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
                          },
                        },
                      },
                    },
                    portForwards: {
                      description: 'Ports of the workspace that are reachable on 127.0.0.1 of the machine.',
                      type: 'array',
                      maxItems: 32,
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['guestPort'],
                      items: {
                        type: 'object',
                        required: ['guestPort'],
                        properties: {
                          guestPort: {
                            description: 'TCP port inside the workspace, 1 to 65535.',
                            type: 'integer',
                            minimum: 1,
                            maximum: 65535,
                          },
                          hostPort: {
                            description:
                              "TCP port on 127.0.0.1, 1024 to 65535 and not one that agentiso itself uses. Absent means a free one from 30000 to 32767, shown in the agent's status.",
                            type: 'integer',
                            nullable: true,
                            minimum: 1024,
                            maximum: 65535,
                          },
                        },
                      },
                    },
                    inputSchema: {
                      description: 'JSON Schema of the input the agent accepts. Shown on its card; absent means any.',
                      type: 'object',
                      'x-kubernetes-preserve-unknown-fields': true,
                    },
                    outputSchema: {
                      description: 'JSON Schema of the output the agent gives. Shown on its card; absent means any.',
                      type: 'object',
                      'x-kubernetes-preserve-unknown-fields': true,
                    },
                  },
                },
                status: {
                  description: 'What the controllers have seen. Written by controllers only.',
                  type: 'object',
                  properties: {
                    phase: {
                      description:
                        'What the agent is doing. Pending before its workspace is made, Starting, Ready when idle, Working on a Task, Suspended, Stopping, Stopped, or Failed.',
                      type: 'string',
                      enum: ['Pending', 'Starting', 'Ready', 'Working', 'Suspended', 'Stopping', 'Stopped', 'Failed'],
                    },
                    currentTasks: {
                      description: 'Names of the Tasks it has claimed or is running.',
                      type: 'array',
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                      },
                    },
                    progress: {
                      description: 'What the agent last said about its work.',
                      type: 'object',
                      properties: {
                        text: {
                          description: 'Its own words.',
                          type: 'string',
                        },
                        time: {
                          description: 'When it said so.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    backend: {
                      description: 'Backend really in use. Differs from spec.backend when the fallback stepped in.',
                      type: 'string',
                    },
                    isolation: {
                      description: 'Isolation that is really in force, whatever was asked for.',
                      type: 'object',
                      properties: {
                        driver: {
                          description: 'What runs the workspace; process, sandbox or vm.',
                          type: 'string',
                        },
                        accel: {
                          description: 'How a vm runs its processor, kvm (fast) or tcg (emulated). Absent for the other drivers.',
                          type: 'string',
                        },
                        transport: {
                          description: 'How the daemon reaches a vm that runs, virtio-serial or vsock. Absent for the other drivers.',
                          type: 'string',
                        },
                        network: {
                          description: 'How network rules are enforced, for example nftables, proxy-only or none.',
                          type: 'string',
                        },
                        limits: {
                          description:
                            'How limits on memory, processor and processes are enforced, for example cgroup2, cgroup1, prlimit or none.',
                          type: 'string',
                        },
                      },
                    },
                    incarnation: {
                      description: 'Id of the present run, a UUID. New at every start; leases and tokens of older runs are void.',
                      type: 'string',
                    },
                    workspaceId: {
                      description: 'Id of the workspace, which is the uid of this Agent.',
                      type: 'string',
                    },
                    pid: {
                      description: 'Process id of the workspace on the machine.',
                      type: 'integer',
                      minimum: 0,
                    },
                    ip: {
                      description: 'Address of the workspace. Absent if it has none of its own.',
                      type: 'string',
                    },
                    endpoints: {
                      description: 'Where the agent can really be reached. What is not bound is not listed.',
                      type: 'object',
                      properties: {
                        http: {
                          description: 'Address of its HTTP interface for the other agents. Absent when they cannot reach it.',
                          type: 'string',
                          nullable: true,
                        },
                        relayPort: {
                          description: 'Port of the message relay channel.',
                          type: 'integer',
                        },
                        portForwards: {
                          description: 'Port forwards in force.',
                          type: 'array',
                          'x-kubernetes-list-type': 'map',
                          'x-kubernetes-list-map-keys': ['guestPort'],
                          items: {
                            type: 'object',
                            required: ['guestPort', 'hostPort'],
                            properties: {
                              guestPort: {
                                description: 'TCP port inside the workspace.',
                                type: 'integer',
                              },
                              hostPort: {
                                description: 'TCP port on 127.0.0.1 that leads there.',
                                type: 'integer',
                              },
                            },
                          },
                        },
                      },
                    },
                    startedAt: {
                      description: 'When the present run started.',
                      type: 'string',
                      format: 'date-time',
                    },
                    startedWith: {
                      description:
                        'What the present run was started with. When the spec asks for something else, another run follows as soon as the agent holds no Task.',
                      type: 'object',
                      properties: {
                        image: {
                          description: 'Image of the catalogue.',
                          type: 'string',
                        },
                        vcpus: {
                          description: 'Virtual processors.',
                          type: 'integer',
                        },
                        memoryMiB: {
                          description: 'Memory in MiB.',
                          type: 'integer',
                        },
                        diskGiB: {
                          description: 'Disk in GiB.',
                          type: 'integer',
                        },
                      },
                    },
                    restarts: {
                      description: 'How often the agent was started again after it had ended by itself.',
                      type: 'integer',
                      minimum: 0,
                    },
                    lastHeartbeat: {
                      description:
                        'Last sign of life from its supervisor, sent every 10 seconds. After 30 seconds without one the agent counts as dead.',
                      type: 'string',
                      format: 'date-time',
                    },
                    lastActivity: {
                      description: 'When the agent last called a tool, wrote a message or changed a Task.',
                      type: 'string',
                      format: 'date-time',
                    },
                    messagesPending: {
                      description: 'Messages in its inbox that it has not acknowledged.',
                      type: 'integer',
                      minimum: 0,
                    },
                    mailbox: {
                      description: 'State of its inbox.',
                      type: 'object',
                      properties: {
                        nextSeq: {
                          description: 'Number the next message will get. The first is 1.',
                          type: 'integer',
                          minimum: 0,
                        },
                        ackedSeq: {
                          description: 'All messages up to this number are acknowledged.',
                          type: 'integer',
                          minimum: 0,
                        },
                        unacked: {
                          description: 'Messages not acknowledged. At 100 the inbox is full and further messages are refused.',
                          type: 'integer',
                          minimum: 0,
                        },
                        oldestUnackedAt: {
                          description: 'When the oldest of them arrived.',
                          type: 'string',
                          format: 'date-time',
                          nullable: true,
                        },
                        deadLetters: {
                          description:
                            'Messages given up, because they stayed unacknowledged for 24 hours or belonged to an older attempt.',
                          type: 'integer',
                          minimum: 0,
                        },
                      },
                    },
                    git: {
                      description: 'State of the repository in its workspace.',
                      type: 'object',
                      properties: {
                        forkBase: {
                          description: 'Commit the workspace started from. Merges take what came after it.',
                          type: 'string',
                        },
                        branch: {
                          description: 'Branch the agent works on.',
                          type: 'string',
                        },
                        head: {
                          description: "Last commit of it that the team's repository has.",
                          type: 'string',
                        },
                        wip: {
                          description: 'Commit that holds what was not committed at the last look. Absent when nothing was.',
                          type: 'string',
                        },
                        savedAt: {
                          description: 'When its work was last brought to safety.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    source: {
                      description: 'What the workspace really began as a copy of.',
                      type: 'object',
                      properties: {
                        agent: {
                          description: 'Full name of the Agent. Absent when it is the snapshot that the team has prepared.',
                          type: 'string',
                        },
                        snapshot: {
                          description: 'Name of the Snapshot.',
                          type: 'string',
                        },
                        commit: {
                          description: 'Commit that agent was at; the work of this one begins there.',
                          type: 'string',
                        },
                      },
                    },
                    restored: {
                      description: 'The last restore that was carried out.',
                      type: 'object',
                      properties: {
                        snapshot: {
                          description: 'Name of the Snapshot.',
                          type: 'string',
                        },
                        at: {
                          description: 'When it was asked for.',
                          type: 'string',
                          format: 'date-time',
                        },
                        time: {
                          description: 'When it was carried out.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    conflicts: {
                      description:
                        "Team mates whose branches do not fit with its own, as of the commits that the team's repository has of both. Tasks that declare these files wait while others can run. Absent when all fit.",
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['agent'],
                      items: {
                        type: 'object',
                        required: ['agent', 'files'],
                        properties: {
                          agent: {
                            description: 'Short name of the team mate.',
                            type: 'string',
                          },
                          files: {
                            description: 'Files that do not fit, the first 100 of them.',
                            type: 'array',
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                            },
                          },
                        },
                      },
                    },
                    shutdown: {
                      description: "The agent's answer when it was asked to stop. It is kept for the record and does not prevent the stop.",
                      type: 'object',
                      properties: {
                        answer: {
                          description: 'What it answered; Accepted, Deferred or Refused. Absent while it has not answered.',
                          type: 'string',
                          enum: ['Accepted', 'Deferred', 'Refused'],
                        },
                        reason: {
                          description: 'Why, in its own words.',
                          type: 'string',
                        },
                        requestedAt: {
                          description: 'When it was asked.',
                          type: 'string',
                          format: 'date-time',
                        },
                        deadline: {
                          description: 'When it is killed at the latest.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    rescued: {
                      description: "Git ref of the team's repository that holds work which was not merged when the workspace was removed.",
                      type: 'string',
                    },
                    spending: {
                      description:
                        "What of the agent's tokens, money and time is used or set aside. Absent while the agent has no such limit.",
                      type: 'object',
                      properties: {
                        used: {
                          description: 'What Tasks that it has not claimed any more have used, deleted ones included.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Used in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Used in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Used in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        reserved: {
                          description: 'What is set aside for Tasks that it has claimed.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Set aside in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Set aside in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Set aside in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        remaining: {
                          description: 'What may still be set aside. Absent where there is no limit.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Left in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Left in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Left in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        claims: {
                          description: 'What is set aside for which Task.',
                          type: 'array',
                          'x-kubernetes-list-type': 'map',
                          'x-kubernetes-list-map-keys': ['uid'],
                          items: {
                            type: 'object',
                            required: ['uid', 'task'],
                            properties: {
                              uid: {
                                description: 'Uid of the Task.',
                                type: 'string',
                              },
                              task: {
                                description: 'Its name.',
                                type: 'string',
                              },
                              reserved: {
                                description: 'What is set aside for it in this claim.',
                                type: 'object',
                                properties: {
                                  tokens: {
                                    description: 'Set aside in tokens.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                  usd: {
                                    description: 'Set aside in US dollars.',
                                    type: 'string',
                                  },
                                  seconds: {
                                    description: 'Set aside in seconds.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                },
                              },
                              before: {
                                description: 'What it had used before this claim.',
                                type: 'object',
                                properties: {
                                  tokens: {
                                    description: 'Used before in tokens.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                  usd: {
                                    description: 'Used before in US dollars.',
                                    type: 'string',
                                  },
                                  seconds: {
                                    description: 'Used before in seconds.',
                                    type: 'integer',
                                    minimum: 0,
                                  },
                                },
                              },
                            },
                          },
                        },
                      },
                    },
                    conditions: {
                      description:
                        'What is true of the agent now, and why. WorkspaceReady, NetworkReady and RelayReady together make Ready; InboxFull is True while its inbox takes no more messages.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['type'],
                      items: {
                        type: 'object',
                        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
                        properties: {
                          type: {
                            description: 'Name of the condition.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 316,
                          },
                          status: {
                            description: 'Whether it holds; True, False or Unknown.',
                            type: 'string',
                            enum: ['True', 'False', 'Unknown'],
                          },
                          reason: {
                            description: 'One word that says why, for programs.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 1024,
                            pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
                          },
                          message: {
                            description: 'A sentence that says why, for people. May be empty.',
                            type: 'string',
                            maxLength: 32768,
                          },
                          lastTransitionTime: {
                            description: 'When status last changed.',
                            type: 'string',
                            format: 'date-time',
                          },
                          observedGeneration: {
                            description: 'Generation of the spec this was seen for.',
                            type: 'integer',
                            minimum: 0,
                          },
                        },
                      },
                    },
                    observedGeneration: {
                      description: 'Generation of the spec that the whole status was computed for.',
                      type: 'integer',
                      minimum: 0,
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'tasks.agentiso.dev',
    },
    spec: {
      group: 'agentiso.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Task',
        listKind: 'TaskList',
        plural: 'tasks',
        singular: 'task',
        shortNames: ['tk'],
        categories: ['all', 'agentiso'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: {
            status: {},
          },
          additionalPrinterColumns: [
            {
              name: 'Team',
              type: 'string',
              description: 'The team whose board the Task is on.',
              jsonPath: '.spec.team',
            },
            {
              name: 'Phase',
              type: 'string',
              description: 'How far the Task is.',
              jsonPath: '.status.phase',
            },
            {
              name: 'Owner',
              type: 'string',
              description: 'Agent that works on it or did.',
              jsonPath: '.status.owner',
            },
            {
              name: 'Priority',
              type: 'integer',
              description: '1 is first, 5 is last.',
              jsonPath: '.spec.priority',
            },
            {
              name: 'Attempt',
              type: 'integer',
              description: 'Number of the present or last attempt.',
              jsonPath: '.status.attempt',
            },
            {
              name: 'Reason',
              type: 'string',
              description: 'Why it is blocked or failed.',
              jsonPath: '.status.reason',
            },
            {
              name: 'Assigned to',
              type: 'string',
              description: 'Agent or role it is meant for.',
              jsonPath: '.spec.assignTo',
              priority: 1,
            },
            {
              name: 'Blocked by',
              type: 'string',
              description: 'Tasks it waits for.',
              jsonPath: '.status.blockedBy',
              priority: 1,
            },
            {
              name: 'Exit',
              type: 'integer',
              description: 'Exit code of the last attempt.',
              jsonPath: '.status.result.exitCode',
              priority: 1,
            },
            {
              name: 'Title',
              type: 'string',
              description: 'What it is about.',
              jsonPath: '.spec.title',
              priority: 1,
            },
            {
              name: 'Age',
              type: 'date',
              jsonPath: '.metadata.creationTimestamp',
            },
          ],
          selectableFields: [
            {
              jsonPath: '.spec.team',
            },
            {
              jsonPath: '.spec.assignTo',
            },
            {
              jsonPath: '.status.phase',
            },
            {
              jsonPath: '.status.owner',
            },
          ],
          schema: {
            openAPIV3Schema: {
              description:
                'A Task is one piece of work on the board of a Team. An agent claims it when everything it depends on has succeeded, and runs its command or follows its prompt.',
              type: 'object',
              required: ['spec'],
              'x-kubernetes-validations': [
                {
                  rule: "size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",
                  message:
                    "the name of a Task must be an RFC 1123 label; lower-case letters, digits and '-', at most 63 characters, no '.'",
                },
                {
                  rule: "!has(self.spec.dependsOn) || !self.spec.dependsOn.exists(d, d == self.metadata.name || self.spec.team + '-' + d == self.metadata.name)",
                  message: 'a Task cannot depend on itself; remove its own name from dependsOn',
                  fieldPath: '.spec.dependsOn',
                },
              ],
              properties: {
                apiVersion: {
                  description: 'Version of the schema this document is written in; agentiso.dev/v1alpha1.',
                  type: 'string',
                },
                kind: {
                  description: 'Kind of this document; Task.',
                  type: 'string',
                },
                metadata: {
                  type: 'object',
                },
                spec: {
                  description: 'What is to be done. People, leads and orchestrators write it.',
                  type: 'object',
                  required: ['team'],
                  'x-kubernetes-validations': [
                    {
                      rule: 'has(self.command) != has(self.prompt)',
                      message: 'set exactly one of command (run as a shell command) and prompt (given to the agent)',
                    },
                  ],
                  properties: {
                    team: {
                      description: 'Name of the Team in the same namespace whose agents do the Task. Cannot change after creation.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                      'x-kubernetes-validations': [
                        {
                          rule: 'self == oldSelf',
                          message:
                            'team cannot change after creation; keep the old value, or delete the Task and create it in the other team',
                        },
                      ],
                    },
                    title: {
                      description: 'What the Task is about, in one line. Absent means its name is shown.',
                      type: 'string',
                      maxLength: 256,
                      pattern: '^[^\\x00-\\x1f\\x7f]*$',
                    },
                    description: {
                      description: 'What is to be done and why, as text or Markdown. Shown on the board and given to the agent.',
                      type: 'string',
                      maxLength: 262144,
                    },
                    acceptanceCriteria: {
                      description:
                        'What must be true when the Task is done, one sentence each. For readers; verify holds what a machine can check.',
                      type: 'array',
                      maxItems: 64,
                      'x-kubernetes-list-type': 'atomic',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 2048,
                      },
                    },
                    assignTo: {
                      description:
                        'Agent or role that should do it, by short or full name. Absent means any agent of the team may claim it.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                    },
                    skills: {
                      description: 'Skills an agent must have to do it, all of them. Absent means any agent that assignTo allows.',
                      type: 'array',
                      maxItems: 16,
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 63,
                        pattern: '^[^\\x00-\\x1f\\x7f]+$',
                      },
                    },
                    priority: {
                      description:
                        'Order among Tasks that could start, 1 (first) to 5 (last). Equal ones start in order of creation. Default 3.',
                      type: 'integer',
                      minimum: 1,
                      maximum: 5,
                      default: 3,
                    },
                    dependsOn: {
                      description:
                        'Tasks of the same team that must have succeeded before this one may start, by short or full name. Until then it is Blocked.',
                      type: 'array',
                      maxItems: 100,
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 63,
                        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                      },
                    },
                    command: {
                      description:
                        'Shell command to run in the workspace. Exit code 0 is success. Set either this or prompt. {{tasks.NAME.result.stdout}} (also stderr, exitCode, commit) stands for what a Task of dependsOn gave; here it is always one word and never code. Write {{"{{"}} for two braces as they are.',
                      type: 'string',
                      nullable: true,
                      minLength: 1,
                      maxLength: 32768,
                      pattern: '^[^\\x00]*$',
                    },
                    prompt: {
                      description:
                        "Text to give to the agent's backend, at most 100 KiB. Set either this or command. {{tasks.NAME.result.stdout}} and its like are replaced by the text as it is.",
                      type: 'string',
                      nullable: true,
                      minLength: 1,
                      maxLength: 102400,
                      pattern: '^[^\\x00-\\x08\\x0b-\\x1f\\x7f]*$',
                    },
                    promptMode: {
                      description:
                        'How a prompt is given to the agent. Session, which is meant when it is absent, opens a session of the Agent Client Protocol, OneShot starts the program for one answer.',
                      type: 'string',
                      enum: ['Session', 'OneShot'],
                    },
                    verify: {
                      description:
                        'Shell commands that must all exit with 0, run in a fresh workspace at the commit of the result. Only then does the Task succeed. All together get timeoutSeconds; they see the environment of the Task and no network.',
                      type: 'array',
                      maxItems: 64,
                      'x-kubernetes-list-type': 'atomic',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 32768,
                        pattern: '^[^\\x00]*$',
                      },
                    },
                    workdir: {
                      description: 'Folder to run in, at or below /workspace. Default /workspace.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 4096,
                      pattern: '^/[^\\x00]*$',
                      default: '/workspace',
                    },
                    env: {
                      description: "Plain environment variables for this Task. Not for secrets, which belong in the role's envFrom.",
                      type: 'object',
                      maxProperties: 128,
                      'x-kubernetes-validations': [
                        {
                          rule: "self.all(k, k.matches('^[A-Za-z_][A-Za-z0-9_]*$'))",
                          message: "a variable name starts with a letter or '_' and goes on with letters, digits or '_'",
                        },
                      ],
                      additionalProperties: {
                        type: 'string',
                        maxLength: 32768,
                        pattern: '^[^\\x00]*$',
                      },
                    },
                    timeoutSeconds: {
                      description:
                        'Longest time one attempt may take, in seconds, 1 to 1800. Then everything it started is killed. Absent means 300 for a command and 1800 for a prompt.',
                      type: 'integer',
                      minimum: 1,
                      maximum: 1800,
                    },
                    maxAttempts: {
                      description: 'How often the Task is tried before it is Failed, 1 to 100. Attempts are some seconds apart. Default 3.',
                      type: 'integer',
                      minimum: 1,
                      maximum: 100,
                      default: 3,
                    },
                    budget: {
                      description:
                        "What the Task may use in all its attempts together. What it may use is set aside from its team's budget when it is claimed, and what it has not used is given back. A running Task that has used it up is frozen until it may use more.",
                      type: 'object',
                      properties: {
                        tokens: {
                          description:
                            'Tokens that the Task may use, of the question and of the answer, cached ones included. Absent means no limit.',
                          type: 'integer',
                          nullable: true,
                          minimum: 1,
                          maximum: 1000000000000,
                        },
                        usd: {
                          description:
                            'Money that the Task may cost, in US dollars as text, for example "2.50": a number would not be exact. Counted only for models that have a price in HOME/credentials.yaml. Absent means no limit.',
                          type: 'string',
                          nullable: true,
                          maxLength: 16,
                          pattern: '^[0-9]{1,8}(\\.[0-9]{1,6})?$',
                        },
                        seconds: {
                          description: 'Wall time that the Task may take, in seconds, time it was frozen left out. Absent means no limit.',
                          type: 'integer',
                          nullable: true,
                          minimum: 1,
                          maximum: 31536000,
                        },
                      },
                    },
                    planRequired: {
                      description: 'If true, the agent first submits a plan and works only after the lead has approved it. Default false.',
                      type: 'boolean',
                      default: false,
                    },
                    stuckPolicy: {
                      description:
                        'What happens when the Task runs far longer than others without progress. Report (the default) only tells the lead, Reassign also gives it to another agent.',
                      type: 'string',
                      enum: ['Report', 'Reassign'],
                      default: 'Report',
                    },
                    files: {
                      description:
                        'Glob patterns of the files the Task will touch, relative to the workspace. Running Tasks that overlap are marked. One that may touch files in which branches of its team do not fit waits while others can run.',
                      type: 'array',
                      maxItems: 256,
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 1024,
                        pattern: '^[^\\x00-\\x1f\\x7f]+$',
                      },
                    },
                    tags: {
                      description: 'Free words to sort and find Tasks by.',
                      type: 'array',
                      maxItems: 64,
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 63,
                        pattern: '^[^\\x00-\\x1f\\x7f]+$',
                      },
                    },
                    retry: {
                      description:
                        'Raise it by one to try a Task that has Failed once more, with all its attempts. Tasks that wait for it go on if it succeeds then. Default 0.',
                      type: 'integer',
                      minimum: 0,
                      maximum: 1000000,
                      default: 0,
                    },
                    request: {
                      description:
                        'Makes the Task an open request to the team. Nobody is assigned to it; any agent but the one that asks may claim it. Nobody has claimed it in time, and it is Failed with reason RequestExpired.',
                      type: 'object',
                      required: ['by'],
                      properties: {
                        by: {
                          description: 'Who asks, by short name; orchestrator for people.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                        },
                        timeoutSeconds: {
                          description: 'Seconds from its creation until it must be claimed, 1 to 86400. Default 30.',
                          type: 'integer',
                          minimum: 1,
                          maximum: 86400,
                          default: 30,
                        },
                      },
                    },
                    cancelled: {
                      description:
                        'Set to true to give the Task up. A running attempt is killed and the Task ends as Failed with reason Cancelled.',
                      type: 'boolean',
                      default: false,
                    },
                    ttlSecondsAfterFinished: {
                      description: 'Seconds after its end when the Task is deleted. Absent means it stays as long as the team.',
                      type: 'integer',
                      nullable: true,
                      minimum: 0,
                      maximum: 31536000,
                    },
                  },
                },
                status: {
                  description: 'What the controllers have seen. Written by controllers only.',
                  type: 'object',
                  properties: {
                    phase: {
                      description:
                        'How far the Task is. Pending, Blocked (waits for other Tasks or a decision), Claimed by an agent, Running, Succeeded, or Failed for good.',
                      type: 'string',
                      enum: ['Pending', 'Claimed', 'Running', 'Blocked', 'Succeeded', 'Failed'],
                    },
                    reason: {
                      description: 'One word for why it is Blocked or Failed, for example DependenciesPending or MaxAttempts.',
                      type: 'string',
                    },
                    owner: {
                      description: 'Full name of the Agent that has claimed it, or finished it, for example hello-greeter.',
                      type: 'string',
                    },
                    ownerIncarnation: {
                      description:
                        'Run of that agent the claim was made for. If the agent restarts, the next run says what became of the attempt.',
                      type: 'string',
                    },
                    attempt: {
                      description: 'Number of the present or last attempt. 0 before the first claim.',
                      type: 'integer',
                      minimum: 0,
                    },
                    failures: {
                      description:
                        'How many attempts failed or were lost. At maxAttempts the Task is Failed. Attempts that were cut off on purpose, by a stop of the daemon or of the agent, or because the Task was reassigned, are not counted.',
                      type: 'integer',
                      minimum: 0,
                    },
                    retries: {
                      description: 'The value of spec.retry that was last acted on.',
                      type: 'integer',
                      minimum: 0,
                    },
                    claim: {
                      description:
                        'How the owner came to it. Assigned by the controller, which also starts the command; or Pulled by the agent itself, which then says when it is done.',
                      type: 'string',
                      enum: ['Assigned', 'Pulled'],
                    },
                    fencingToken: {
                      description: 'Number that rises with every claim. A result that carries an older one is refused.',
                      type: 'integer',
                      minimum: 0,
                    },
                    lease: {
                      description: "The owner's claim for a limited time. If it is not renewed the Task goes back to Pending.",
                      type: 'object',
                      properties: {
                        holder: {
                          description: 'Incarnation of the agent that holds it.',
                          type: 'string',
                        },
                        renewTime: {
                          description:
                            'When the claim was made or, once its holder has fallen silent, last renewed. Heartbeats renew it every 10 seconds, in memory.',
                          type: 'string',
                          format: 'date-time',
                        },
                        expires: {
                          description:
                            'When it ends unless renewed, 30 seconds after renewTime. Both are written with the claim, and again when its holder falls silent.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    blockedBy: {
                      description: 'Tasks of dependsOn that have not succeeded yet.',
                      type: 'array',
                      'x-kubernetes-list-type': 'set',
                      items: {
                        type: 'string',
                      },
                    },
                    createdBy: {
                      description: 'Who created the Task, taken from the connection it came in on.',
                      type: 'string',
                    },
                    startedAt: {
                      description: 'When the present or last attempt started.',
                      type: 'string',
                      format: 'date-time',
                    },
                    notBefore: {
                      description: 'A provider wants no more before this time. Until then the Task is Pending with reason RateLimited.',
                      type: 'string',
                      format: 'date-time',
                    },
                    finishedAt: {
                      description: 'When the Task reached Succeeded or Failed.',
                      type: 'string',
                      format: 'date-time',
                    },
                    progress: {
                      description: 'What the owner last said about the Task.',
                      type: 'object',
                      properties: {
                        text: {
                          description: 'Its own words.',
                          type: 'string',
                        },
                        time: {
                          description: 'When it said so.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    plan: {
                      description: 'The plan of a Task with planRequired. Whether it is approved is the condition PlanApproved.',
                      type: 'object',
                      properties: {
                        round: {
                          description: 'Number of the plan submitted, 1 to 3. A third refusal fails the Task.',
                          type: 'integer',
                          minimum: 0,
                        },
                        text: {
                          description: 'The plan.',
                          type: 'string',
                        },
                        submittedAt: {
                          description: 'When it was submitted. It must be answered within 10 minutes.',
                          type: 'string',
                          format: 'date-time',
                        },
                        feedback: {
                          description: 'What the lead answered.',
                          type: 'string',
                        },
                        enforced: {
                          description: 'True if the workspace is really read-only until approval, false if the driver cannot do that.',
                          type: 'boolean',
                        },
                      },
                    },
                    verification: {
                      description: 'What the commands of verify gave, for the last attempt that came so far.',
                      type: 'object',
                      properties: {
                        attempt: {
                          description: 'Attempt that was verified.',
                          type: 'integer',
                          minimum: 0,
                        },
                        commit: {
                          description:
                            'Commit they ran at. Absent if the workspace is no git repository; then they ran in a copy of its files.',
                          type: 'string',
                        },
                        passed: {
                          description: 'True if all of them exited with 0.',
                          type: 'boolean',
                        },
                        commands: {
                          description: 'One entry per command that ran. The first that fails is the last.',
                          type: 'array',
                          'x-kubernetes-list-type': 'atomic',
                          items: {
                            type: 'object',
                            required: ['command', 'exitCode'],
                            properties: {
                              command: {
                                description: 'The command.',
                                type: 'string',
                              },
                              exitCode: {
                                description: 'Its exit code. -1 means it timed out or could not start.',
                                type: 'integer',
                              },
                              output: {
                                description: 'The end of what it printed.',
                                type: 'string',
                              },
                            },
                          },
                        },
                      },
                    },
                    budget: {
                      description: 'What the Task has used, and may use. Absent while nothing of it is counted.',
                      type: 'object',
                      properties: {
                        used: {
                          description: 'What all its attempts have used so far.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Used in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Used in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Used in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                            unpricedTokens: {
                              description: 'Of its tokens, those of models that have no price; they are not in usd.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        reserved: {
                          description:
                            'What it may use in all, as far as it is set aside. Absent while it is not claimed, and where there is no limit.',
                          type: 'object',
                          properties: {
                            tokens: {
                              description: 'Set aside in tokens.',
                              type: 'integer',
                              minimum: 0,
                            },
                            usd: {
                              description: 'Set aside in US dollars.',
                              type: 'string',
                            },
                            seconds: {
                              description: 'Set aside in seconds.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        frozenSeconds: {
                          description: 'How long the present attempt was frozen, before it was last thawed.',
                          type: 'integer',
                          minimum: 0,
                        },
                      },
                    },
                    result: {
                      description: 'What the last finished attempt gave.',
                      type: 'object',
                      properties: {
                        exitCode: {
                          description: 'Exit code. 0 is success, -1 means it was killed at its time limit or could not start.',
                          type: 'integer',
                        },
                        stdout: {
                          description:
                            'Standard output, or the last text of the agent. Cut to keep the object small; the whole is an artifact.',
                          type: 'string',
                        },
                        stderr: {
                          description: 'Standard error. Cut to keep the object small; the whole is an artifact.',
                          type: 'string',
                        },
                        truncated: {
                          description: 'True if stdout or stderr was cut.',
                          type: 'boolean',
                        },
                        elapsedSeconds: {
                          description: 'How long the attempt took, in seconds.',
                          type: 'number',
                          minimum: 0,
                        },
                        commit: {
                          description: 'Commit that holds the work. Absent if nothing was committed.',
                          type: 'string',
                        },
                        sourceMessageId: {
                          description: 'Id of the message that assigned the attempt.',
                          type: 'string',
                        },
                        stopReason: {
                          description:
                            "Of a prompt, why the agent's last turn ended, by the word of the Agent Client Protocol, for example end_turn.",
                          type: 'string',
                        },
                        sessionId: {
                          description: "Of a prompt, the agent's own name for the session.",
                          type: 'string',
                        },
                        evidence: {
                          description: "Of a prompt, the traces that the agent's work has left. Without any the attempt has failed.",
                          type: 'object',
                          properties: {
                            toolCalls: {
                              description: 'How many tools it called.',
                              type: 'integer',
                              minimum: 0,
                            },
                            filesChanged: {
                              description: 'How many files of the workspace are different from before.',
                              type: 'integer',
                              minimum: 0,
                            },
                          },
                        },
                        usage: {
                          description: 'Of a prompt, what the agent says it has used. Absent if it says nothing.',
                          type: 'object',
                          properties: {
                            inputTokens: {
                              description: 'Tokens that the model has read.',
                              type: 'integer',
                              minimum: 0,
                            },
                            outputTokens: {
                              description: 'Tokens that the model has written.',
                              type: 'integer',
                              minimum: 0,
                            },
                            contextTokens: {
                              description: "Tokens that were in the agent's context at last.",
                              type: 'integer',
                              minimum: 0,
                            },
                            costUsd: {
                              description: 'What the agent reckons it cost, in US dollars.',
                              type: 'number',
                              minimum: 0,
                            },
                          },
                        },
                        artifacts: {
                          description: 'Files kept with the Task, such as full logs.',
                          type: 'array',
                          'x-kubernetes-list-type': 'map',
                          'x-kubernetes-list-map-keys': ['name'],
                          items: {
                            type: 'object',
                            required: ['name'],
                            properties: {
                              name: {
                                description: 'Name of the artifact, unique in the Task.',
                                type: 'string',
                              },
                              path: {
                                description: 'Where it is kept, below the artifacts folder of the team.',
                                type: 'string',
                              },
                              sizeBytes: {
                                description: 'Size in bytes.',
                                type: 'integer',
                                minimum: 0,
                              },
                            },
                          },
                        },
                      },
                    },
                    notes: {
                      description: 'Remarks of agents, oldest first.',
                      type: 'array',
                      'x-kubernetes-list-type': 'atomic',
                      items: {
                        type: 'object',
                        required: ['text'],
                        properties: {
                          time: {
                            description: 'When it was written.',
                            type: 'string',
                            format: 'date-time',
                          },
                          author: {
                            description: 'Who wrote it, taken from the connection it came in on.',
                            type: 'string',
                          },
                          text: {
                            description: 'The remark.',
                            type: 'string',
                          },
                        },
                      },
                    },
                    conditions: {
                      description:
                        'What is true of the Task now, and why. Ready means it can be claimed; PlanApproved, Verified, Stuck and FileOverlap appear where they apply.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['type'],
                      items: {
                        type: 'object',
                        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
                        properties: {
                          type: {
                            description: 'Name of the condition.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 316,
                          },
                          status: {
                            description: 'Whether it holds; True, False or Unknown.',
                            type: 'string',
                            enum: ['True', 'False', 'Unknown'],
                          },
                          reason: {
                            description: 'One word that says why, for programs.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 1024,
                            pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
                          },
                          message: {
                            description: 'A sentence that says why, for people. May be empty.',
                            type: 'string',
                            maxLength: 32768,
                          },
                          lastTransitionTime: {
                            description: 'When status last changed.',
                            type: 'string',
                            format: 'date-time',
                          },
                          observedGeneration: {
                            description: 'Generation of the spec this was seen for.',
                            type: 'integer',
                            minimum: 0,
                          },
                        },
                      },
                    },
                    observedGeneration: {
                      description: 'Generation of the spec that the whole status was computed for.',
                      type: 'integer',
                      minimum: 0,
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'merges.agentiso.dev',
    },
    spec: {
      group: 'agentiso.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Merge',
        listKind: 'MergeList',
        plural: 'merges',
        singular: 'merge',
        shortNames: ['mg'],
        categories: ['all', 'agentiso'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: {
            status: {},
          },
          additionalPrinterColumns: [
            {
              name: 'Team',
              type: 'string',
              description: 'The team whose work is merged.',
              jsonPath: '.spec.team',
            },
            {
              name: 'Phase',
              type: 'string',
              description: 'How far the merge is.',
              jsonPath: '.status.phase',
            },
            {
              name: 'Into',
              type: 'string',
              description: 'Branch that receives the work.',
              jsonPath: '.spec.target.branch',
            },
            {
              name: 'Commits',
              type: 'integer',
              description: 'Commits applied to the target.',
              jsonPath: '.status.totalCommitsApplied',
            },
            {
              name: 'Place',
              type: 'integer',
              description: 'Place in the queue of its target.',
              jsonPath: '.status.position',
            },
            {
              name: 'Waits for',
              type: 'string',
              description: 'What it waits for.',
              jsonPath: '.status.waitsFor',
            },
            {
              name: 'Reason',
              type: 'string',
              description: 'Why it failed.',
              jsonPath: '.status.reason',
            },
            {
              name: 'Strategy',
              type: 'string',
              description: 'How the work is joined.',
              jsonPath: '.spec.strategy',
              priority: 1,
            },
            {
              name: 'Target agent',
              type: 'string',
              description: 'Agent whose repository receives the work.',
              jsonPath: '.spec.target.agent',
              priority: 1,
            },
            {
              name: 'Before',
              type: 'string',
              description: 'Commit of the target before.',
              jsonPath: '.status.targetBefore',
              priority: 1,
            },
            {
              name: 'After',
              type: 'string',
              description: 'Commit of the target after.',
              jsonPath: '.status.targetAfter',
              priority: 1,
            },
            {
              name: 'Age',
              type: 'date',
              jsonPath: '.metadata.creationTimestamp',
            },
          ],
          selectableFields: [
            {
              jsonPath: '.spec.team',
            },
            {
              jsonPath: '.status.phase',
            },
          ],
          schema: {
            openAPIV3Schema: {
              description:
                'A Merge brings the commits of one or more agents into one place. The target moves only when everything fits and is verified; a conflict is reported and changes nothing.',
              type: 'object',
              required: ['spec'],
              'x-kubernetes-validations': [
                {
                  rule: "size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",
                  message:
                    "the name of a Merge must be an RFC 1123 label; lower-case letters, digits and '-', at most 63 characters, no '.'",
                },
              ],
              properties: {
                apiVersion: {
                  description: 'Version of the schema this document is written in; agentiso.dev/v1alpha1.',
                  type: 'string',
                },
                kind: {
                  description: 'Kind of this document; Merge.',
                  type: 'string',
                },
                metadata: {
                  type: 'object',
                },
                spec: {
                  description: 'What is to be merged, and how.',
                  type: 'object',
                  required: ['team', 'sources', 'target'],
                  'x-kubernetes-validations': [
                    {
                      rule: "!has(self.target.agent) || self.sources.all(s, s.agent != self.target.agent && self.team + '-' + s.agent != self.target.agent && self.team + '-' + self.target.agent != s.agent)",
                      message: 'an agent cannot be both a source and the target; remove it from sources or choose another target',
                      fieldPath: '.sources',
                    },
                  ],
                  properties: {
                    team: {
                      description: 'Name of the Team in the same namespace whose work is merged. Cannot change after creation.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                      'x-kubernetes-validations': [
                        {
                          rule: 'self == oldSelf',
                          message:
                            'team cannot change after creation; keep the old value, or delete the Merge and create it in the other team',
                        },
                      ],
                    },
                    sources: {
                      description: 'The agents whose commits are merged, in this order.',
                      type: 'array',
                      minItems: 1,
                      maxItems: 100,
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['agent'],
                      items: {
                        type: 'object',
                        required: ['agent'],
                        properties: {
                          agent: {
                            description: 'Short or full name of the agent.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 63,
                            pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                          },
                          base: {
                            description: "Commit after which the agent's work begins. Absent means the commit its workspace started from.",
                            type: 'string',
                            nullable: true,
                            minLength: 1,
                            maxLength: 255,
                            pattern: '^[^-\\x00-\\x20\\x7f:?*\\[\\\\][^\\x00-\\x20\\x7f:?*\\[\\\\]*$',
                          },
                        },
                      },
                    },
                    target: {
                      description: "What receives the work; an agent's repository, a branch, or a branch of an agent's repository.",
                      type: 'object',
                      'x-kubernetes-validations': [
                        {
                          rule: 'has(self.agent) || has(self.branch)',
                          message: 'set agent, branch or both; the work needs somewhere to go',
                          reason: 'FieldValueRequired',
                        },
                      ],
                      properties: {
                        agent: {
                          description:
                            "Short or full name of the agent whose repository receives the work. Absent means the team's repository.",
                          type: 'string',
                          minLength: 1,
                          maxLength: 63,
                          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                        },
                        branch: {
                          description: 'Branch that receives the work. Absent means the branch the target has checked out.',
                          type: 'string',
                          minLength: 1,
                          maxLength: 255,
                          pattern: '^[^-\\x00-\\x20\\x7f~^:?*\\[\\\\][^\\x00-\\x20\\x7f~^:?*\\[\\\\]*$',
                        },
                      },
                    },
                    strategy: {
                      description:
                        'How the work is joined. sequential (the default) merges one source after the other, branch-per-source keeps a branch for each, cherry-pick takes commit by commit.',
                      type: 'string',
                      enum: ['sequential', 'branch-per-source', 'cherry-pick'],
                      default: 'sequential',
                    },
                    commitMessage: {
                      description: 'Message of the commits that the merge itself makes. Absent means one that names the sources.',
                      type: 'string',
                      nullable: true,
                      minLength: 1,
                      maxLength: 32768,
                      pattern: '^[^\\x00]*$',
                    },
                    verify: {
                      description:
                        'Shell commands that must all exit with 0, run in a fresh workspace at the merged commit before the target moves.',
                      type: 'array',
                      maxItems: 64,
                      'x-kubernetes-list-type': 'atomic',
                      items: {
                        type: 'string',
                        minLength: 1,
                        maxLength: 32768,
                        pattern: '^[^\\x00]*$',
                      },
                    },
                    approval: {
                      description:
                        'Required means that somebody who wrote none of it must approve the merged commit before it lands; None (the default) that nobody needs to.',
                      type: 'string',
                      enum: ['None', 'Required'],
                      default: 'None',
                    },
                    onConflict: {
                      description:
                        'What happens on a conflict. Report (the default) tells the lead, CreateTask also opens a Task for the agent whose work does not fit.',
                      type: 'string',
                      enum: ['Report', 'CreateTask'],
                      default: 'Report',
                    },
                    allowDirty: {
                      description:
                        'If true, uncommitted changes in a source are listed and left behind. If false (the default) they stop the merge.',
                      type: 'boolean',
                      default: false,
                    },
                    path: {
                      description: 'Folder of the repository inside the workspaces. Default /workspace.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 4096,
                      pattern: '^/[^\\x00]*$',
                      default: '/workspace',
                    },
                  },
                },
                status: {
                  description: 'What the controllers have seen. Written by controllers only.',
                  type: 'object',
                  properties: {
                    phase: {
                      description:
                        'How far the merge is. Pending, Queued behind another merge into the same repository, Merging, Merged, Conflicted, or Failed.',
                      type: 'string',
                      enum: ['Pending', 'Queued', 'Merging', 'Merged', 'Conflicted', 'Failed'],
                    },
                    reason: {
                      description: 'One word for why it Failed, for example TargetDirty or VerifyFailed.',
                      type: 'string',
                    },
                    position: {
                      description: 'Place in the queue of its target; 1 is next. Absent when it is not waiting.',
                      type: 'integer',
                      minimum: 0,
                    },
                    waitsFor: {
                      description: 'What it waits for, for people.',
                      type: 'string',
                    },
                    candidate: {
                      description: 'The merged commit that is verified, approved or about to land.',
                      type: 'string',
                    },
                    approval: {
                      description: 'Who approved which commit. Void when the merged commit is another.',
                      type: 'object',
                      properties: {
                        by: {
                          description: 'Who, taken from the connection it came in on.',
                          type: 'string',
                        },
                        commit: {
                          description: 'The commit.',
                          type: 'string',
                        },
                        time: {
                          description: 'When.',
                          type: 'string',
                          format: 'date-time',
                        },
                      },
                    },
                    verification: {
                      description: 'What the commands of verify gave, at the commit they last ran at.',
                      type: 'object',
                      properties: {
                        commit: {
                          description: 'Commit they ran at.',
                          type: 'string',
                        },
                        passed: {
                          description: 'True if all of them exited with 0.',
                          type: 'boolean',
                        },
                        commands: {
                          description: 'One entry per command that ran. The first that fails is the last.',
                          type: 'array',
                          'x-kubernetes-list-type': 'atomic',
                          items: {
                            type: 'object',
                            required: ['command', 'exitCode'],
                            properties: {
                              command: {
                                description: 'The command.',
                                type: 'string',
                              },
                              exitCode: {
                                description: 'Its exit code. -1 means it timed out or could not start.',
                                type: 'integer',
                              },
                              output: {
                                description: 'The end of what it printed.',
                                type: 'string',
                              },
                            },
                          },
                        },
                      },
                    },
                    totalCommitsApplied: {
                      description: 'Commits of all sources that reached the target.',
                      type: 'integer',
                      minimum: 0,
                    },
                    targetBefore: {
                      description: 'Commit of the target before the merge.',
                      type: 'string',
                    },
                    targetAfter: {
                      description: 'Commit of the target after the merge. Absent unless it moved.',
                      type: 'string',
                    },
                    sources: {
                      description: 'What became of each source.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['agent'],
                      items: {
                        type: 'object',
                        required: ['agent'],
                        properties: {
                          agent: {
                            description: 'The agent, as named in spec.sources.',
                            type: 'string',
                          },
                          phase: {
                            description: 'How far this source is. Merged also when it had nothing new.',
                            type: 'string',
                            enum: ['Pending', 'Merged', 'Conflicted', 'Failed'],
                          },
                          reason: {
                            description: 'One word for why it Failed, for example NoForkBase or UncommittedChanges.',
                            type: 'string',
                          },
                          message: {
                            description: 'A sentence that says why, for people.',
                            type: 'string',
                          },
                          base: {
                            description: 'Commit its work began after.',
                            type: 'string',
                          },
                          head: {
                            description: 'Last commit of its work.',
                            type: 'string',
                          },
                          commitsApplied: {
                            description: 'Commits of it that reached the target.',
                            type: 'integer',
                            minimum: 0,
                          },
                          branch: {
                            description: 'Branch kept for it by branch-per-source.',
                            type: 'string',
                          },
                          uncommittedFiles: {
                            description: 'Files with changes that were not committed and therefore not merged.',
                            type: 'array',
                            'x-kubernetes-list-type': 'atomic',
                            items: {
                              type: 'string',
                            },
                          },
                        },
                      },
                    },
                    conflicts: {
                      description: 'What does not fit. Complete, because later sources are still tried after a conflict.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['source'],
                      items: {
                        type: 'object',
                        required: ['source'],
                        properties: {
                          source: {
                            description: 'The agent whose work does not fit.',
                            type: 'string',
                          },
                          commit: {
                            description: 'Commit that does not fit. Absent when a source was merged as a whole.',
                            type: 'string',
                          },
                          tasks: {
                            description: 'Tasks whose commits are on either side of the conflict.',
                            type: 'array',
                            'x-kubernetes-list-type': 'set',
                            items: {
                              type: 'string',
                            },
                          },
                          files: {
                            description: 'The files in conflict.',
                            type: 'array',
                            'x-kubernetes-list-type': 'map',
                            'x-kubernetes-list-map-keys': ['path'],
                            items: {
                              type: 'object',
                              required: ['path', 'kind'],
                              properties: {
                                path: {
                                  description: 'Path in the repository.',
                                  type: 'string',
                                },
                                kind: {
                                  description: 'What clashes. content (same lines changed), add/add, modify/delete, rename, or binary.',
                                  type: 'string',
                                  enum: ['content', 'add/add', 'modify/delete', 'rename', 'binary'],
                                },
                                hunks: {
                                  description: "Where in the target's side of the file, for files that have lines.",
                                  type: 'array',
                                  'x-kubernetes-list-type': 'atomic',
                                  items: {
                                    type: 'object',
                                    required: ['startLine'],
                                    properties: {
                                      startLine: {
                                        description: 'First line, from 1.',
                                        type: 'integer',
                                      },
                                      oursLines: {
                                        description: 'Lines there in the target.',
                                        type: 'integer',
                                      },
                                      theirsLines: {
                                        description: 'Lines that the source would put there.',
                                        type: 'integer',
                                      },
                                    },
                                  },
                                },
                              },
                            },
                          },
                        },
                      },
                    },
                    startedAt: {
                      description: 'When the merge left the queue.',
                      type: 'string',
                      format: 'date-time',
                    },
                    finishedAt: {
                      description: 'When it ended.',
                      type: 'string',
                      format: 'date-time',
                    },
                    conditions: {
                      description: 'What is true of the merge now, and why. Ready is True once the work has landed.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['type'],
                      items: {
                        type: 'object',
                        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
                        properties: {
                          type: {
                            description: 'Name of the condition.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 316,
                          },
                          status: {
                            description: 'Whether it holds; True, False or Unknown.',
                            type: 'string',
                            enum: ['True', 'False', 'Unknown'],
                          },
                          reason: {
                            description: 'One word that says why, for programs.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 1024,
                            pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
                          },
                          message: {
                            description: 'A sentence that says why, for people. May be empty.',
                            type: 'string',
                            maxLength: 32768,
                          },
                          lastTransitionTime: {
                            description: 'When status last changed.',
                            type: 'string',
                            format: 'date-time',
                          },
                          observedGeneration: {
                            description: 'Generation of the spec this was seen for.',
                            type: 'integer',
                            minimum: 0,
                          },
                        },
                      },
                    },
                    observedGeneration: {
                      description: 'Generation of the spec that the whole status was computed for.',
                      type: 'integer',
                      minimum: 0,
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: 'snapshots.agentiso.dev',
    },
    spec: {
      group: 'agentiso.dev',
      scope: 'Namespaced',
      names: {
        kind: 'Snapshot',
        listKind: 'SnapshotList',
        plural: 'snapshots',
        singular: 'snapshot',
        shortNames: ['snap'],
        categories: ['all', 'agentiso'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: {
            status: {},
          },
          additionalPrinterColumns: [
            {
              name: 'Team',
              type: 'string',
              description: 'The team of the agent.',
              jsonPath: '.spec.team',
            },
            {
              name: 'Agent',
              type: 'string',
              description: 'The agent whose files are kept.',
              jsonPath: '.spec.agent',
            },
            {
              name: 'Phase',
              type: 'string',
              description: 'How far it is.',
              jsonPath: '.status.phase',
            },
            {
              name: 'Bytes',
              type: 'integer',
              description: 'Disk it takes.',
              jsonPath: '.status.bytes',
            },
            {
              name: 'Taken',
              type: 'date',
              description: 'Time since the moment it shows.',
              jsonPath: '.status.takenAt',
            },
            {
              name: 'Driver',
              type: 'string',
              description: 'What ran the workspace then.',
              jsonPath: '.status.driver',
              priority: 1,
            },
            {
              name: 'Commit',
              type: 'string',
              description: 'Commit the workspace was at.',
              jsonPath: '.status.commit',
              priority: 1,
            },
            {
              name: 'Ready',
              type: 'string',
              description: 'Why it is there or not.',
              jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
              priority: 1,
            },
            {
              name: 'Age',
              type: 'date',
              jsonPath: '.metadata.creationTimestamp',
            },
          ],
          selectableFields: [
            {
              jsonPath: '.spec.team',
            },
            {
              jsonPath: '.spec.agent',
            },
            {
              jsonPath: '.status.phase',
            },
          ],
          schema: {
            openAPIV3Schema: {
              description:
                'A Snapshot keeps the files of one agent as they were at one moment. The agent can be taken back to it, and other agents can begin as copies of it. At most 20 per agent; they go with their agent. A Team with golden has one more, prepared for its members.',
              type: 'object',
              required: ['spec'],
              'x-kubernetes-validations': [
                {
                  rule: "size(self.metadata.name) <= 63 && !self.metadata.name.contains('.')",
                  message:
                    "the name of a Snapshot must be an RFC 1123 label; lower-case letters, digits and '-', at most 63 characters, no '.'",
                },
              ],
              properties: {
                apiVersion: {
                  description: 'Version of the schema this document is written in; agentiso.dev/v1alpha1.',
                  type: 'string',
                },
                kind: {
                  description: 'Kind of this document; Snapshot.',
                  type: 'string',
                },
                metadata: {
                  type: 'object',
                },
                spec: {
                  description: 'What is to be kept. Cannot change after creation.',
                  type: 'object',
                  required: ['team'],
                  'x-kubernetes-validations': [
                    {
                      rule: 'self == oldSelf',
                      message: 'a snapshot is of one agent and one moment; create another one',
                    },
                    {
                      rule: 'has(self.agent) != has(self.golden)',
                      message: 'give agent, the full name of the Agent whose files are kept; golden is for the Team that prepares its own',
                    },
                  ],
                  properties: {
                    team: {
                      description: 'Name of the Team in the same namespace that the agent belongs to.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                    },
                    agent: {
                      description: 'Full name of the Agent whose files are kept. Absent for the golden snapshot of a Team.',
                      type: 'string',
                      minLength: 1,
                      maxLength: 63,
                      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
                    },
                    golden: {
                      description:
                        "Hash of the Team's spec.golden that the files are prepared for. Set by the Team, which makes and removes such a Snapshot itself; people leave it out.",
                      type: 'string',
                      pattern: '^[0-9a-f]{8}$',
                    },
                  },
                },
                status: {
                  description: 'What the controllers have seen. Written by controllers only.',
                  type: 'object',
                  properties: {
                    phase: {
                      description: 'How far it is. Pending, Ready when its files are kept, or Failed.',
                      type: 'string',
                      enum: ['Pending', 'Ready', 'Failed'],
                    },
                    bytes: {
                      description: 'Disk it takes, in bytes. Blocks it shares with others are counted too.',
                      type: 'integer',
                      format: 'int64',
                      minimum: 0,
                    },
                    takenAt: {
                      description: 'The moment it shows.',
                      type: 'string',
                      format: 'date-time',
                    },
                    agentUid: {
                      description: 'Uid of the agent.',
                      type: 'string',
                    },
                    incarnation: {
                      description: 'Run of the agent it was taken in. Absent when it was taken of an agent that did not run.',
                      type: 'string',
                    },
                    driver: {
                      description: 'What ran the workspace; only that can use it.',
                      type: 'string',
                    },
                    commit: {
                      description:
                        "Last commit of the agent that the team's repository had then; forks begin there. Absent without a repository.",
                      type: 'string',
                    },
                    conditions: {
                      description: 'What is true of the snapshot now, and why. Ready is True once its files are kept.',
                      type: 'array',
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['type'],
                      items: {
                        type: 'object',
                        required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
                        properties: {
                          type: {
                            description: 'Name of the condition.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 316,
                          },
                          status: {
                            description: 'Whether it holds; True, False or Unknown.',
                            type: 'string',
                            enum: ['True', 'False', 'Unknown'],
                          },
                          reason: {
                            description: 'One word that says why, for programs.',
                            type: 'string',
                            minLength: 1,
                            maxLength: 1024,
                            pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
                          },
                          message: {
                            description: 'A sentence that says why, for people. May be empty.',
                            type: 'string',
                            maxLength: 32768,
                          },
                          lastTransitionTime: {
                            description: 'When status last changed.',
                            type: 'string',
                            format: 'date-time',
                          },
                          observedGeneration: {
                            description: 'Generation of the spec this was seen for.',
                            type: 'integer',
                            minimum: 0,
                          },
                        },
                      },
                    },
                    observedGeneration: {
                      description: 'Generation of the spec that the whole status was computed for.',
                      type: 'integer',
                      minimum: 0,
                    },
                  },
                },
              },
            },
          },
        },
      ],
    },
  },
];
