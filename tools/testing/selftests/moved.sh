#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A VM moves to another host while it counts, and the memory that the old host side wrote is
# older than what the guest knows: a migration sends a page once, and the host's writes are
# not in KVM's dirty log. Here the VM stops, an old copy of that memory is put in place, and
# the host's module is another one when the VM goes on.
. ./lib.sh

need_host_command
need_count
[ "$(host 'ls /lab/pvperf_host.ko')" ] || tap_skip_all "no /lab/pvperf_host.ko on the host"
vm=$(vm_process)

# move restore|odd: counts meanwhile; output in /tmp/moved
move() {
	./pmu_moved 5 > /tmp/moved &
	moving=$!
	usleep 700000
	host "/t/poke $vm save /tmp/areas" > /tmp/saved
	tap $? "$1: the host's writes are saved" "$(cat /tmp/saved)"
	usleep 700000
	host "mon stop > /dev/null; rmmod pvperf_host; /t/poke $vm $1 /tmp/areas
		insmod /lab/pvperf_host.ko; mon cont > /dev/null" > /tmp/restored
	grep -q areas /tmp/restored
	tap $? "$1: an old copy of them is put in place" "$(cat /tmp/restored)"
	wait $moving
	tap $? "$1: neither count nor times go back, or are too high" "$(head -n 2 /tmp/moved | tr '\n' ';')"
	sed -n 's/^counted \([0-9]*\) of \([0-9]*\), enabled \([0-9]*\), running \([0-9]*\)$/\1 \2 \3 \4/p' \
		/tmp/moved > /tmp/counted
	read -r count truth enabled running < /tmp/counted
	awk "BEGIN { exit !($count * $enabled / $running / $truth > 0.95 && $count * $enabled / $running / $truth < 1.05) }"
	tap $? "$1: scaled, the count is right" "$(tail -n 1 /tmp/moved)"
	[ "$running" -gt $((enabled / 2)) ]
	tap $? "$1: the guest counts again soon" "$running of $enabled"
}

move restore
move odd
tap_end
