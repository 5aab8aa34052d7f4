# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# Sourced by the shell tests: TAP lines, and what several tests do. A test ends with
# tap_end.

tap_begun=
tap_count=0
tap_failed=0
data=/tmp/perf.data	# what perf record writes
totals=/sys/kernel/debug/pvperf/totals	# of the host's module

# tap_begin: before the first line
tap_begin() {
	[ "$tap_begun" ] || echo "TAP version 13"
	tap_begun=1
}

# tap STATUS NAME [WHY]: one result
tap() {
	tap_begin
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2${3:+: $3}"
		tap_failed=1
	fi
}

# tap_skip NAME WHY: one result that this machine can't have
tap_skip() {
	tap_begin
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# tap_skip_all WHY: the whole test can't run here
tap_skip_all() {
	tap_begin
	echo "1..0 # SKIP $1"
	exit 4
}

tap_end() {
	echo "1..$tap_count"
	exit $tap_failed
}

# in_lab guest|host: on that side of the lab, or of make silicon
in_lab() {
	[ "$LAB_WHERE" = "$1" ]
}

# need_host_command: or skip the whole test
need_host_command() {
	in_lab guest || tap_skip_all "needs a guest of tools/testing/lab, whose command host reaches the host"
}

# need_guest_command: or skip the whole test
need_guest_command() {
	in_lab host || tap_skip_all "needs the host of tools/testing/lab, whose command guest boots guests"
}

# perf stat -x, prints one line for each event: value, unit, event, nanoseconds, share
# of the time in percent, ... . -I and -A put a field before these.

# stat_value [FILE]: the counts, one a line; no line for an event that has none
# shellcheck disable=SC2120 # tests pass a file, what is here pipes
stat_value() {
	awk -F, '$1 ~ /^[0-9]/ { print $1 }' "$@"
}

# stat_share [FILE]: "COUNT SHARE" of each event; COUNT may be "<not counted>"
stat_share() {
	awk -F, 'NF > 4 { print $1, $5 }' "$@"
}

# interval_value [FILE]: the counts that perf stat -I printed
interval_value() {
	awk -F, '$2 ~ /^[0-9]/ { print $2 }' "$@"
}

# count OPTIONS... COMMAND...: what perf stat counts; nothing if it can't
count() {
	perf stat -x, "$@" 2>&1 | stat_value
}

# need_count: skip the whole test where perf stat can't count
need_count() {
	[ -n "$(count -e instructions:u true)" ] || tap_skip_all "perf stat counts nothing here"
}

# expected COMMAND...: run it; what the kernel complains of meanwhile does not fail the test
expected() {
	echo "<4>lab: test (expected)" > /dev/kmsg
	"$@"
	echo "<4>lab: test $LAB_TEST" > /dev/kmsg
}

# sum: of the numbers on standard input
sum() {
	awk '{ n += $1 } END { printf "%d\n", n }'
}

# samples FILE: how many samples it has
samples() {
	perf report -i "$1" --stats 2> /dev/null |
		awk '$1 == "SAMPLE" { n = $3; exit } END { print n + 0 }'
}

# lost FILE: how many samples it reports as lost, for any reason. (PERF_RECORD_LOST
# reports what a full ring buffer cost once more; this number has that already.)
lost() {
	perf report -i "$1" -D 2> /dev/null |
		awk -F: '/PERF_RECORD_LOST_SAMPLES/ { n += $NF } END { print n + 0 }'
}

# records FILE KIND: how many records of a kind there are
records() {
	perf report -i "$1" --stats 2> /dev/null |
		awk -v k="$2" '$1 == k { n = $3; exit } END { print n + 0 }'
}

# deep_chains FILE: how many samples have more than one frame
deep_chains() {
	perf script -i "$1" -F ip 2> /dev/null | awk '
		/^$/ { if (depth > 1) deep++; depth = 0 } /[0-9a-f]/ { depth++ }
		END { print deep + 0 }'
}

# record NAME OPTIONS... COMMAND...: perf record into $data. Afterwards $made is the
# number of overflows at the host, $samples and $lost are what the file has of them.
record() {
	name=$1
	shift
	before=$(host_total overflows)
	perf record -q -o "$data" "$@" > /tmp/err 2>&1
	tap $? "$name: recorded" "$(tail -n 1 /tmp/err)"
	made=$(($(host_total overflows) - before))
	samples=$(samples "$data")
	lost=$(lost "$data")
}

# all_told NAME: after record; each overflow is a sample, or is said to be lost
all_told() {
	[ "$made" -gt 0 ] && [ "$made" -eq $((samples + lost)) ]
	tap $? "$1: $made overflows are $samples samples and $lost lost"
}

# program NAME COMMAND...: a kselftest program as one result; its lines become comments
program() {
	tap_begin
	program_name=$1
	shift
	program_out=$("$@" 2>&1)
	program_status=$?
	printf '%s\n' "$program_out" | sed 's/^/# /'
	tap $program_status "$program_name" "status $program_status"
}

# total NAME: one of the host module's totals; in the host
total() {
	sed -n "s/^$1 //p" $totals
}

# host_total NAME: the same; in the guest
host_total() {
	host "sed -n 's/^$1 //p' $totals"
}

# host_is_empty: no VM left anything behind; in the host
host_is_empty() {
	[ "$(total vms)$(total events)$(total pages)" = 000 ]
	tap $? "the host has nothing left" "$(head -n 4 $totals | tr '\n' ' ')"
}

# vcpu_thread: the host's thread that runs this guest's first vCPU
vcpu_thread() {
	host mon info cpus | sed -n 's/.*thread_id=\([0-9]*\).*/\1/p' | head -n 1
}

# vm_process: by which the host's module names this guest's VM
vm_process() {
	host "sed -n 's/^vm pid=\([0-9]*\) .*/\1/p' /sys/kernel/debug/pvperf/vms" | head -n 1
}

# counters: how many counters the guest may have
counters() {
	cat /sys/bus/event_source/devices/pvperf/caps/counters 2> /dev/null
}

# times N EVENT: a list of N times EVENT
times() {
	echo "$2" | awk -v n="$1" '{ for (i = 1; i < n; i++) printf "%s,", $1; print $1 }'
}

# instruction_counters: how many of them count instructions: Intel has a fixed one besides
instruction_counters() {
	n=$(counters) || return
	caps=/sys/bus/event_source/devices/pvperf/caps
	! grep -qs instructions $caps/fixed_counters || n=$((n + 1))
	echo "$n"
}

# guest_unload: perf's events hold the module, and perf frees them some time after its end
guest_unload() {
	tries=0
	until rmmod pvperf_guest 2> /dev/null; do
		[ $((tries += 1)) -lt 50 ] || return 1
		sleep 0.1
	done
}

# taker_start EVENTS: perf on the host, which will count EVENTS on every CPU from
# taker_take on, and not after taker_give. It is started beforehand, because its start
# takes the host's CPU for longer than a test lasts, and no one can scale a program
# that runs slower meanwhile.
taker_start() {
	host "rm -f /run/armed /run/taker; mkfifo /run/taker
		perf stat -a -D -1 --control fifo:/run/taker -o /dev/null -e '$1' \
			sh -c 'echo > /run/armed; exec sleep 1000' > /dev/null 2>&1 &
		echo \$! > /run/taker.pid
		until [ -e /run/armed ]; do usleep 20000; done"
}
taker_take() {
	host 'echo enable > /run/taker; usleep 10000'
}
taker_give() {
	host 'echo disable > /run/taker; usleep 10000'
}
taker_end() {
	# shellcheck disable=SC2016 # for the host's shell
	host 'kill -TERM $(cat /run/taker.pid)
		while [ -d /proc/$(cat /run/taker.pid) ]; do usleep 20000; done'
}

# emulated: this is the lab's emulator, where counters are exact and an instruction
# takes a nanosecond
emulated() {
	[ "$LAB_EMULATED" = 1 ]
}

# exactly VALUE WANT: equal; on a real CPU almost, as interrupts add some
exactly() {
	if emulated; then
		[ "$1" = "$2" ]
	else
		within "$1" "$2" 0.05
	fi
}

# always "COUNT SHARE": it was counted all of the time
always() {
	[ "${1##* }" = 100.00 ]
}

# within VALUE WANT PERMILLE: numbers of any size, or fractions
within() {
	awk -v v="$1" -v w="$2" -v p="$3" \
		'BEGIN { d = v - w; if (d < 0) d = -d; exit !(d * 1000 <= w * p) }'
}
