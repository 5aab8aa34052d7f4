# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Sourced by tests in which the host's own perf takes counters from the guest, after lib.sh.

# arm N MODIFIER: the host's perf will take N counters of every CPU
arm() {
	taker_start "$(times "$1" "instructions$2")"
}

# stat EVENTS COMMAND...: a line "COUNT SHARE" for each event
stat() {
	events=$1
	shift
	perf stat -x, -o /tmp/stat -e "$events" "$@"
	stat_share /tmp/stat
}

# later COMMAND...: run it while run()'s program counts, well after its start: the start
# has fewer user instructions a second than the rest, and is what scaling gets wrong
later() {
	rm -f /tmp/started
	(until [ -e /tmp/started ]; do usleep 1000; done; sleep 0.3; "$@") &
}
run() {
	stat "$1" sh -c 'echo > /tmp/started
		./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m; ./loop100m'
}
