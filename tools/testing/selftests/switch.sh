#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The admin writes to the parameter access: pvperf is taken from the guests at once, and
# KVM is as it was; or it is given back, and they count again. By a rule
# the same happens to some VMs only, and the hooks stay.
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

# take WORD FILE: write WORD to FILE on the host while perf counts
take() {
	perf stat -x, -o /tmp/stat -e instructions:u sh -c './loop100m; sleep 1; ./loop100m' &
	usleep 300000
	host "echo '$1' > $2"
	tap $? "$1: pvperf is taken away under perf"
	[ "$(host "head -n 1 $2")" = "$1" ]
	tap $? "$1: the file says so"
	wait
	n=$(stat_value /tmp/stat)
	[ -z "$n" ] || [ "$n" -ge $want ]
	tap $? "$1: perf says what was counted until then, or that nothing was" "$(cat /tmp/stat)"
}

# comes_back: perf counts again, some time later. A run that the host's counter joins late
# is scaled, and perf says so: its share is not 100.00.
comes_back() {
	i=0
	share=
	until [ "$share" = 100.00 ] || [ $((i += 1)) -gt 20 ]; do
		sleep 0.5
		perf stat -x, -o /tmp/stat -e instructions:u ./loop100m
		read -r n share <<- EOF
			$(stat_share /tmp/stat)
		EOF
	done
	exactly "${n:-0}" $want
	tap $? "perf counts again" "$n at $share %"
}

take unavailable $access
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
comes_back

rules=/dev/pvperf_policy
take "comm=$(host "cat /proc/$(vm_process)/comm") access=unavailable" $rules
[ "$(hooked)" = "$hooks" ]
tap $? "KVM is still hooked" "$(hooked)"
[ "$(host_total events)$(host_total pages)" = 00 ]
tap $? "the VM that gets nothing has nothing left"
n=$(count -e instructions:u ./loop100m)
[ -z "$n" ]
tap $? "perf counts nothing in a VM that gets nothing" "$n"
perf stat -o /dev/null sleep 2
dmesg | grep -q 'operator has taken pvperf from this VM'
tap $? "the guest's log says who took it"
host "echo > $rules"
tap $? "no rule is left"
comes_back

# A word that says what may be counted: the guest opens anew what it may, and asks for the rest.
host "echo raw=no > $rules"
take_raw() {
	perf stat -x, -o /tmp/stat -e r5300c0 true 2> /dev/null
	[ -n "$(stat_value /tmp/stat)" ]
}
sleep 2
! take_raw
tap $? "raw=no: no raw event" "$(cat /tmp/stat)"
dmesg | grep -q "operator has changed what this VM may count"
tap $? "raw=no: the guest's log says why"
n=$(count -e instructions:u ./loop100m)
exactly "${n:-0}" $want
tap $? "raw=no: others count" "$n"
host "echo > $rules"
sleep 2
take_raw
tap $? "raw events are back" "$(cat /tmp/stat)"
tap_end
