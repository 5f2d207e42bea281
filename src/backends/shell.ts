/** The shell: runs the commands of tasks and has no model, so a prompt is not for it. */
import type { Backend } from './backend.ts';

export const shell: Backend = { name: 'shell', title: 'Shell', packages: [], binaries: [] };
