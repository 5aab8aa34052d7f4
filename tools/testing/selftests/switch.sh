#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The admin writes to the parameter access: pvperf is taken from the guests at once, and
# KVM is as it was; or it is given back, and they count again.
. ./lib.sh

need_host_command
need_count
access=/sys/module/pvperf_host/parameters/access
want=100000004

# hooked: how many functions of KVM the host's module hooks
hooked() {
	host "grep -c pvperf_host /sys/kernel/tracing/enabled_functions"
}
host 'mount -t tracefs none /sys/kernel/tracing 2> /dev/null'
hooks=$(hooked)
[ "${hooks:-0}" -gt 0 ]
tap $? "KVM is hooked" "$hooks"

perf stat -x, -o /tmp/stat -e instructions:u sh -c './loop100m; sleep 1; ./loop100m' &
usleep 300000
host "echo unavailable > $access"
tap $? "pvperf is taken away under perf"
[ "$(host "cat $access")" = unavailable ]
tap $? "the parameter says so"
wait
n=$(stat_value /tmp/stat)
[ -z "$n" ] || [ "$n" -ge $want ]
tap $? "perf says what was counted until then, or that nothing was" "$(cat /tmp/stat)"
[ "$(hooked)" = 0 ]
tap $? "KVM is not hooked any more"
[ "$(host_total vms)$(host_total events)$(host_total pages)" = 000 ]
tap $? "the host has nothing left"
n=$(count -e instructions:u ./loop100m)
[ -z "$n" ]
tap $? "perf counts nothing" "$n"
host "echo unavailable > $access"
tap $? "a second time changes nothing"
host "echo everyone > $access" 2> /dev/null
[ $? -ne 0 ]
tap $? "another word is refused"

host "echo local > $access"
tap $? "pvperf is given back"
[ "$(hooked)" = "$hooks" ]
tap $? "KVM is hooked as before" "$(hooked)"
i=0
until n=$(count -e instructions:u ./loop100m); [ -n "$n" ] || [ $((i += 1)) -gt 20 ]; do
	sleep 0.5
done
exactly "${n:-0}" $want
tap $? "perf counts again" "$n"
tap_end
