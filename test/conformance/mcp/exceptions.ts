/**
 * Scenarios of the conformance suite that a server of ours does not pass, each with the reason. What is listed here and passes all the
 * same is a mistake, and so is what is neither listed nor passes.
 */

export type Exceptions = Readonly<Record<string, string>>;

const TEXT_ONLY = 'tools answer with JSON as text and as structured content: agents and teams have no images, sounds or files to show';
const ASKS_NOBODY = 'no tool asks the client back: a call has all that it needs, and what people decide is a tool of its own';

/** True for every server of ours. */
export const EVERYWHERE: Exceptions = {
  'tools-call-image': TEXT_ONLY,
  'tools-call-audio': TEXT_ONLY,
  'tools-call-embedded-resource': TEXT_ONLY,
  'tools-call-mixed-content': TEXT_ONLY,
  'tools-call-with-logging': 'what a call is doing is told as progress; the log of calls stays with the daemon',
  'tools-call-sampling': ASKS_NOBODY,
  'tools-call-elicitation': ASKS_NOBODY,
  'elicitation-sep1034-defaults': ASKS_NOBODY,
  'elicitation-sep1330-enums': ASKS_NOBODY,
  'resources-read-binary': 'resources are Markdown, YAML and JSON',
  'prompts-get-embedded-resource': 'a prompt is one text, with what is known of the team or repository in it',
  'prompts-get-with-image': 'a prompt is one text',
  'server-sse-polling': 'no answer is given twice: whoever hangs up takes the call back, and an event to resume from would promise more',
};

/** A scenario wants a tool of its own with a particular schema or behaviour; the protocol of it is shown by the server of the tests. */
const NEEDS_A_TOOL_OF_TESTS = 'it needs a tool that exists for tests only; the server made for the suite shows it';

export const OF_FIXTURE: Exceptions = {
  ...EVERYWHERE,
  'dns-rebinding-protection': 'the door of the daemon looks at Host and Origin before MCP does; the daemon itself shows it',
};

export const OF_DAEMON: Exceptions = {
  ...EVERYWHERE,
  'tools-call-with-progress': NEEDS_A_TOOL_OF_TESTS,
  'json-schema-2020-12': NEEDS_A_TOOL_OF_TESTS,
};

export const OF_STDIO: Exceptions = {
  ...OF_DAEMON,
  'dns-rebinding-protection': 'no web page can reach the pipes of a program',
};

const TOOLS_ONLY = 'an agent has tools and nothing else';

export const OF_AGENT: Exceptions = {
  ...EVERYWHERE,
  'tools-call-with-progress': NEEDS_A_TOOL_OF_TESTS,
  'json-schema-2020-12': NEEDS_A_TOOL_OF_TESTS,
  'logging-set-level': TOOLS_ONLY,
  'completion-complete': TOOLS_ONLY,
  'resources-list': TOOLS_ONLY,
  'resources-read-text': TOOLS_ONLY,
  'resources-templates-read': TOOLS_ONLY,
  'resources-subscribe': TOOLS_ONLY,
  'resources-unsubscribe': TOOLS_ONLY,
  'prompts-list': TOOLS_ONLY,
  'prompts-get-simple': TOOLS_ONLY,
  'prompts-get-with-args': TOOLS_ONLY,
};
