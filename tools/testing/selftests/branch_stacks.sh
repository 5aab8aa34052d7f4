#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf record -b, unmodified: each stack is an exact run of what the program does again and again,
# of the kinds that were asked for, with nothing of another task, the kernel or the host in it.
. ./lib.sh

need_host_command
trap 'host "echo off > /sys/module/pvperf_host/parameters/branches"; rm -f $data' EXIT
caps=/sys/bus/event_source/devices/cpu/caps

# word VALUE: the guest begins again within a second
word() {
	host "echo $1 > /sys/module/pvperf_host/parameters/branches"
	perf stat -e instructions:u sleep 2 > /dev/null 2>&1
}

# refused REASON COMMAND...: it fails, and the log says why
refused() {
	reason=$1
	shift
	dmesg -c > /dev/null
	! "$@" > /dev/null 2>&1 && dmesg | grep -q "refused: .*$reason"
}

word off
refused 'the host gives none' perf record -o $data -j any,u -e cycles:u true
tap $? "branches=off: refused, with the reason"
word addresses
[ "$(cat $caps/branches)" -gt 0 ] || tap_skip_all "the host's CPU has no stack of branches that guests can have"
refused 'of the kernel' perf record -o $data -b -e cycles true
tap $? "of the kernel, too: refused, with the reason"
refused 'of this kind' perf record -o $data --call-graph lbr -e cycles:u true
tap $? "call stacks: refused, with the reason"
e=pvperf/vcpu-cycles/u
dmesg -c > /dev/null
perf record -o $data -j any,u -e "{$e,$e,$e,$e,$e}" true > /dev/null 2>&1	# 7.x goes on with four
dmesg | grep -q 'refused: .*more than 4 events'
tap $? "five in a group of pvperf: refused, with the reason"

# ways KIND...: "FROM/TO" of branchy's branches of these kinds, in their order
ways() {
	./branchy list | od -A n -v -t x8 -w24 | awk -v kinds=" $* " '{
		if (kinds == "  " || index(kinds, " " $3 + 0 " ")) {
			sub("^0*", "0x", $1); sub("^0*", "0x", $2); print $1 "/" $2 } }'
}

# judge DEPTH KIND...: of the stacks in $data, which go to /tmp/stacks, "N BAD SHORT": how many there
# are, how many are no run of these, how many have fewer than DEPTH; and then one that is BAD or SHORT
judge() {
	depth=$1
	shift
	ways "$@" > /tmp/ways
	perf script -i $data -F brstack --comms branchy > /tmp/stacks 2> /dev/null
	awk -v depth="$depth" '
		FILENAME == "/tmp/ways" { at[$1] = ways++; next }
		!NF { few += depth > 0; next }
		{ n++; bad = 0
		  for (i = 1; i <= NF; i++) {
			split($i, part, "/"); way = part[1] "/" part[2]
			if (!(way in at) || (i > 1 && (at[way] + 1) % ways != last)) bad = 1
			last = at[way] }
		  wrong += bad; few += NF < depth
		  if (bad || NF < depth) odd = substr($0, 1, 200) }
		END { print n + 0, wrong + 0, few + 0, odd }' /tmp/ways /tmp/stacks
}

depth=$(cat $caps/branches)

# right LEAST N BAD SHORT...: soon after a tick a stack is short
right() {
	[ "$2" -gt "$1" ] && [ "$3" -eq 0 ] && [ "$4" -le 2 ]
}

# exact FILTER LEAST KIND...
exact() {
	filter=$1 least=$2
	shift 2
	perf record -q -o $data -j "$filter,u" -c 170017 -e instructions:u ./branchy 2> /dev/null
	result=$(judge "$least" "$@")
	# shellcheck disable=SC2086 # numbers
	right 90 $result
	tap $? "-j $filter,u: each stack is a run of the program's branches" "samples, wrong, short: $result"
}

# Of sixteen entries nine are a turn.
exact any "$depth"
exact any_call $((depth / 9 * 2)) 1 3
exact any_ret $((depth / 9 * 2)) 2
exact ind_call $((depth / 9)) 3
exact call $((depth / 9)) 1
exact cond $((depth / 9 * 3)) 6
exact ind_jmp $((depth / 9)) 5
exact any_ret,call $((depth / 9 * 3)) 1 2

grep -q 0x /tmp/stacks && ! grep -q '/[MP]/' /tmp/stacks
tap $? "branches=addresses: nothing of what the CPU had predicted"
word full
perf record -q -o $data -b -c 170017 -e instructions:u ./branchy 2> /dev/null
result=$(judge "$depth")
# shellcheck disable=SC2086 # numbers
right 90 $result && grep -q '/P/.*NON_SPEC' /tmp/stacks
tap $? "branches=full, -b -e instructions:u: predictions, too" "samples, wrong, short: $result; $(head -n 1 /tmp/stacks)"
perf report -i $data --stdio --branch-history --no-children 2> /dev/null | grep -q '\<b9\>'
tap $? "perf report --branch-history has the program's names"
perf report -i $data --stdio --sort symbol_from,symbol_to 2> /dev/null | grep -q '\<b9\>.*\<b1\>'
tap $? "perf report --sort symbol_from,symbol_to"

