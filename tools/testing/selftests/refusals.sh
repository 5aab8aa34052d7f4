#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# When the guest's module refuses an event, the program fails, and the guest's log has
# one line with the reason and the way out.
. ./lib.sh

need_host_command
need_count

# refused NAME REASON WAY-OUT COMMAND...: it fails or prints <not supported>, and the log
# has REASON and WAY-OUT
refused() {
	name=$1 reason=$2 way_out=$3
	shift 3
	dmesg -c > /dev/null
	if "$@" > /tmp/out 2>&1 && ! grep -q '<not supported>' /tmp/out; then
		tap 1 "$name is refused" "$(tail -n 1 /tmp/out)"
		return
	fi
	dmesg | grep 'pvperf_guest: ' > /tmp/log
	grep -q "$reason" /tmp/log && grep -q "$way_out" /tmp/log
	tap $? "$name is refused: $reason; $way_out" "$(tail -n 2 /tmp/log) $(tail -n 1 /tmp/out)"
}

# mended COMMAND...: the way out that the last refusal told counts
mended() {
	"$@" > /tmp/out 2>&1 && ! grep -q '<not' /tmp/out
	tap $? "$* counts instead" "$(tail -n 1 /tmp/out)"
}

# silent COMMAND...: the same refusal again, which is not logged
silent() {
	dmesg -c > /dev/null
	"$@" > /dev/null 2>&1
	n=$(dmesg | grep -c 'pvperf_guest: ')
	[ "$n" -eq 0 ]
	tap $? "a second refusal within a minute is not logged" "$n lines"
}

# heard WORD EVENT: the host's admin can see that, too
heard() {
	host cat /sys/kernel/debug/pvperf/vms > /tmp/vms
	grep -q "refused word=$1 times=[1-9][0-9]* type=$2 config=$3" /tmp/vms
	tap $? "the host has counted that $1 refused $2 $3" "$(grep refused /tmp/vms)"
}

# Loading the module again resets the minute: tests before this one were refused, too.
guest_unload && insmod /lab/pvperf_guest.ko
tap $? "the module is loaded again"

size=$(($(instruction_counters) + 1))
many=$(times $size rc0)
refused ":p" 'comes some instructions late' 'leave :p out' perf stat -e cycles:p true
silent perf stat -e cycles:pp true
mended perf stat -e cycles true
refused "perf record -b" 'the host gives none' 'use -g' \
	perf record -o /dev/null -b -e cycles true
mended perf record -o /dev/null -g -e cycles true
refused "-c 100" 'period of 100: .* shortest is 1000' 'use -c 1000 or a frequency' \
	perf record -o /dev/null -c 100 -e cycles true
way=$(grep -o -m 1 -e '-c [0-9]*' /tmp/log)
# shellcheck disable=SC2086 # the option and its value
mended perf record -o /dev/null ${way:--c 100} -e cycles true
heard min_period hardware 0x0
# periods: how many the host has refused
periods() { host cat /sys/kernel/debug/pvperf/vms | sed -n 's/.*refused word=min_period times=\([0-9]*\).*/\1/p'; }
# An event of before that is still open there, with the key of the next one, hides nothing.
tries=0
until [ "$(host_total events)" = 0 ] || [ $((tries += 1)) -gt 100 ]; do
	usleep 50000
done
sh -c 'while :; do :; done' &
spins=$!
perf stat -o /dev/null -e instructions -p $spins &
keeps=$!
until [ "$(host_total events)" -gt 0 ] || [ $((tries += 1)) -gt 100 ]; do
	usleep 20000
done
mended perf record -o /dev/null -e cycles true
before=$(periods)
perf record -o /dev/null -c 100 -e cycles true 2> /dev/null
after=$(periods)
kill $keeps $spins
[ "${after:-0}" -gt "${before:-0}" ] && [ $tries -le 100 ]
tap $? "the host hears of it beside an open event, too" "$before, $after"
refused "a group of $size" "group that needs $size counters.* has $(counters)" 'or weak' \
	perf stat -e "{$many}" true
perf stat -x, -o /tmp/a -e "{$many}:W" ./loop100m
! grep -q '<not' /tmp/a
tap $? "a weak group of $size counts" "$(grep '<' /tmp/a | tr '\n' ' ')"

# A plain perf record first asks for a precise event, and is content without: no refusal.
dmesg -c > /dev/null
perf record -q -o /tmp/data true > /dev/null 2>&1
n=$(dmesg | grep -c 'refused')
[ "$n" -eq 0 ]
tap $? "a plain perf record logs no refusal" "$(dmesg | grep refused)"

host 'rmmod pvperf_host; insmod /lab/pvperf_host.ko raw=no'
perf stat -o /dev/null -e cycles sleep 2
refused "a raw event" 'allows no raw events' 'raw=yes' perf stat -e r5300c0 true
heard raw raw 0xc0
host 'rmmod pvperf_host; insmod /lab/pvperf_host.ko raw=yes'
perf stat -o /dev/null -e cycles sleep 2
mended perf stat -e r5300c0 true

# load_guest: a function, as refused() wants one command
load_guest() {
	insmod /lab/pvperf_guest.ko
}
host 'rmmod pvperf_host'
guest_unload
refused "the module without a host side" 'not loading: no pvperf at the host' \
	'have it load pvperf_host' load_guest
host 'insmod /lab/pvperf_host.ko'
insmod /lab/pvperf_guest.ko
tap $? "the module loads once there is a host side"
tap_end
