# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Sourced by the shell tests: TAP lines, and the few things that all of them do.
# A test ends with tap_end.

tap_count=0
tap_failed=0

# tap STATUS NAME [WHY]: one result
tap() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2${3:+: $3}"
		tap_failed=1
	fi
}

# tap_skip NAME WHY: one result that could not be had
tap_skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_skip_all WHY: the whole test can't be done here
tap_skip_all() {
	echo "1..0 # SKIP $1"
	exit 4
}

tap_end() {
	echo "1..$tap_count"
	exit $tap_failed
}

# samples FILE: how many perf recorded there
samples() {
	perf report -i "$1" --stats 2> /dev/null |
		awk '$1 == "SAMPLE" { n = $3; exit } END { print n + 0 }'
}

# lost FILE: how many it says are missing, for whatever reason. (What a full ring
# buffer cost is told by PERF_RECORD_LOST, too, but is in this number.)
lost() {
	perf report -i "$1" -D 2> /dev/null |
		awk -F: '/PERF_RECORD_LOST_SAMPLES/ { n += $NF } END { print n + 0 }'
}

# program NAME COMMAND...: a kselftest program; its lines go out as comments,
# and it is one result.
program() {
	program_name=$1
	shift
	program_out=$("$@" 2>&1)
	program_status=$?
	printf '%s\n' "$program_out" | sed 's/^/# /'
	tap $program_status "$program_name" "status $program_status"
}

totals=/sys/kernel/debug/pvperf/totals

# total NAME: what the host's module has in hand (in the host)
total() {
	sed -n "s/^$1 //p" $totals
}

# In the lab's emulator counters are exact, and a nanosecond is an instruction.
emulated() {
	[ "$LAB_EMULATED" = 1 ]
}

# exactly VALUE WANT: to the last one; on a real CPU interrupts add some
exactly() {
	if emulated; then
		[ "$1" = "$2" ]
	else
		within "$1" "$2" 0.05
	fi
}

# within VALUE WANT PERMILLE: awk's numbers
within() {
	awk -v v="$1" -v w="$2" -v p="$3" \
		'BEGIN { d = v - w; if (d < 0) d = -d; exit !(d * 1000 <= w * p) }'
}
