/** HTTP from inside an agent: a list of requests goes in as one command, their answers come out. */
import type { AgentsHome } from './agents-home.ts';

export interface InnerRequest {
  /** `own:/path` is the agent's own interface. */
  readonly url: string;
  readonly method?: string;
  /** `agent` and `team` are taken from the agent's own environment; anything else is sent as it is; absent: none. */
  readonly token?: string;
  readonly json?: unknown;
  /** So many bytes of the letter x. */
  readonly bytes?: number;
}

export interface InnerAnswer {
  /** 0 when there was none. */
  readonly status: number;
  readonly text: string;
  /** Of a connection that failed. */
  readonly error?: string;
  /** By the clock of the machine, which agents share. */
  readonly sentAtMs: number;
}

const SCRIPT = `
const tokens = { agent: process.env.AGENTISO_AGENT_TOKEN, team: process.env.AGENTISO_TEAM_TOKEN };
const ask = async ({ url, method = 'GET', token, json, bytes }) => {
  const headers = token === undefined ? {} : { authorization: 'Bearer ' + (tokens[token] ?? token) };
  const body = bytes === undefined ? (json === undefined ? undefined : JSON.stringify(json)) : Buffer.alloc(bytes, 'x');
  const sentAtMs = Date.now();
  try {
    const answer = await fetch(url.replace('own:', process.env.AGENTISO_HTTP_URL), { method, headers, body, signal: AbortSignal.timeout(1500) });
    return { status: answer.status, text: await answer.text(), sentAtMs };
  } catch (error) {
    return { status: 0, text: '', error: error.cause?.code ?? error.name, sentAtMs };
  }
};
(async () => {
  const answers = [];
  for (const request of JSON.parse(process.argv[1])) answers.push(await ask(request));
  console.log(JSON.stringify(answers));
})();`;

export async function requestsFrom(home: AgentsHome, agent: string, requests: readonly InnerRequest[]): Promise<InnerAnswer[]> {
  return JSON.parse(await home.inside(agent, 'node', '-e', SCRIPT, JSON.stringify(requests))) as InnerAnswer[];
}
