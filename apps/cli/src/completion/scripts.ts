/**
 * Small scripts that ask `nebula __complete` for candidates, so that they never become outdated. `:files` asks for file
 * names.
 */

const BASH = `# nebula completion for bash
_nebula_complete() {
  local IFS=$'\\n'
  local candidates
  candidates=$("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$candidates" = ":files" ]; then
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
    compopt -o filenames 2>/dev/null
  else
    COMPREPLY=($(compgen -W "$(printf '%s\\n' "$candidates" | cut -f1)" -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -F _nebula_complete nebula
`;

const ZSH = `#compdef nebula
# nebula completion for zsh
_nebula() {
  local -a candidates
  local line
  for line in "\${(@f)$(\${words[1]} __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ "$line" == ":files" ]] && { _files; return }
    [[ -n "$line" ]] && candidates+=("\${line/$'\\t'/:}")
  done
  _describe 'nebula' candidates
}
if [ "$funcstack[1]" = "_nebula" ]; then _nebula "$@"; else compdef _nebula nebula; fi
`;

const FISH = `# nebula completion for fish
function __nebula_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l candidates ($words[1] __complete -- $words[2..-1] 2>/dev/null)
  if test "$candidates" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $candidates
  end
end
complete -c nebula -f -a '(__nebula_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
