/**
 * Stands in for the guest agent where a test is about the driver: the same command line, the same sockets, the same first line, and the simplest of
 * conversations. One JSON line asks, one answers: `{}` who it is, `{command}` runs it in a shell, `{bind}` gives a member of a pool its identity.
 */
const { execFile } = require('node:child_process');
const { existsSync } = require('node:fs');
const { createServer } = require('node:net');
const { createInterface } = require('node:readline');
const { parseArgs } = require('node:util');

const text = { type: 'string' };
const flag = { type: 'boolean' };
const options = {
  id: text,
  incarnation: text,
  run: text,
  state: text,
  workspace: text,
  home: text,
  egress: flag,
  providers: flag,
  pool: flag,
};
const { values } = parseArgs({ options });
let identity = { id: values.id, incarnation: values.incarnation };

function answer({ command, bind }, reply) {
  if (bind !== undefined) identity = bind;
  if (command === undefined) return reply({ ...identity, pid: process.pid, options: values });
  const env = { ...process.env, AGENTISO_WORKSPACE: values.workspace };
  execFile('/bin/sh', ['-c', command], { cwd: values.workspace, env, maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
    reply({ exitCode: error === null ? 0 : (error.code ?? -1), stdout, stderr }),
  );
}

function listen(port) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    createInterface(socket).on('line', (line) =>
      answer(JSON.parse(line), (value) => socket.write(`${JSON.stringify({ port, ...value })}\n`)),
    );
  });
  return new Promise((resolve) => server.listen(`${values.run}/${port}.sock`, resolve));
}

// Like the real one: nobody can reach it any more, nor end it, when a test was killed and its folder removed.
setInterval(() => existsSync(`${values.run}/control.sock`) || process.exit(0), 5_000);
process.stdout.on('error', () => {});
process.on('SIGTERM', () => process.exit(0));
void listen('control')
  .then(() => listen('relay'))
  .then(() => process.stdout.write('listening\n'));
