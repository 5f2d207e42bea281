/** The commands that work without a server or are one, loaded together; they bring the schemas and the YAML reader. */
import { backendsCommand } from './commands/backends.ts';
import { doctorCommand } from './commands/doctor.ts';
import { imageCommand } from './commands/image.ts';
import { initCommand } from './commands/init.ts';
import { orchestrateCommand } from './commands/orchestrate.ts';
import { serveCommand } from './commands/serve.ts';
import { upCommand } from './commands/up.ts';
import { validateCommand } from './commands/validate.ts';

export const localCommands = {
  up: upCommand,
  orchestrate: orchestrateCommand,
  serve: serveCommand,
  validate: validateCommand,
  init: initCommand,
  doctor: doctorCommand,
  backends: backendsCommand,
  image: imageCommand,
} as const;

export type LocalCommandName = keyof typeof localCommands;
