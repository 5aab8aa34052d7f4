# SPDX-License-Identifier: GPL-2.0
# Completion of pvperf's commands and options, for bash.

_pvperf()
{
	local words='' word
	case ${COMP_WORDS[1]} in
	check) words='--host --guest --json --help' ;;
	list) words='--json --help' ;;
	help) [ "$COMP_CWORD" != 2 ] || words='check list' ;;
	esac
	[ "$COMP_CWORD" != 1 ] || words='check list help version'
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		words=" $words "
		words=${words/ $word / }
	done
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -F _pvperf pvperf
