export type Shell = 'bash' | 'zsh' | 'fish'

const bash = `# bash completion for coxswain: source <(coxswain completion bash)
_coxswain() {
  local line words=()
  COMPREPLY=()
  while IFS= read -r line; do
    words+=("$line")
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  (( \${#words[@]} > 0 )) || return
  local directive=\${words[-1]}
  unset 'words[-1]'
  for line in "\${words[@]}"; do COMPREPLY+=("\${line%%$'\\t'*}"); done
  [[ $directive == :4 ]] && compopt +o default
  [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _coxswain coxswain cox
`

const zsh = `#compdef coxswain cox
# zsh completion for coxswain: source <(coxswain completion zsh)
_coxswain() {
  local -a lines described
  local line directive
  lines=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  directive=\${lines[-1]}
  lines=("\${(@)lines[1,-2]}")
  for line in "\${lines[@]}"; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${(M)line:#*$'\\t'*}:+:\${line#*$'\\t'}}")
  done
  if (( \${#described[@]} )); then _describe 'coxswain' described
  elif [[ $directive != :4 ]]; then _files
  fi
}
compdef _coxswain coxswain cox
`

const fish = `# fish completion for coxswain: coxswain completion fish | source
function __coxswain_complete
  set -l words (commandline -opc)
  $words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null | string match -r -v '^:[0-9]+$'
end
complete -c coxswain -f -a '(__coxswain_complete)'
complete -c cox -f -a '(__coxswain_complete)'
`

/** The completion scripts. All of them call \`coxswain __complete\`, so they never become outdated. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
