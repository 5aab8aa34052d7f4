# SPDX-License-Identifier: GPL-2.0
# Completion of pvperf's commands and options, for bash.

_pvperf()
{
	local words=
	case ${COMP_WORDS[1]} in
	check) words='--host --guest --json' ;;
	list) words='--json' ;;
	esac
	[ "$COMP_CWORD" != 1 ] || words='check list --help --version'
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -F _pvperf pvperf
