#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Many short-lived processes on all CPUs, as make starts them, sampled with call chains.
# Each overflow that the host counted is a sample, or is reported as lost.
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
tap $? "inherited: many tasks have samples" "$tasks"
deep=$(deep_chains $data)
[ "$deep" -gt 10 ]
tap $? "inherited: samples have call chains" "$deep"
# Each child starts a new period, as on bare metal, so the period has to be short.
record_forks "inherited, a period" -c 20000 -e instructions:u
record_forks "all CPUs" -a -F 999 -g -e cycles

# The same programs, counted.
a=$(count -e instructions:u sh /tmp/forks "$forks")
b=$(count -e instructions:u sh /tmp/forks "$forks")
within "${a:-0}" "${b:-0}" 20
tap $? "two runs count the same, within 2 %" "${a:-nothing}, ${b:-nothing}"
tap_end
