#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A guest moves to another QEMU, by a real migration or out of a file, and so to a host side
# that has nothing of it. If no event was open, the first sampling event afterwards has its
# samples; if events counted, all of them go on and lose little.
. ./lib.sh

need_guest_command

# moved NAME HOW SECONDS COMMAND: a guest starts COMMAND, which prints "ready". So many seconds
# later the guest moves to another QEMU, where COMMAND prints "done". Its output there is in
# /run/after, that before in /run/before.
moved() {
	rm -f /run/m /run/before /run/after
	guest -n guest "$4" > /run/before 2>&1 &
	first=$!
	waited_for 'grep -q ready /run/before' || return 1
	sleep "$3"
	case $2 in
	socket)
		guest -n gues2 -q '-incoming unix:/run/m' "$4" > /run/after 2>&1 &
		second=$!
		waited_for '[ -S /run/m ]' || return 1
		mon_of guest migrate unix:/run/m > /dev/null;;
	file)
		mon_of guest migrate file:/run/m > /dev/null
		waited_for 'mon_of guest info migrate | grep -q completed' || return 1
		guest -n gues2 -q '-incoming file:/run/m' "$4" > /run/after 2>&1 &
		second=$!;;
	esac
	waited_for '! [ -d /proc/$second ] || mon_of gues2 info status | grep -q running'
	mon_of guest quit > /dev/null
	wait $first $second
	grep -q '^done' /run/after
	tap $? "$1: the guest goes on in the other QEMU" "$(tail -n 3 /run/before /run/after | tr '\n' ';')"
}

# mon_of NAME COMMAND...: the monitor of that guest's QEMU
mon_of() {
	mon_name=$1
	shift
	LAB_GUEST_NAME=$mon_name mon "$@" 2> /dev/null
}

# waited_for COMMAND: until it succeeds, for some seconds
waited_for() {
	tries=0
	until eval "$1"; do
		[ $((tries += 1)) -lt 600 ] || return 1
		usleep 50000
	done
}

# nothing NAME HOW: moves with no event open, and records then
nothing() {
	moved "$1" "$2" 0 'perf stat -e instructions:u true 2> /dev/null; sleep 1.5
		echo ready; sleep 3
		perf record -q -c 100000 -e instructions:u -o /tmp/data hot 5
		perf report -i /tmp/data --stats | grep -E "SAMPLE events|LOST_SAMPLES events"
		dmesg | grep -c -i dazed | sed "s/^/unknown NMIs: /"; echo done'
	samples=$(sed -n 's/^ *SAMPLE events: *\([0-9]*\).*/\1/p' /run/after | head -n 1)
	[ "${samples:-0}" -gt 300 ] && grep -q '^unknown NMIs: 0' /run/after
	tap $? "$1: the moved guest has its samples, and no unknown NMI" "$(tr '\n' ';' < /run/after)"
}

six=cycles:u,instructions:u,branches:u,branch-misses:u,cache-references:u,cache-misses:u

# counting NAME HOW: moves while six events of a CPU count: those of a task would be read when a
# kernel thread interrupts it
counting() {
	moved "$1" "$2" 3 "echo ready; perf stat -a -x, -o /tmp/stat -e $six hot 700; cat /tmp/stat; echo done"
	awk -F, 'NF > 4 { events++; if ($1 + 0 > 0 && $5 > 60) good++ } END { exit !(events == 6 && good == 6) }' /run/after
	tap $? "$1: all six events have lost little" "$(grep -E '^[0-9<]' /run/after | cut -d , -f 1,3,5 | tr '\n' ';')"
}

nothing "migrated, no event open" socket
nothing "out of a file, no event open" file
counting "migrated while counting" socket
tap_end
