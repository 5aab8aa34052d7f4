#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a make does: many short-lived children on all CPUs, sampled with their
# callchains. Each overflow of the host's is a sample, or is said to be lost.
. ./lib.sh

need_host_command
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

# record_forks NAME OPTIONS...
record_forks() {
	record "$@" sh /tmp/forks "$forks"
	[ "$samples" -gt 10 ]
	tap $? "$name: there are samples" "$samples"
	all_told "$name"
}

record_forks "inherited" -F 3999 -g -e cycles
tasks=$(perf script -i $data -F pid 2> /dev/null | sort -u | grep -c '[0-9]')
[ "$tasks" -gt 10 ]
tap $? "inherited: samples of many tasks" "$tasks"
deep=$(deep_chains $data)
[ "$deep" -gt 10 ]
tap $? "inherited: with callchains" "$deep"
# Each child begins a period of its own, as on bare metal: short ones for short lives.
record_forks "inherited, a period" -c 20000 -e instructions:u
record_forks "all CPUs" -a -F 999 -g -e cycles

# and counting
a=$(count -e instructions:u sh /tmp/forks "$forks")
b=$(count -e instructions:u sh /tmp/forks "$forks")
within "${a:-0}" "${b:-0}" 20
tap $? "counted twice it is the same, within 2 %" "${a:-nothing}, ${b:-nothing}"
tap_end
