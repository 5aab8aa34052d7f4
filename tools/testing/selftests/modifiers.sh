#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Modifiers (:u, :k, :G, :H, ...) and raw codes with bits that x86's drivers set
# themselves: the guest's PMU does with each what the host's does. It counts, or counts
# nothing, or refuses.
. ./lib.sh

all="u k uk h uh G H GH uG kH p pp ppp P D I W"
some="u k G H"
# Instructions: plain, with USR and OS, with what libpfm4 adds, with INT and EN alone, with
# pin control, with a bit that no CPU has; then event 0, and the conditional branches that
# rr uses.
raw="rc0 r300c0 r5300c0 r5000c0 r800c0 r80000000000000c0 r0 r5300d1"
# Bits of one maker: AMD's guest and host, AnyThread, all of these. On Intel AnyThread counts
# another vCPU, too, and the bits from 40 on may be another unit mask: both are refused.
makers="r300000000c0 r2000c0 r2800c0 r80003000007b00c0"
if grep -q GenuineIntel /proc/cpuinfo; then
	refused=$makers
else
	raw="$raw $makers"
	refused=
fi

# measure EVENT...: one line for each, "EVENT RESULT". The program executes five million
# user instructions, and fewer kernel instructions.
measure() {
	for event; do
		: > /tmp/stat
		perf stat -x, -o /tmp/stat -e "$event" ./loop5m > /dev/null 2>&1
		stat_share /tmp/stat | awk -v e="$event" '
			{ what = /^</ ? $1 " " $2 : $1 == 0 ? "zero" :
				 $1 >= 5000000 ? "user" : "kernel" }
			END { print e " " (what ? what : "<refused>") }'
	done
}

if [ "$1" = measure ]; then
	shift
	measure "$@"
	exit
fi

need_host_command
list="instructions cycles cpu/instructions/"
for m in $all; do
	list="$list instructions:$m"
done
for m in $some; do
	list="$list cycles:$m cpu/instructions/$m"
done
for m in $raw; do
	list="$list $m $m:u"
done
measure $list > /tmp/here
! grep -q '^instructions <' /tmp/here ||
	tap_skip_all "perf stat counts no instructions here"
host "cd /t && ./modifiers.sh measure $list" > /tmp/there
while read -r event what; do
	host_says=$(grep -F "$event " /tmp/there | awk -v e="$event" '
		$1 == e { sub(/^[^ ]* /, ""); print }')
	[ "$what" = "$host_says" ]
	tap $? "$event: $what" "host: ${host_says:-nothing}"
done < /tmp/here
for e in instructions:u cycles; do
	grep -qx "$e user" /tmp/here
	tap $? "$e counts the program"
done
measure $refused > /tmp/refused
for m in $refused; do
	grep -qx "$m <refused>" /tmp/refused
	tap $? "$m is refused" "$(grep "^$m " /tmp/refused)"
done
for m in r300c0:u r5300c0; do
	grep -qx "$m user" /tmp/here
	tap $? "$m counts the program"
done
grep -qx "instructions:k kernel" /tmp/here
tap $? "instructions:k does not count the program"
tap_end
