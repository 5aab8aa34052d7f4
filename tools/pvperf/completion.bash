# SPDX-License-Identifier: GPL-2.0
# Completion of pvperf's commands and options, for bash.

_pvperf()
{
	local words='' word
	case ${COMP_WORDS[1]} in
	check) words='--host --guest --json --help' ;;
	list|refused) words='--json --help' ;;
	policy) words='--json --check --apply' ;;
	set) words='access= priority= raw= host_events= max_events= max_vm_events= max_opens= max_calls= max_overflows= max_pages= min_period=' ;;
	record) words='-o --guest --host -e -b' ;;
	merge) words='-h -g --vm -o -t --why --over --json' ;;
	help) [ "$COMP_CWORD" != 2 ] || words='check list policy set refused record merge' ;;
	esac
	[ "$COMP_CWORD" != 1 ] || words='check list policy set refused record merge help version'
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--check|--apply)
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
		return ;;
	-h|-g|-o) [[ ${COMP_WORDS[1]} != merge && ${COMP_WORDS[1]} != record ]] || {
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
		return
	} ;;
	esac
	[[ ${COMP_WORDS[1]} != merge && ${COMP_WORDS[1]} != record ]] || [ "$COMP_CWORD" = 1 ] || {
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
		return	# some may be given again
	}
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		words=" $words "
		words=${words/ $word / }
	done
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}
complete -F _pvperf pvperf
