#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Pinned events of the host take every counter: the guest's event says that it did not
# count all of the time, and counts again when they are gone. `honest` looks closer,
# where a second always has the same number of instructions.
. ./lib.sh

need_host_command
want=100000004
counters=$(counters)
[ -n "$counters" ] || tap_skip_all "pvperf does not say how many counters there are"
# more than it says: an Intel CPU has one besides that counts nothing but instructions
events=$(awk -v n=$((counters + 8)) 'BEGIN { while (--n) printf "instructions:D,"; print "instructions:D" }')

# stat: count and share of time, or the words for none
stat() {
	perf stat -x, -o /tmp/stat -e instructions:u ./loop100m
	stat_share /tmp/stat
}

n=$(stat)
exactly "${n% *}" $want && always "$n"
tap $? "alone, it is counted" "$n"

# perf ends with the program that it watches, and no sooner
host "rm -f /run/given
	perf stat -a -o /dev/null -e $events sh -c 'until [ -e /run/given ]; do sleep 0.1; done' \
		> /dev/null 2>&1 &
	echo \$! > /run/taker.pid; sleep 1"
n=$(stat)
case $n in
*"not counted"*) tap 0 "without a counter, it says so";;
*) [ "${n#* }" != 100.00 ] && within "${n% *}" $want 50
	tap $? "without a counter, it says so" "$n";;
esac

host 'touch /run/given
	while [ -d /proc/$(cat /run/taker.pid) ]; do sleep 0.1; done'
n=$(stat)
exactly "${n% *}" $want && always "$n"
tap $? "then it is counted again" "$n"
tap_end
