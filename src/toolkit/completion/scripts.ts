/** Scripts that ask `viewmesh __complete` with the words so far, the one under the cursor last. */

const bash = `_viewmesh() {
  local IFS=$'\\n'
  COMPREPLY=($(viewmesh __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -o filenames -F _viewmesh viewmesh
`

const zsh = `_viewmesh() {
  local -a found
  found=("\${(@f)$(viewmesh __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -a found
  else
    _files
  fi
}
compdef _viewmesh viewmesh
`

const fish = `function __viewmesh_complete
  set -l words (commandline -opc) (commandline -ct)
  viewmesh __complete -- $words[2..-1] 2>/dev/null
end
complete -c viewmesh -a '(__viewmesh_complete)'
`

export type Shell = 'bash' | 'zsh' | 'fish'

/** By the shell that reads them. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
