# shellcheck shell=sh disable=SC2034 # the scripts that source this use its variables
# SPDX-License-Identifier: GPL-2.0
# Sourced by the checks. A check looks at the tree in $1 (default: this one),
# prints a line for each thing that it looked at, and fails if one is not right.

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${1:-$here/../../..}" && pwd) || exit 2
failed=0

# verdict STATUS WHAT [WHY]: one line; WHY is folded into it.
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

# The tree's own files below the named directories, tracked or to be.
sources() {
	for dir in "$@"; do
		if [ -d "$top/$dir" ]; then
			(cd "$top" && find "$dir" -type f)
		fi
	done | sort
}
