#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf stat, unmodified, in the guest and in the host. The program's number of user
# instructions is known exactly, and is the same in both.
. ./lib.sh

want=100000004

need_count
guest=$(count -e instructions:u ./loop100m)
within "$guest" $want 0.01
tap $? "in the guest loop100m has $want user instructions" "$guest"

if in_lab guest; then
	host=$(host "cd /t; perf stat -x, -e instructions:u ./loop100m 2>&1" | stat_value)
	within "$host" $want 0.01
	tap $? "so it has in the host" "$host"
	within "$guest" "$host" 0.01
	tap $? "guest and host count the same" "$guest, $host"
else
	tap_skip "so it has in the host" "outside of the lab there is no command host"
fi

# Each event has a number above 0.
perf stat -x, -o /tmp/stat -e cycles,instructions,branches,branch-misses \
	./loop100m
[ "$(stat_value /tmp/stat | grep -c '^[1-9]')" = 4 ]
tap $? "four events are counted at once" "$(tr '\n' ' ' < /tmp/stat)"

# The PMU, by each of its names.
for event in cpu-cycles cycles instructions cpu/instructions/ pvperf/vcpu-instructions/; do
	case $event in
	*/*) [ -d "/sys/bus/event_source/devices/${event%%/*}" ] || continue;;
	esac
	n=$(count -e "$event" ./loop100m)
	[ "$(echo "$n" | grep -c .)" = 1 ]
	tap $? "$event is one event" "$(echo "$n" | tr '\n' ' ')"
	least=$want
	case $event in *cycles*) emulated || least=$((want / 16));; esac
	[ "${n:-0}" -ge $least ]
	tap $? "$event counts" "${n:-nothing}"
done

# -a: all CPUs executed at least what the program executed.
n=$(count -a -e instructions:u ./loop100m)
[ "${n:-0}" -ge $want ]
tap $? "-a counts the program" "${n:-nothing}"

# -A: each CPU on its own line; the program counts on the CPU that it is bound to.
cpus=$(nproc)
last=$((cpus - 1))
perf stat -a -A -x, -o /tmp/stat -e instructions:u taskset -c $last ./loop100m
awk -F, -v cpu="CPU$last" -v want=$want -v cpus="$cpus" '
	$1 ~ /^CPU/ { lines++; if ($1 == cpu) there = $2; else other += $2 }
	END { exit !(lines == cpus && there >= want && other < want / 10) }' /tmp/stat
tap $? "-A counts the program on its CPU" "$(grep CPU /tmp/stat | tr '\n' ' ')"

# -I: the intervals add up to the whole. perf prints no interval after it has seen its
# child's end, so no line has what the child does after perf's last reading. That's why
# the child sleeps for some intervals before it ends.
sleepy='./loop100m; sleep 0.1'
whole=$(count -e instructions:u sh -c "$sleepy")
sum=$(perf stat -I 20 -x, -e instructions:u sh -c "$sleepy" 2>&1 | interval_value | sum)
[ "${whole:-0}" -ge $want ] && within "${sum:-0}" "$whole" 0.1
tap $? "-I: the intervals add up" "${sum:-nothing} of ${whole:-nothing}"

# -r: all runs count the same.
n=$(count -r 3 -e instructions:u ./loop100m)
exactly "${n:-0}" $want
tap $? "-r: three runs have the same mean" "${n:-nothing}"

# All members of a group count all of the time.
perf stat -x, -o /tmp/stat -e '{cycles,instructions,branches}' ./loop100m
[ "$(stat_share /tmp/stat | grep -c '^[0-9]* 100\.00$')" = 3 ]
tap $? "a group counts all of the time" "$(tr '\n' ' ' < /tmp/stat)"

# What a cgroup's tasks do, and not what others do. A cgroup has perf's controller once its parent
# has given it any other, as systemd does.
top=/sys/fs/cgroup
mounted=
grep -q " $top cgroup2 " /proc/mounts || { mount -t cgroup2 none $top; mounted=1; }
echo +pids > $top/cgroup.subtree_control
mkdir $top/busy $top/idle
perf stat -a -x, -o /tmp/stat -e instructions:u --for-each-cgroup busy,idle \
	sh -c "./loop100m; echo \$\$ > $top/busy/cgroup.procs; exec ./loop100m"
rmdir $top/busy $top/idle
[ -z "$mounted" ] || { echo -pids > $top/cgroup.subtree_control; umount $top; }
n=$(grep ',busy,' /tmp/stat | stat_value)
within "${n:-0}" $want 1 && grep -q '^<not counted>.*,idle,' /tmp/stat
tap $? "each cgroup counts its own tasks" "$(grep instructions /tmp/stat | tr '\n' ' ')"

# An ordinary user, by the guest's sysctl: 3 is Debian's default.
paranoid=/proc/sys/kernel/perf_event_paranoid
before=$(cat $paranoid)
user() { /usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all "$@"; }
echo 3 > $paranoid
user perf stat -e instructions:u true > /tmp/err 2>&1
[ $? -ne 0 ] && grep -q 'Access to performance monitoring and observability operations is limited' /tmp/err
tap $? "an ordinary user may not count with perf_event_paranoid 3" "$(head -n 3 /tmp/err | tr '\n' '|')"
echo 2 > $paranoid
n=$(user perf stat -x, -e instructions:u ./loop100m 2>&1 | stat_value)
exactly "${n:-0}" $want
tap $? "and with 2 counts the user side of programs" "${n:-nothing}"
! user perf stat -a -e instructions:u true > /dev/null 2>&1
tap $? "but no whole CPU"
echo "$before" > $paranoid
tap_end
