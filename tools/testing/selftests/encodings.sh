#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Ways to name an event: by perf's own tables for the CPU, by terms, by a raw code, as a
# generic or a cache event. Each counts in the guest what it counts on the host. What needs
# a second register of Intel's is refused with the reason.
. ./lib.sh

intel() {
	grep -q GenuineIntel /proc/cpuinfo
}

names="instructions cycles branches L1-dcache-loads cpu/event=0xc0/ cpu/event=0xc0,cmask=0x1/
	cpu/event=0xc0,umask=0x0,edge=0x0/ r00c0"
if intel; then
	names="$names inst_retired.any cpu_clk_unhalted.thread br_inst_retired.all_branches
		mem_inst_retired.all_loads cpu/event=0xc4,umask=0x0/ cpu/event=0xd0,umask=0x81/
		r00c4 r81d0 r013c ref-cycles"
else
	names="$names ex_ret_instr ex_ret_brn cpu/event=0xc2/ r00c2 r0076"
fi

# measure: one line for each name, "NAME COUNT". The user part of loop5m never differs.
measure() {
	for event in $names; do
		case $event in
		*/) modified=${event}u;;
		*) modified=$event:u;;
		esac
		echo "$event $(count -e "$modified" ./loop5m)"
	done
}

# groups: one line for each size of a group of one event, "NAME SIZE COUNTS". In the code
# 0xa3 some unit masks fit in eight counters, and some in four.
groups() {
	for event in r01a3 r04a3 r10a3 r14a3 r06a3 r81d0 r003e; do
		for n in 4 5 8 9; do
			c=$(count -e "{$(times $n $event:u)}" ./loop5m | wc -l)
			echo "$event $n $c"
		done
	done
}

if [ -n "$1" ]; then
	"$1"
	exit
fi

need_host_command
need_count
measure > /tmp/here
host "cd /t && ./encodings.sh measure" > /tmp/there
while read -r event here; do
	there=$(awk -v e="$event" '$1 == e { print $2 }' /tmp/there)
	# The lab makes branches and misses from instructions, and may be at another remainder.
	[ -n "$here" ] && [ -n "$there" ] && within "$here" "$there" 0.01
	tap $? "$event counts what it counts on the host" "guest: ${here:-nothing}, host: ${there:-nothing}"
done < /tmp/here

intel || tap_end

groups > /tmp/here
host "cd /t && ./encodings.sh groups" > /tmp/there
[ "$(wc -l < /tmp/there)" = 28 ] && diff /tmp/there /tmp/here > /tmp/diff
tap $? "groups of one event are as large as on the host" "$(tr '\n' ';' < /tmp/diff)"
if [ "$(cat /sys/bus/event_source/devices/pvperf/caps/narrow_counters)" = 4 ]; then
	grep -q '^r01a3 5 0' /tmp/here && ! grep -q '^r04a3 8 0' /tmp/here
	tap $? "one unit mask fits in more counters than another" "$(tr '\n' ';' < /tmp/here)"
fi

# refused NAME REASON: perf stat counts nothing, and the guest's log has the reason
refused() {
	dmesg -c > /dev/null
	[ -z "$(count -e "$1" true)" ]
	tap $? "$1 is refused"
	dmesg | grep -q "pvperf_guest: .*$2"
	tap $? "$1: $2" "$(dmesg | tail -n 1)"
}

# Loading the module again resets the minute in which a reason is logged once.
guest_unload && insmod /lab/pvperf_guest.ko
tap $? "the module is loaded again"
refused r01b7 "register besides the counter"
refused cpu/config=0x01b7,config1=0x10001/ "config1"
refused r20003c "select, umask, edge, inv and cmask only"

# Names of perf's table that set a second register: perf finds no format for that.
for event in ocr.streaming_wr.any_response frontend_retired.dsb_miss; do
	perf list --raw-dump pmu | grep -qw "$event" && [ -z "$(count -e "$event" true)" ]
	tap $? "$event is refused"
done
[ -z "$(count -e topdown-retiring true)" ]
tap $? "topdown-retiring is refused"
[ -n "$(count -e cycles:P true)" ]
tap $? "cycles:P counts without PEBS"
tap_end
