#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The admin's word for a VM that runs makes its host events anew, while they count:
# the period that was under way goes on, and what was missed is not counted as there.
. ./lib.sh

need_host_command
priority=/sys/module/pvperf_host/parameters/priority
vm=$(vm_process)
[ -n "$vm" ] || tap_skip_all "no VM to be found at the host"

# The work: 100 million instructions, and after 60 of them a command on the host.
cat > /tmp/work << 'EOF'
./loop20m; ./loop20m; ./loop20m
host "$1"
./loop20m; ./loop20m
EOF

# Of all tasks, as each has a period of its own. One begun anew would not end.
sampled() { perf record -q -a -o /tmp/a -c 85000000 -e instructions:u sh /tmp/work "$1" 2> /dev/null; }
counted() {
	perf stat -x, -e instructions:u sh /tmp/work "$1" 2>&1 | stat_share
}

sampled true
[ "$(samples /tmp/a)" -eq 1 ]
tap $? "one period and a bit" "$(samples /tmp/a) samples"
before=$(counted true)
for word in pinned flexible; do
	sampled "echo $vm=$word > $priority"
	tap $? "$word: written"
	[ "$(samples /tmp/a)" -eq 1 ]
	tap $? "$word: the period went on" "$(samples /tmp/a) samples"
	after=$(counted "echo $vm=$word > $priority")
	within "${after%% *}" "${before%% *}" 2
	tap $? "$word: scaled the count is right, within 2 permille" "$after, want $before"
done
host "echo $vm=flexible > $priority"
tap_end
