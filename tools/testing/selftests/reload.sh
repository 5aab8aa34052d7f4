#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each module is unloaded and loaded twenty times while perf runs. perf counts again
# afterwards. At the end the host holds nothing: neither by pvperf_host's own totals nor
# by the kernel's numbers of perf_events and of pinned pages.
. ./lib.sh

need_host_command
[ -f /lab/pvperf_guest.ko ] || tap_skip_all "no /lab/pvperf_guest.ko"
want=100000004
times=${RELOADS:-20}

# held: how many perf_events and pinned pages the host has. shrink takes the slabs back
# that CPUs keep, and stat_refresh folds the counters of all CPUs; then both are exact.
held() {
	# shellcheck disable=SC2016 # for the host's shell
	host 'echo 1 > /sys/kernel/slab/perf_event/shrink
		cut -d " " -f 1 /sys/kernel/slab/perf_event/objects
		cat /proc/sys/vm/stat_refresh
		awk "/^nr_foll_pin_acquired/ { n += \$2 } /^nr_foll_pin_released/ { n -= \$2 }
			END { print n }" /proc/vmstat' | tr '\n' ' '
}

# held_is WANT: waits for it, as memory is freed by RCU, and pvperf_host keeps one perf_event of each
# kind for ten seconds
held_is() {
	i=0
	until [ "$(held)" = "$1" ]; do
		[ $((i += 1)) -le 30 ] || return
		sleep 0.5
	done
}

# What the host holds without any event of a guest.
guest_unload
held_is '0 0 '
tap $? "the host holds nothing" "$(held)"
none=$(held)
insmod /lab/pvperf_guest.ko
perf stat -o /tmp/stat -e cycles,instructions ./loop5m
some=$(held)
[ "${some% * }" -gt "${none% * }" ] && [ "${some#* }" != "${none#* }" ]
tap $? "the guest's events show in the host's numbers" "$none, then $some"

i=0 bad=0
while [ $i -lt "$times" ]; do
	perf stat -o /tmp/stat -e cycles,instructions ./loop5m || bad=1
	guest_unload || bad=1
	perf stat -x, -e instructions:u true 2>&1 | grep -q 'not supported' || bad=1
	insmod /lab/pvperf_guest.ko || bad=1
	i=$((i + 1))
done
tap $bad "the guest's module is unloaded and loaded $times times"
n=$(count -e instructions:u ./loop100m)
within "${n:-0}" $want 0.01
tap $? "the guest counts afterwards" "${n:-nothing}"

# The host's module: nothing can hold it, and the guest recovers by itself. The load
# opens, counts, reads, and closes; mostly it sleeps, as busy time takes real time in an
# emulator.
(while :; do perf stat -a -o /tmp/stat -e cycles,instructions sleep 0.7; done) &
load=$!
host "i=0; while [ \$i -lt $times ]; do rmmod pvperf_host || exit 1; sleep 0.05;
	insmod /lab/pvperf_host.ko || exit 1; sleep 0.15; i=\$((i + 1)); done"
tap $? "the host's module is unloaded and loaded $times times under perf stat -a"
kill $load
wait $load 2> /dev/null
sleep 1
n=$(count -e instructions:u ./loop100m)
within "${n:-0}" $want 0.01
tap $? "the guest recovers by itself" "${n:-nothing}"

# core would leave a pinned event in error until somebody enables it.
(while :; do :; done) &
program=$!
perf stat -x, -o /tmp/stat -e instructions:uD -p $program sleep 3 &
stat=$!
sleep 1
host 'rmmod pvperf_host; sleep 0.5; insmod /lab/pvperf_host.ko'
wait $stat
kill $program
stat_share /tmp/stat | awk '$1 > 0 && $2 < 95 { told = 1 } END { exit !told }'
tap $? "a pinned event counts again when the host's module is back" "$(tr '\n' ' ' < /tmp/stat)"

# A count over a time without the host's module must not look complete. The VM has the
# host alone when the module goes.
host "echo access=exclusive > /dev/pvperf_policy"
perf stat -x, -o /tmp/stat -e instructions:u sh -c \
	'./loop100m; host rmmod pvperf_host; ./loop100m; host insmod /lab/pvperf_host.ko; ./loop100m'
stat_share /tmp/stat | awk '/not counted/ || ($1 > 0 && $2 < 100) { told = 1 } END { exit !told }'
tap $? "a count with a gap is scaled, or not counted" "$(tr '\n' ' ' < /tmp/stat)"
host 'dmesg | tail -n 4' > /tmp/end
grep -q 'has the host alone' /tmp/end
tap $? "the host's module is unloaded while a VM has the host alone" "$(cat /tmp/end)"

guest_unload
tap $? "the guest's module is unloaded"
[ "$(host_total events)$(host_total pages)" = 00 ]
tap $? "the host has no events and no pages" "$(host "head -4 $totals" | tr '\n' ' ')"
held_is "$none"
tap $? "its kernel has no more perf_events or pins than before" "$none, now $(held)"
host 'rmmod pvperf_host && insmod /lab/pvperf_host.ko'
tap $? "the host's module is unloaded and loaded once more"
insmod /lab/pvperf_guest.ko
tap $? "the guest's module is loaded again"
tap_end
