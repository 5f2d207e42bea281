/** `agentiso completion`: a script for the shell. The words themselves come from `agentiso __complete`, so that they are always current. */
import { nearest } from '#lib/suggest.ts';
import { type Command, EXIT } from '../command.ts';
import { UsageError } from '../usage-error.ts';

const BASH = `# agentiso completion for bash. Try it: source <(agentiso completion bash)
_agentiso() {
    local current="\${COMP_WORDS[COMP_CWORD]}" line
    local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
    # bash takes = and : apart; what stands before them belongs to the word.
    local typed="\${COMP_LINE:0:COMP_POINT}"
    local whole="\${typed##*[[:space:]]}" prefix=""
    if [[ "$whole" == *[=:]* ]]; then
        read -r -a words <<< "\${typed#*[[:space:]]}"
        prefix="\${whole%"\${current#[=:]}"}"
    fi
    COMPREPLY=()
    while IFS=$'\\t' read -r line _; do
        [[ -n "$line" ]] && COMPREPLY+=("\${line#"$prefix"}")
    done < <(command agentiso __complete "\${words[@]}" 2>/dev/null)
    if [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o default -F _agentiso agentiso
`;

const ZSH = `#compdef agentiso
# agentiso completion for zsh. Try it: source <(agentiso completion zsh)
_agentiso() {
    local line word description
    local -a shown
    local -a plain
    while IFS=$'\\t' read -r word description; do
        [[ -z "$word" ]] && continue
        if [[ "$word" == */ || "$word" == *= ]]; then
            plain+=("$word")
        elif [[ -n "$description" ]]; then
            shown+=("\${word//:/\\\\:}:$description")
        else
            shown+=("\${word//:/\\\\:}")
        fi
    done < <(command agentiso __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
    (( \${#plain} )) && compadd -S '' -- "\${plain[@]}"
    (( \${#shown} )) && _describe 'agentiso' shown
    (( \${#plain} + \${#shown} )) || _files
}
if [ "$funcstack[1]" = "_agentiso" ]; then
    _agentiso
elif (( $+functions[compdef] )); then
    compdef _agentiso agentiso
fi
`;

const FISH = `# agentiso completion for fish. Try it: agentiso completion fish | source
function __agentiso_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    command agentiso __complete $words "$current" 2>/dev/null
end
complete -c agentiso -e
complete -c agentiso -a '(__agentiso_complete)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

export const completionCommand: Command = {
  name: 'completion',
  args: '<shell>',
  summary: 'print a completion script for bash, zsh or fish',
  description: 'Prints a script that completes commands, flags, types and names. For bash: source <(agentiso completion bash)',
  async run([shell = ''], _options, { out }) {
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (script === undefined) {
      const meant = nearest(shell, Object.keys(SCRIPTS));
      throw new UsageError(`unsupported shell type "${shell}"; ${meant ? `did you mean ${meant}?` : 'expected bash, zsh or fish'}`);
    }
    out(script);
    return EXIT.ok;
  },
};
