# SPDX-License-Identifier: GPL-2.0
# Completion of pvperf's commands and options, for bash.

# _pvperf_files WORD: names of files, which may have spaces
_pvperf_files()
{
	compopt -o filenames 2> /dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# _pvperf_values NAME VALUE: bash makes NAME=VALUE three words
_pvperf_values()
{
	local values=''
	case $1 in
	access) values='unavailable local global exclusive force' ;;
	priority) values='flexible pinned' ;;
	raw) values='yes list no' ;;
	branches) values='off addresses full' ;;
	host_events) values='yes no' ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$values" -- "$2")
}

_pvperf()
{
	local words='' word cur=${COMP_WORDS[COMP_CWORD]}
	if [ "${COMP_WORDS[1]}" = set ]; then
		if [ "$cur" = = ]; then
			_pvperf_values "${COMP_WORDS[COMP_CWORD - 1]}" ''
			return
		elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
			_pvperf_values "${COMP_WORDS[COMP_CWORD - 2]}" "$cur"
			return
		elif [ "$COMP_CWORD" = 2 ]; then
			# compgen expands its words, and a name is the choice of who runs the VM.
			words=$(pvperf list 2> /dev/null |
				sed -n 's/^VM \([0-9]*\) \([A-Za-z0-9_.-]*\) .*/\1 \2/p; t; s/^VM \([0-9]*\) .*/\1/p')
			mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
			return
		fi
		compopt -o nospace 2> /dev/null
	fi
	case ${COMP_WORDS[1]} in
	check) words='--host --guest --json --help' ;;
	list|refused) words='--json --help' ;;
	policy) words='--json --check --apply --help' ;;
	set) words='default access= priority= raw= branches= host_events= max_events= max_vm_events= max_opens= max_calls= max_overflows= max_pages= min_period=' ;;
	record) words='-o --guest --host -e -b --help' ;;
	merge) words='-h -g --vm -o -t --why --over --json --help' ;;
	help) [ "$COMP_CWORD" != 2 ] || words='check list policy set refused record merge' ;;
	esac
	[ "$COMP_CWORD" != 1 ] || words='check list policy set refused record merge help version'
	case ${COMP_WORDS[COMP_CWORD - 1]} in
	--check|--apply) _pvperf_files "$cur"; return ;;
	-h|-g|-o) [[ ${COMP_WORDS[1]} != merge && ${COMP_WORDS[1]} != record ]] || {
		_pvperf_files "$cur"
		return
	} ;;
	esac
	# A folder that record has made.
	[[ ${COMP_WORDS[1]} != merge || $COMP_CWORD != 2 || $cur = -* ]] || {
		_pvperf_files "$cur"
		return
	}
	[[ ${COMP_WORDS[1]} != merge && ${COMP_WORDS[1]} != record ]] || [ "$COMP_CWORD" = 1 ] || {
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		return	# some may be given again
	}
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		words=" $words "
		words=${words/ $word / }
	done
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _pvperf pvperf
