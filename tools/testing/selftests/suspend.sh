#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The guest suspends, as far as a machine can that has no clock to wake it: all notifiers
# are called, and tasks are frozen for two seconds.
. ./lib.sh

need_host_command
[ -w /sys/power/pm_test ] || tap_skip_all "no /sys/power/pm_test"
want=100000004
held() { host "sed -n 's/^pages //p; s/^events //p' $totals" | tr '\n' ' '; }

perf stat -a -x, -o /tmp/stat -e instructions:u sleep 5 &
sleep 1
before=$(held)
host "rm -f /tmp/held; (for i in 1 2 3 4 5 6 7 8; do
	sed -n 's/^pages //p; s/^events //p' $totals | tr '\n' ' '; echo; sleep 0.5
	done) > /tmp/held 2>&1 &"
echo 2 > /sys/module/suspend/parameters/pm_test_delay
echo freezer > /sys/power/pm_test
if echo freeze > /sys/power/state; then slept=0; else slept=1; fi
tap $slept "the guest suspends and resumes"
echo none > /sys/power/pm_test
[ "$(host sort -u /tmp/held | grep -cx '0 0 ')" = 1 ]
tap $? "the host has nothing of it meanwhile" \
	"before: $before; $(host sort -u /tmp/held | tr '\n' ';')"
sleep 1
# Idle events were closed meanwhile, and are not opened again.
after=$(held)
[ "${after% * }" -ge 1 ] && [ "${after#* }" = "${before#* }" ]
tap $? "the host has its events and pages again" "$before, $after"
n=$(count -e instructions:u ./loop100m)
within "${n:-0}" $want 0.01
tap $? "it counts again" "${n:-nothing}"
wait
stat_share /tmp/stat | awk '{ n = $1; share = $NF } END { exit !(n + 0 > 0 && share < 80) }'
tap $? "a count across the suspend is scaled" "$(tr '\n' ' ' < /tmp/stat)"
tap_end
