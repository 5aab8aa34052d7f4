#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A CPU goes offline and comes back while perf counts. perf ends normally, and the CPU counts
# again.
. ./lib.sh

need_host_command
cpu=/sys/devices/system/cpu/cpu1/online
[ -w $cpu ] || tap_skip_all "no second CPU that can go offline"
want=100000004

before=$(host_total events)
# perf opens its events on all CPUs before it starts the program, so before one goes.
perf stat -a -o /tmp/all -e cycles,instructions \
	sh -c 'echo > /tmp/started; exec sleep 8' &
all=$!
until [ -e /tmp/started ]; do
	sleep 0.05
done
# turn STATE: CPU 1 takes it
turn() {
	echo "$1" > $cpu && [ "$(cat $cpu)" = "$1" ] && turns=$((turns + 1))
	sleep 0.2
}

turns=0
for state in 0 1 0 1 0 1 0 1 0 1; do
	turn $state
done
[ $turns = 10 ]
tap $? "CPU 1 goes and comes back five times under perf stat -a" "$turns of 10"
# taskset's own instructions are counted, too, and are less than 1 %.
n=$(count -e instructions:u taskset -c 1 ./loop100m)
[ "${n:-0}" -ge $want ] && within "$n" $want 10
tap $? "CPU 1 counts again" "${n:-nothing}"

# CPU 1 goes while a task that is counted runs on it.
taskset 2 true && (
	perf stat -x, -o /tmp/hop -e instructions:u sh -c \
		'taskset -p 2 $$ > /tmp/hopping; ./loop100m; ./loop100m; ./loop100m' &
	until [ -s /tmp/hopping ]; do
		sleep 0.01
	done
	echo 0 > $cpu && [ "$(cat $cpu)" = 0 ] && echo > /tmp/gone
	wait
	echo 1 > $cpu
)
n=$([ -e /tmp/gone ] && stat_value /tmp/hop)
awk -v n="${n:-0}" -v w=$want 'BEGIN { exit !(n >= 3 * w && n < 3 * w * 1.05) }'
tap $? "a task whose CPU goes is counted on another one" "${n:-nothing}"
wait $all
tap $? "perf stat -a ends with success"

# The guest closes idle events a second after the last perf.
sleep 3
after=$(host_total events)
[ "$after" -le "$before" ]
tap $? "the host has no more events open than before" "$before, $after"

# A change of the policy is told once, also if other CPUs count only later.
parameters=/sys/module/pvperf_host/parameters
# told TEXT: how often the guest's log has TEXT
told() {
	dmesg | grep -c "pvperf_guest: .*$1"
}
before=$(told "has changed what this VM may count")
taskset 1 perf stat -o /dev/null -e cycles sleep 4 &
sleep 1
host "echo 2000 > $parameters/min_period"
wait $!
taskset 4 perf stat -o /dev/null -e cycles ./loop100m
sleep 2
after=$(told "has changed what this VM may count")
[ "$after" = $((before + 1)) ]
tap $? "a change of the policy is told once" "$((after - before)) times"
host "echo 1000 > $parameters/min_period"

# More events take turns than the host allows from now on.
perf stat -a -o /dev/null -e "$(times 4 instructions:u,branches:u,cycles:u)" sleep 4 &
sleep 1
host "echo 4 > $parameters/max_events"
wait $!
n=$(count -e instructions:u ./loop100m)
exactly "${n:-0}" $want
tap $? "counts when the host has allowed fewer events meanwhile" "${n:-nothing}"
host "echo 64 > $parameters/max_events"

# While the host is away for some seconds the other CPUs count nothing.
perf stat -a -o /dev/null sleep 2
before=$(told "the host side is back")
taskset 1 perf stat -o /dev/null -C 0 -e cycles sleep 9 &
sleep 1
host "echo unavailable > $parameters/access"
sleep 3
host "echo local > $parameters/access"
wait $!
after=$(told "the host side is back")
[ "$after" = $((before + 1)) ]
tap $? "the log says once that the host is back" "$((after - before)) times: $(dmesg | tail -n 4)"

# The host does not attach a CPU that comes later.
guest_unload
echo 0 > $cpu
insmod /lab/pvperf_guest.ko
host "echo unavailable > $parameters/access"
echo 1 > $cpu
[ "$(told "the host does not attach CPU 1")" = 1 ]
tap $? "the log says that the host does not attach a CPU"
host "echo local > $parameters/access"
n=$(count -e instructions:u taskset -c 1 ./loop100m)
[ "${n:-0}" -ge $want ] && within "$n" $want 10
tap $? "CPU 1 counts when the host does" "${n:-nothing}"

# A task that is counted is the first that runs on a CPU that the module has not seen.
guest_unload
echo 0 > $cpu
insmod /lab/pvperf_guest.ko
thread=$(grep -lx cpuhp/1 /proc/[0-9]*/comm | cut -d / -f 3)
perf stat -o /tmp/first -e cycles -p "$thread" sleep 2 &
sleep 1
echo 1 > $cpu
wait $!
n=$(count -e instructions:u taskset -c 1 ./loop100m)
[ "${n:-0}" -ge $want ] && within "$n" $want 10
tap $? "CPU 1 counts when the task that brings it up is counted" "${n:-nothing}: $(cat /tmp/first)"
tap_end
