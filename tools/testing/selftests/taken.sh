#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What else takes a host's counters while the guest counts: the NMI watchdog, a large
# group of the host's perf, a CPU that goes offline. perf's number in the guest is right
# after scaling.
. ./lib.sh

need_host_command
six=600000024
counters=$(instruction_counters)
[ "${counters:-0}" -gt 2 ] || tap_skip_all "not enough counters: ${counters:-none}"
events=$(times "$counters" instructions:u)
thread=$(vcpu_thread)

# during COMMAND...: count with all counters, and run COMMAND on the host after 200 million
# instructions
during() {
	cat > /tmp/work <<- EOF
		./loop100m; ./loop100m; host "$*" > /dev/null 2>&1
		./loop100m; ./loop100m; ./loop100m; ./loop100m
	EOF
	perf stat -x, -e $events sh /tmp/work 2>&1 | stat_share > /tmp/numbers
}

# right NAME LOW HIGH: all counts within 2 %, each with a share of the time from LOW to
# HIGH
right() {
	awk -v low="$2" -v high="$3" -v want="$want" -v all="$counters" '
		{ d = $1 - want; if (d < 0) d = -d; n++
		  if (d > want * 0.02 || $2 < low || $2 > high) exit 1 }
		END { if (n != all) exit 1 }' /tmp/numbers
	tap $? "$1" "$(tr '\n' ';' < /tmp/numbers) want $want"
}

during true
want=$(sed -n '1s/ .*//p' /tmp/numbers)
within "${want:-0}" $six 50
tap $? "no other user" "$want"

watchdog=/proc/sys/kernel/nmi_watchdog
during "echo 1 > $watchdog"
if [ "$(host cat $watchdog)" = 1 ]; then
	right "the NMI watchdog comes" 60 99.9
	host "echo 0 > $watchdog"
else
	tap_skip "the NMI watchdog comes" "the host has no watchdog that can be switched on"
fi

taker_start "{instructions:D,$(times $((counters - 2)) instructions)}"
during "echo enable > /run/taker; usleep 10000"
right "a group comes that leaves one" 20 80
during "echo disable > /run/taker; usleep 10000"
right "the group goes" 30 99
taker_end

cpu=/sys/devices/system/cpu/cpu1/online
host "taskset -p 2 $thread > /dev/null"
during "echo 0 > $cpu"
[ -n "$thread" ] && [ "$(host cat $cpu)" = 0 ]
tap $? "it is offline" "$thread"
right "the CPU that the vCPU runs on goes" 100 100
during "echo 1 > $cpu; taskset -p 2 $thread"
right "the CPU comes back, and the vCPU moves there" 100 100
tap_end
