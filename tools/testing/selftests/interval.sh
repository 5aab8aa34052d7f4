#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf stat -a -I reads the events of a CPU one after the other. The guest asks the host
# for all of them in one call for each CPU and interval, and no count is lost.
. ./lib.sh

need_host_command
cpus=$(nproc)
intervals=10
u6=cycles:u,instructions:u,branches:u,branch-misses:u,cache-references:u,cache-misses:u

need_count

run() { perf stat -x, -a -I 100 -o /tmp/b -e $u6 sh -c "./loop20m; sleep $1"; }
run 1
a=$(host_total calls)
run 1
b=$(host_total calls)
run 2
c=$(host_total calls)
more=$(((c - b) - (b - a)))
[ $more -ge $((intervals * cpus * 9 / 10)) ] && [ $more -le $((intervals * cpus * 3 / 2)) ]
tap $? "one call for each CPU and interval" "$more in $intervals, on $cpus CPUs"

# whole EVENT: its sum over all intervals
whole() { grep -F ",$1," /tmp/b | interval_value | sum; }
n=$(whole instructions:u)
[ "$n" -gt 20000004 ]
tap $? "the intervals have all instructions" "$n"
within "$(whole cycles:u)" "$n" 1
tap $? "there are as many cycles" "$(whole cycles:u)"
within "$(($(whole branches:u) * 8))" "$n" 1
tap $? "there are an eighth as many branches" "$(whole branches:u)"
awk -F, '/,/ && $6 != "100.00" { print }' /tmp/b > /tmp/c
tap "$(grep -c . /tmp/c)" "each counts all of the time" "$(head -n 3 /tmp/c | tr '\n' ' ')"

# perf tries its events on the CPU where it runs: these have all that the VM may have, for a while.
guest_unload
insmod /lab/pvperf_guest.ko
host "echo max_vm_events=4 > /dev/pvperf_policy"
taskset 2 sh -c 'while :; do :; done' &
taskset 1 perf stat -x, -o /tmp/d -e cycles:u,instructions:u,branches:u,branch-misses:u -p $! sleep 6
kill $!
host "echo > /dev/pvperf_policy"
awk -F, '/:u/ && $1 + 0 > 0 { n++ } END { exit n != 4 }' /tmp/d
tap $? "a limit of the VM: what was tried on one CPU makes room on another" "$(cat /tmp/d)"

host "echo access=exclusive > /dev/pvperf_policy"
perf stat -o /tmp/d -e cycles:u sh -c 'sleep 9; ./loop20m' &
sleep 7
alone=$(host "grep -c alone=1 /sys/kernel/debug/pvperf/vms")
wait
host "echo > /dev/pvperf_policy"
[ "$alone" = 1 ]
tap $? "a VM that counts alone keeps the host while its task sleeps" "$alone"
tap_end
