# shellcheck shell=sh disable=SC2034 # the scripts that source this use its variables
# SPDX-License-Identifier: GPL-2.0
# Sourced by the checks. A check examines the tree in $1 (default: this one), prints a
# line for each condition, and exits with 1 if one is not met.

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${1:-$here/../../..}" && pwd) || exit 2
failed=0

# verdict STATUS WHAT [WHY]: print one line; WHY is folded into it.
verdict() {
	if [ "$1" -eq 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2: $(printf '%s' "${3:-}" | head -n 20 |
			tr '\n' '|' | sed 's/|$//; s/|/; /g')"
		failed=1
	fi
}

skip() {
	echo "ok - $1 # SKIP $2"
}

# sources DIRECTORY...: the files below these directories of the tree
sources() {
	for dir in "$@"; do
		if [ -d "$top/$dir" ]; then
			(cd "$top" && find "$dir" -type f)
		fi
	done | sort
}
