#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's admin changes the priority of a running VM, and the host opens its events
# again while they count. The current period goes on, and the time in which they did not
# count shows as scaling.
. ./lib.sh

need_host_command
vm=$(vm_process)
[ -n "$vm" ] || tap_skip_all "no VM to be found at the host"

# The work: 100 million instructions, with a command on the host after 60 million.
cat > /tmp/work << 'EOF'
./loop20m; ./loop20m; ./loop20m
host "$1" || exit 9
./loop20m; ./loop20m
EOF

# -a, because each task has a period of its own. A period that started again would not
# end within the work.
sampled() { perf record -q -a -o /tmp/a -c 85000000 -e instructions:u sh /tmp/work "$1" 2> /dev/null; }
counted() {
	perf stat -x, -e instructions:u sh /tmp/work "$1" 2>&1 | stat_share
}

sampled true
[ "$(samples /tmp/a)" -eq 1 ]
tap $? "one sample in a bit more than one period" "$(samples /tmp/a) samples"
before=$(counted true)
[ "${before%% *}" -gt 0 ]
tap $? "work that is counted" "$before"
for word in pinned flexible; do
	sampled "echo pid=$vm priority=$word > /dev/pvperf_policy"
	tap $? "$word: written"
	host "grep -q 'pid=$vm priority=$word' /dev/pvperf_policy"
	tap $? "$word: is the rule now"
	[ "$(samples /tmp/a)" -eq 1 ]
	tap $? "$word: the period goes on" "$(samples /tmp/a) samples"
	after=$(counted "echo pid=$vm priority=$word > /dev/pvperf_policy")
	within "${after%% *}" "${before%% *}" 2
	tap $? "$word: the scaled count is right, within 2 permille" "$after, want $before"
done
# What the host is too busy to open: core would leave a pinned event in error.
host "echo max_opens=1 > /dev/pvperf_policy"
(while :; do :; done) &
program=$!
perf stat -x, -o /tmp/stat -e cycles:uD,branches:uD -p $program sleep 6
kill $program
stat_share /tmp/stat | awk '$1 + 0 > 0 { n++ } END { exit n != 2 }'
tap $? "pinned events that the host is too busy to open count later" "$(tr '\n' ' ' < /tmp/stat)"
host "echo > /dev/pvperf_policy"
tap_end
