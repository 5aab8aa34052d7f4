#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a make does: many short-lived children on all CPUs, sampled with their
# callchains. Each overflow of the host's is a sample, or is said to be lost.
. ./lib.sh

data=/tmp/perf.data
forks=${FORKS:-8}

perf record -q -c 1000000 -o $data true > /dev/null 2>&1
[ -s $data ] || tap_skip_all "perf record records nothing here"

cat > /tmp/forks << 'EOF'
i=0
while [ $i -lt $1 ]; do
	(/bin/true; echo $i | sed s/1/2/ > /dev/null) &
	i=$((i + 1))
	[ $((i % 8)) -ne 0 ] || wait
done
wait
EOF
overflows() { host "sed -n 's/^overflows //p' $totals"; }

# record NAME OPTIONS...
record() {
	name=$1
	shift
	before=$(overflows)
	perf record -q -o $data "$@" sh /tmp/forks "$forks" > /tmp/err 2>&1
	tap $? "$name: recorded" "$(tail -n 1 /tmp/err)"
	made=$(($(overflows) - before))
	samples=$(samples $data)
	lost=$(lost $data)
	[ "$samples" -gt 10 ] && [ "$made" -eq $((samples + lost)) ]
	tap $? "$name: $made overflows are $samples samples and $lost lost"
}

record "inherited" -F 3999 -g -e cycles
tasks=$(perf script -i $data -F pid 2> /dev/null | sort -u | grep -c '[0-9]')
[ "$tasks" -gt 10 ]
tap $? "inherited: samples of many tasks" "$tasks"
deep=$(perf script -i $data -F ip 2> /dev/null | awk '
	/^$/ { if (depth > 1) deep++; depth = 0 } /[0-9a-f]/ { depth++ }
	END { print deep + 0 }')
[ "$deep" -gt 10 ]
tap $? "inherited: with callchains" "$deep"
# Each child begins a period of its own, as on bare metal: short ones for short lives.
record "inherited, a period" -c 20000 -e instructions:u
record "all CPUs" -a -F 999 -g -e cycles

# and counting
a=$(perf stat -x, -e instructions:u sh /tmp/forks "$forks" 2>&1 |
	awk -F, '$1 ~ /^[0-9]/ { print $1 }')
b=$(perf stat -x, -e instructions:u sh /tmp/forks "$forks" 2>&1 |
	awk -F, '$1 ~ /^[0-9]/ { print $1 }')
within "${a:-0}" "${b:-0}" 20
tap $? "counted twice it is the same, within 2 %" "${a:-nothing}, ${b:-nothing}"
tap_end
