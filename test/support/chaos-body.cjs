/**
 * What a task does in the chaos run, inside a workspace: says in a log of its own what it does, sends mail, reads mail. The log is the witness:
 * every line is on disk before the next step. Usage: node -e BODY TASK PEERS MESSAGES, or node -e BODY drain.
 */
const fs = require('node:fs');
const http = require('node:http');

const [task, peers = '', messages = '0'] = process.argv.slice(1);
const attempt = process.env.AGENTISO_ATTEMPT;
const log = fs.openSync('log', 'a');

function say(...words) {
  // Nanoseconds since boot: one clock for all workspaces of the machine.
  fs.writeSync(log, `${process.hrtime.bigint()} ${words.join(' ')}\n`);
  fs.fsyncSync(log);
}

function ask(verb, params) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(params);
    const request = http.request(
      { socketPath: process.env.AGENTISO_SOCKET, path: `/${verb}`, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          const value = JSON.parse(text);
          if (response.statusCode < 300) resolve(value);
          else reject(Object.assign(new Error(`${verb}: ${text}`), { retryable: value.retryable }));
        });
      },
    );
    request.on('error', (error) => reject(Object.assign(error, { retryable: true })));
    request.end(body);
  });
}

/** The daemon may be away for some seconds, an inbox full for longer. */
async function insist(verb, params) {
  for (;;) {
    try {
      return await ask(verb, params);
    } catch (error) {
      if (!error.retryable) throw error;
      await read();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Noted first, acknowledged then: whoever is killed in between reads it again and notes it again. */
async function read() {
  let answer;
  try {
    answer = await ask('checkMessages', { limit: 100 });
  } catch (error) {
    if (error.retryable) return 0;
    throw error;
  }
  const ids = answer.messages.map(({ message_id: id }) => id);
  for (const { message_id: id, seq, from } of answer.messages) say('got', id, seq, from);
  if (ids.length === 0) return 0;
  await insist('checkMessages', { ack: ids, limit: 0 });
  for (const id of ids) say('acked', id);
  return ids.length;
}

async function main() {
  if (task === 'drain') {
    let idle = 0;
    while (idle < 3) idle = (await read()) === 0 ? idle + 1 : 0;
    return;
  }
  say('start', task, attempt);
  const names = peers.split(',');
  for (let index = 0; index < Number(messages); index += 1) {
    const to = names[index % names.length];
    const { message_id: id } = await insist('sendMessage', { to, content: `${task}/${attempt}/${index}` });
    say('sent', id, to);
    say('beat', task, attempt);
    if (index % 3 === 0) await read();
  }
  say('end', task, attempt);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
