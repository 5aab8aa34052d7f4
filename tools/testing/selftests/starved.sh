#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Pinned events of the host take every counter. perf in the guest shows that its event did
# not count all of the time, and counts again when those events are gone. `honest` is
# stricter, but wants a machine on which every second has as many instructions.
. ./lib.sh

need_host_command
want=100000004
counters=$(instruction_counters)
[ -n "$counters" ] || tap_skip_all "pvperf does not say how many counters there are"
# More, as the host may have counters that pvperf does not know.
events=$(times $((counters + 7)) instructions:D)

# stat: "COUNT SHARE"
stat() {
	perf stat -x, -o /tmp/stat -e instructions:u ./loop100m
	stat_share /tmp/stat
}

n=$(stat)
exactly "${n% *}" $want && always "$n"
tap $? "without other users it is counted" "$n"

# perf runs until its program ends.
host "rm -f /run/given /run/armed
	perf stat -a -o /dev/null -e $events sh -c 'echo > /run/armed; until [ -e /run/given ]; do sleep 0.1; done' \
		> /dev/null 2>&1 &
	echo \$! > /run/taker.pid
	until [ -e /run/armed ] || [ ! -d /proc/\$! ]; do sleep 0.1; done"
n=$(stat)
case $n in
*"not counted"*) tap 0 "without a counter perf says so";;
*) [ "${n#* }" != 100.00 ] && within "${n% *}" $want 50
	tap $? "without a counter perf says so" "$n";;
esac

host 'touch /run/given
	while [ -d /proc/$(cat /run/taker.pid) ]; do sleep 0.1; done'
n=$(stat)
exactly "${n% *}" $want && always "$n"
tap $? "with the counters back it is counted again" "$n"

# core gives events of "pvperf" no turns, so they make no room for those of "cpu".
perf stat -a -o /dev/null -e "$(times "$counters" pvperf/vcpu-instructions/u)" sleep 100 &
other=$!
tries=0
until [ "$(host_total events)" -ge "$counters" ] || [ $((tries += 1)) -gt 100 ]; do
	usleep 20000
done
[ $tries -le 100 ]
tap $? "as many events of the other PMU are open" "$(host_total events)"
n=$(stat)
kill $other; wait $other
[ "${n% *}" != "<not counted>" ] && within "${n% *}" $want 50
tap $? "beside as many events of the other PMU it counts, too" "$n"
tap_end
