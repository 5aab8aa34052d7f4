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
	stat_share /tmp/stat > /tmp/share
	read -r n share < /tmp/share
	[ "$n" = "<not" ] || { [ "${n:-0}" -ge $want ] && [ "${share%.*}" -lt 100 ]; }
	tap $? "$1: perf says which part was counted, or that nothing was" "$(cat /tmp/stat)"
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
comm=$(host "cat /proc/$(vm_process)/comm")
take "comm=$comm access=unavailable" $rules
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

# Two changes while nobody counts: the host can tell the first one only. Then it comes back.
told() { dmesg | grep -c "$1"; }
sleep 2
gone=$(told 'the host side has gone') changed=$(told 'may count, and the host side is not there')
back=$(told 'pvperf_guest: the host side is back')
host "echo raw=no > $rules; echo comm=$comm access=unavailable > $rules"
perf stat -o /dev/null sleep 2
[ "$(told 'the host side has gone') $(told 'may count, and the host side is not there')" = "$gone $((changed + 1))" ]
tap $? "two changes: the log tells the one that the host told" "$(dmesg | tail -n 2)"
host "echo > $rules"
perf stat -o /dev/null sleep 2
host "echo unavailable > $access"
perf stat -o /dev/null sleep 2
host "echo local > $access"
perf stat -o /dev/null sleep 2
[ "$(told 'pvperf_guest: the host side is back')" = $((back + 1)) ]
tap $? "then one without a reason: the host side is back" "$(dmesg | tail -n 2)"

# few_refused NAME: the host refuses the events of tasks that come and go often. It is asked once
# a second for each that a program opened; three at most here. perf may take some seconds to open
# them, and asking for the total takes time, too.
few_refused() {
	tries=0
	until [ "$(host_total events)" -gt 0 ] || [ $((tries += 1)) -gt 50 ]; do
		sleep 0.2
	done
	sleep 1
	host "echo raw=no > $rules"
	sleep 2
	since=$(cut -d. -f1 /proc/uptime)
	refused=$(host_total refused)
	sleep 2
	refused=$(($(host_total refused) - refused))
	since=$(($(cut -d. -f1 /proc/uptime) - since))
	[ $refused -ge 1 ] && [ $refused -le $((6 * since)) ]
	tap $? "raw=no under perf, $1: few OPENs are refused" "$refused in $since s"
}
perf bench sched pipe -l 1000000 > /dev/null &
bench=$!
sleep 0.5
perf stat -o /dev/null -e r5300c0,r5300c2 -p $bench &
counters=$!
perf stat -o /dev/null -e r5300c4 -p "$(cat /proc/$bench/task/$bench/children)" &
counters="$counters $!"
few_refused "two tasks"
kill -INT $counters
kill $bench
wait
host "echo > $rules"
sleep 2
perf stat -o /dev/null -e r5300c0 sh -c 'while /bin/true && [ ! -e /tmp/enough ]; do :; done' &
counter=$!
few_refused "many forks"
kill -0 $counter
tap $? "raw=no under perf: a program can fork"
touch /tmp/enough
wait
host "echo > $rules"
sleep 2

host "echo raw=list > $rules"
sleep 2
take_raw
tap $? "raw=list: retired instructions are counted" "$(cat /tmp/stat)"
perf stat -x, -o /tmp/stat -e r0160 true 2> /dev/null
[ -z "$(stat_value /tmp/stat)" ] && dmesg | grep -q 'raw event 0x160: .* alone (raw=list)'
tap $? "raw=list: the second-level cache is not, and the guest's log says why" "$(cat /tmp/stat)"

# both_sides: count the guest's instructions, and those of the host's side as well, in $guest, $host
both_sides() {
	perf stat -x, -o /tmp/stat -e pvperf/vcpu-instructions/,pvperf/vcpu-instructions,host=1/ \
		./loop100m 2> /tmp/error
	guest=$(awk -F, '$1 + 0 && !/host=1/ { print $1 }' /tmp/stat)
	host=$(awk -F, '$1 + 0 && /host=1/ { print $1 }' /tmp/stat)
}
both_sides
[ -z "$host" ] && dmesg | grep -q 'host=1): the host does not allow that; ask .* (access=global)'
tap $? "access=local: the host's side is refused, and the guest's log says why" "$host"
host "echo access=global > $rules"
sleep 2
both_sides
[ "${guest:-0}" -ge $want ] && [ "${host:-0}" -gt "$((guest + 10000))" ]
tap $? "access=global: the host's side counts" "guest $guest, with the host's side $host"
! perf record -q -o /dev/null -e pvperf/vcpu-instructions,host=1/ true 2> /tmp/error &&
	dmesg | grep -q 'host=1): it is only counted; use perf stat'
tap $? "access=global: the host's side is not sampled, and the guest's log says so" "$(cat /tmp/error)"
host "echo > $rules"
sleep 2
both_sides
[ -z "$host" ]
tap $? "access=global is taken back" "$host"

# This VM may count alone only, and another one counts.
uid=$(host "stat -c %u /proc/$(vm_process)")
host "echo 'uid=$uid comm=$comm access=exclusive' > $rules"
host '/t/counts 3' > /tmp/other &
sleep 1
n=$(count -e instructions:u ./loop100m)
[ -z "$n" ] && dmesg | grep -q 'this VM counts only while no other VM does'
tap $? "access=exclusive: nothing is counted beside another VM, and the guest's log says why" "$n"
wait
grep -qx 'it counts' /tmp/other
tap $? "access=exclusive: the other VM counts" "$(cat /tmp/other)"
comes_back
host "echo > $rules"
tap $? "access=exclusive is taken back"

# The module's look at what the host has, and a program whose event is refused in the end, leave
# nothing open: no other VM would count.
guest_unload
insmod /lab/pvperf_guest.ko
host "echo 'uid=$uid comm=$comm access=exclusive' > $rules"
sleep 5
host '/t/counts 1' > /tmp/other
grep -qx 'it counts' /tmp/other
tap $? "access=exclusive: while nobody counts in this VM the other one does" "$(cat /tmp/other)"
host "echo > $rules"
./pmu_sample -t lower_limit > /dev/null
sleep 3
[ "$(host_total events)" = 0 ]
tap $? "what was refused in the end leaves no event at the host" "$(host_total events)"

# Another VM takes the host for itself.
perf stat -a -x, -o /tmp/stat -e instructions:u sh -c './loop100m; sleep 6; ./loop100m' &
sleep 1
host 'cd /t && ./alone -t force' > /tmp/alone
grep -q 'ok 1 alone.force' /tmp/alone
tap $? "another VM takes the host by force" "$(cat /tmp/alone)"
wait
stat_share /tmp/stat > /tmp/share
read -r n share < /tmp/share
[ "${n:-0}" -ge $want ] && [ "${share%.*}" -lt 100 ]
tap $? "perf says which part was counted" "$(cat /tmp/stat)"
dmesg | grep -q 'another VM counts alone'
tap $? "the guest's log says why"
comes_back
tap_end