# As BOLT's and AutoFDO's documents have it.
for call in '-e cycles:u -j any,u' '-a -e cycles:u -j any,u' '-b -e cycles:u -F 5000'; do
	# shellcheck disable=SC2086 # several words
	perf record -q -o $data $call -- ./branchy 2> /dev/null
	result=$(judge 0)
	# shellcheck disable=SC2086 # numbers
	right 10 $result
	tap $? "perf record $call" "samples, wrong, short: $result"
done

# What a tool that optimizes by profiles takes from it: how often each branch is taken.
perf record -q -o $data -b -c 170017 -e instructions:u ./branchy_again 2> /dev/null
./branchy_again list | od -A n -v -t x8 -w24 | awk '{ sub("^0*", "0x", $1); sub("^0*", "0x", $2); print $1 "/" $2 }' > /tmp/ways
share=$(perf script -i $data -F brstack 2> /dev/null | tr -s ' ' '\n' | grep 0x | cut -d / -f 1,2 | sort | uniq -c |
	awk 'FILENAME == "/tmp/ways" { way[FNR] = $1; next }
	     { n[$2] = $1; all += $1 }
	     END { printf "%d", n[way[8]] * 1000 / all
		   for (i = 1; i <= 9; i++) if (i != 8) printf " %d", n[way[i]] * 1000 / all }' /tmp/ways -)
within "${share%% *}" 467 40
tap $? "a branch that is taken seven times of fifteen has that share" "permille: $share"
bad=0
for one in ${share#* }; do within "$one" 67 250 || bad=1; done
[ "$(echo "$share" | wc -w)" = 9 ] && [ $bad = 0 ]
tap $? "and each of the others one of fifteen" "permille: $share"

# A user without rights: perf leaves the kernel out by itself.
echo 2 > /proc/sys/kernel/perf_event_paranoid
mkdir -p /tmp/user && chown 1000 /tmp/user
/usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all \
	perf record -q -o /tmp/user/data -b ./branchy > /tmp/err 2>&1
cat /tmp/user/data > $data
result=$(judge 1)
# shellcheck disable=SC2086 # numbers
right 5 $result
tap $? "-b as a user" "samples, wrong, empty: $result; $(head -c 300 /tmp/err)"
echo 3 > /proc/sys/kernel/perf_event_paranoid

# Two programs give each other the CPU in each turn: a stack ends where the kernel has switched.
perf record -q -a -o $data -b -c 5003 -e instructions:u \
	sh -c './branchy_here & ./branchy_there & wait' 2> /dev/null
for at in here/0x4 there/0x5; do
	perf script -i $data -F brstack --comms "branchy_${at%/*}" > /tmp/stacks 2> /dev/null
	n=$(grep -c 0x /tmp/stacks)
	others=$(tr -s ' ' '\n' < /tmp/stacks | grep 0x | grep -vc "^${at#*/}.*/${at#*/}")
	[ "$n" -gt 5 ] && [ "$others" -eq 0 ]
	tap $? "tasks in turn: ${at%/*}: no stack has the other one's branches" "$n stacks, $others branches"
done
# An event that counts the kernel, too, may overflow there when the next task runs already.
perf record -q -a -o $data -j any,u -c 30011 -e instructions \
	sh -c './branchy_here & ./branchy_there & wait' 2> /dev/null
for at in here/0x4 there/0x5; do
	perf script -i $data -F brstack --comms "branchy_${at%/*}" > /tmp/stacks 2> /dev/null
	n=$(perf script -i $data -F comm --comms "branchy_${at%/*}" 2> /dev/null | grep -c .)
	others=$(tr -s ' ' '\n' < /tmp/stacks | grep 0x | grep -vc "^${at#*/}.*/${at#*/}")
	[ "$n" -gt 50 ] && [ "$others" -eq 0 ]
	tap $? "in the kernel, too: ${at%/*}: no stack has the other one's branches" "$n samples, $others branches"
done
perf record -q -o $data -j any,u -c 170017 -e instructions ./branchy 2> /dev/null
result=$(judge 0)
# shellcheck disable=SC2086 # numbers
right 90 $result
tap $? "in the kernel, too: samples of user mode have stacks" "samples, wrong, short: $result"
perf record -q -o $data -e pvperf/host-context-switches/ -c 1 true > /dev/null 2>&1 &&
	! perf record -q -o $data -j any,u -e pvperf/host-context-switches/ -c 1 true > /dev/null 2>&1
tap $? "events of the host's software have none"
tap_end
