# SPDX-License-Identifier: Apache-2.0
# Completes the talc command in bash: subcommands, options and their values, which its --help lists; then files.

# What may follow `option` in the help on standard input: {a,b,c} behind its name.
_talc_values() {
  sed -nE "s/^ +(-.,)?$1 [^ ]*\{([^}]*)\}.*/\2/p" | tr , ' '
}

_talc() {
  local talc=${COMP_WORDS[0]} command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]} option= words
  COMPREPLY=()
  compopt -o default 2>/dev/null
  if ((COMP_CWORD == 1)); then
    words=$("$talc" --help 2>/dev/null | sed -nE '/^Subcommands:/,/^$/s/^  ([a-z]+) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$current")
    return
  fi
  # bash splits --emit=lib at the sign.
  if [[ $current == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 1]} current=
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  local help
  help=$("$talc" "$command" --help 2>/dev/null)
  if [[ $option == -* ]]; then
    words=$(_talc_values "$option" <<<"$help")
  elif [[ $current == -* ]]; then
    words=$(sed -nE 's/^ +(-.,)?(--[a-z-]+)( .*|$)/\2/p' <<<"$help")
  else
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _talc talc
