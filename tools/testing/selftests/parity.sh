#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf_event_open() says the same in a guest as on its host, to calls chosen at random. Of a
# call that differs, the test looks for the fewest changes that do. What differs for a reason
# stands below, and in Documentation/usage.rst.
#   parity.sh N: so many calls
. ./lib.sh

n=$1
need_host_command
need_count

# both NAME ARGUMENT...: pmu_parity in the guest and on the host; output in /tmp/NAME.here
# and /tmp/NAME.there
both() {
	name=$1
	shift
	./pmu_parity "$@" > "/tmp/$name.here"
	host "cd /t && ./pmu_parity $* > /tmp/$name && cat /tmp/$name" > "/tmp/$name.there"
}

# reason: why a call of /tmp/differ may differ, or nothing
reason() {
	sed -E -n '
		/[|]ok.*[|]EINVAL[|].* period=0x(1|1f|64|3e7)( |$)/s/.*/the shortest period of guests/p
		/[|]ok.*[|]EINVAL[|].* frequency=0x(1|63) flag=0xa( |$)/s/.*/the shortest period of guests/p
		/[|]EINVAL[|]ok.* leader=0x7 flag=0x13( |$)/s/.*/what counts guests only needs no counter/p
		/[|]ok.*[|]EACCES[|]type=0x4 .*config=0x[0-9a-f]{9,16} /s/.*/raw bits that only some CPUs have/p
		/[|]EINVAL[|]EOPNOTSUPP[|].* flag=0x1f( |$)/s/.*/aux_output: there is no AUX area/p'
}

both calls "$n"
[ "$(wc -l < /tmp/calls.there)" = "$n" ] && [ "$(wc -l < /tmp/calls.here)" = "$n" ]
tap $? "$n calls on both sides"
opened=$(grep -c ' ok ' /tmp/calls.here)
[ "$opened" -gt $((n / 3)) ]
tap $? "a third of them and more open an event" "$opened"

differ=$(paste -d '\n' /tmp/calls.there /tmp/calls.here |
	awk 'NR % 2 { there = $0; next } there != $0 { print $1 }')
# shellcheck disable=SC2086 # a list
both subsets subsets $differ

# The first of a call's subsets that differs: NUMBER|HOST|GUEST|CALL
awk 'function outcome(line) { sub(/:.*/, "", line); sub(/^[0-9]* /, "", line); return line }
	NR == FNR { there[FNR] = $0; next }
	there[FNR] != $0 && !($1 in seen) { seen[$1]; call = $0; sub(/^[^:]*: /, "", call)
		print $1 "|" outcome(there[FNR]) "|" outcome($0) "|" call }' \
	/tmp/subsets.there /tmp/subsets.here > /tmp/differ
lost=$(for call in $differ; do
	grep -q "^$call|" /tmp/differ || grep -h "^$call " /tmp/calls.there /tmp/calls.here
done)
[ -z "$lost" ]
tap $? "each difference is found again" "$lost"

while read -r line; do
	why=$(echo "$line" | reason)
	echo "${why:-no reason: $line}"
done < /tmp/differ | sort | uniq -c | sed 's/^ *//' > /tmp/reasons
sed 's/^/# /' /tmp/reasons
grep -q 'shortest period' /tmp/reasons
tap $? "the shortest period differs, if nothing else"
! grep 'no reason' /tmp/reasons > /tmp/none
tap $? "each difference has a reason" "$(head -n 3 /tmp/none | tr '\n' ';')"
tap_end
