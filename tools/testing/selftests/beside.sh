#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The host's operator looks while a guest counts and samples: perf record of every CPU, and
# perf kvm stat. The guest's counts stay right, each overflow is a sample or is said to be
# lost, and the operator gets what he asked for.
. ./lib.sh
. ./scarce.sh

need_host_command
one=100000004

# looker_start COMMAND: run it on the host, until looker_end
looker_start() {
	host "$1 > /run/looker.log 2>&1 & echo \$! > /run/looker.pid; usleep 500000"
}
looker_end() {
	# shellcheck disable=SC2016 # for the host's shell
	host 'kill -INT $(cat /run/looker.pid)
		while [ -d /proc/$(cat /run/looker.pid) ]; do usleep 20000; done'
}

# beside NAME
beside() {
	stat instructions:u,cycles:u,branches:u ./loop100m > /tmp/numbers
	awk -v want=$one 'NR == 1 && ($1 - want) * ($1 - want) > want { bad = 1 }
		$1 !~ /^[0-9]/ || $NF != "100.00" { bad = 1 } END { exit bad || NR != 3 }' /tmp/numbers
	tap $? "$1: three events count all of the time, and right" "$(tr '\n' ';' < /tmp/numbers)"
	record "$1" -c 100000 -e instructions:u ./loop100m
	[ "$made" -ge 1000 ]
	tap $? "$1: 100 million instructions overflow 1000 times" "$made"
	all_told "$1"
}

looker_start "perf record -a -F 1000 -e cycles -o /run/looker.data"
beside "perf record -a"
looker_end
n=$(host "perf report -i /run/looker.data --stats 2> /dev/null" | awk '$1 == "SAMPLE" { print $3; exit }')
[ "${n:-0}" -gt 100 ]
tap $? "perf record -a: the operator has samples" "${n:-none}: $(host 'tail -n 2 /run/looker.log')"

looker_start "perf kvm stat record -a -o /run/looker.data"
beside "perf kvm stat"
looker_end
host "perf kvm -i /run/looker.data stat report --stdio 2>&1" > /tmp/report
grep -qiE '^ *(hypercall|vmcall) ' /tmp/report
tap $? "perf kvm stat: the operator sees the guest's calls" "$(head -n 20 /tmp/report | tr '\n' '|')"
host 'rm -f /run/looker*'
tap_end
