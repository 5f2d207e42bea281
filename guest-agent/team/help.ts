/** All of it on one screen. */
export const HELP = `team: what an agent can do in its team. --json prints what was answered as it is.

  send TO TEXT...       TO: a name, lead, orchestrator, * or TEAM/NAME; - or no text reads standard
                        input; --type TYPE --reply-to ID --request ID
  inbox                 prints new messages and acknowledges them; --from NAME --limit 10, --keep
                        leaves them new, --text prints the contents only
  wait                  waits for a message, which stays new; --from NAME --type TYPE --request ID
                        --timeout 30 --ack --text
  status TEXT...        tells the lead how far you are
  stop accept|defer|refuse [REASON...]     answers a shutdown_request
  who, budget           the agents of the team; how many more there may be
  board                 what can be claimed
  request TEXT...       asks the others for something; --timeout 30 --context TEXT
  claim NAME            takes a task; somebody else was first: exit code 1
  done NAME [RESULT...], fail NAME REASON..., block NAME REASON..., release NAME
  note NAME TEXT..., progress NAME TEXT...
  plan NAME [TEXT...|-] for a task that needs one; approve NAME, refuse NAME FEEDBACK... by the lead
  vault ls [PATH] [--recursive], vault cat PATH, vault search PATTERN [--path P --tag T --regex]
  vault write PATH [TEXT...|-]             --append --prepend --if-version VERSION
  spawn NAME --role NAME[:COUNT]...        makes a sub-team; --max-agents N
  mcp                   the same as tools, for an MCP client that starts it; --write-configs DIRECTORY

Whoever asks too fast waits a little, up to 30 s, and with --no-wait is refused at once.
Exit codes: 0 done, 1 refused, lost or timed out, 2 wrong words. Text that begins with -- goes behind --.
`;
