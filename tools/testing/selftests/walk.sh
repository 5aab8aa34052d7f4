#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What can be done with the descriptors of perf_event_open() has the same effect in a guest
# as on its host, in walks chosen at random. Of a walk that differs, the test looks for the
# fewest steps that do.
#   walk.sh N: so many walks
. ./lib.sh

n=$1
need_host_command
need_count

# both ARGUMENT...: pmu_walk in the guest and on the host; output in /tmp/here and /tmp/there
both() {
	./pmu_walk "$@" > /tmp/here
	host "cd /t && ./pmu_walk $* > /tmp/walk && cat /tmp/walk" > /tmp/there
}

# differing: the walks that differ, as HOST|GUEST|WALK:MASK. How many samples and signals fit
# into the same work, or are lost, depends on where the period began: one more or less is no
# difference. After refresh() an event stops at an overflow, so when it stops depends on that, too:
# a walk that has looked at events before the refresh(), and is the same up to it, goes to
# /tmp/limited.
differing() {
	paste -d '|' /tmp/there /tmp/here | awk -F'|' '
		function near(a, b) {
			if (a !~ KIND || b !~ KIND) return 0
			gsub(/signals=|x9|l/, "", a); gsub(/signals=|x9|l/, "", b)
			return a - b <= 1 && b - a <= 1
		}
		function same(a, b, as, bs, n, i) {
			n = split(a, as, /[ ;]+/)
			if (n != split(b, bs, /[ ;]+/)) return 0
			for (i = 1; i <= n; i++)
				if (as[i] != bs[i] && !near(as[i], bs[i])) return 0
			return 1
		}
		function until_limited(a) {
			sub(/refresh[(][^)]*[)]=0.*/, "", a)
			return a
		}
		BEGIN { KIND = "^(signals=[0-9]+|[0-9]+x9|l[0-9]+)$" }
		same($1, $2) { next }
		until_limited($1) ~ / t[+]/ && until_limited($1) != $1 &&
			same(until_limited($1), until_limited($2)) { print > "/tmp/limited"; next }
		{ split($1, walk, ";"); print $0 "|" walk[1] }'
}

# without_one WALK:MASK...: each of them without one of its steps
without_one() {
	for walk; do
		mask=$((0x${walk#*:}))
		bit=1
		while [ $bit -le $mask ]; do
			[ $((mask & bit)) = 0 ] || printf '%s:%x ' "${walk%:*}" $((mask & ~bit))
			bit=$((bit * 2))
		done
	done
}

# first_of_each: of the lines of differing, the first of each walk
first_of_each() {
	awk -F'|' '{ split($3, walk, ":") } !(walk[1] in seen) { seen[walk[1]]; print }'
}

# shrink WALK:MASK...: the walks that still differ without one step, until none does; what
# is left is in /tmp/shrunk
shrink() {
	: > /tmp/shrunk
	while [ $# -gt 0 ]; do
		# shellcheck disable=SC2046 # a list
		both $(without_one "$@")
		differing | first_of_each > /tmp/smaller
		for walk; do
			grep -q "|${walk%:*}:" /tmp/smaller || echo "$walk" >> /tmp/shrunk
		done
		# shellcheck disable=SC2046 # a list
		set -- $(cut -d'|' -f3 /tmp/smaller)
	done
}

both "$n"
[ "$(wc -l < /tmp/there)" = "$n" ] && [ "$(wc -l < /tmp/here)" = "$n" ]
tap $? "$n walks on both sides"
! grep 'ended with status' /tmp/here /tmp/there > /tmp/ended
tap $? "each comes to its end" "$(head -n 3 /tmp/ended | tr '\n' ' ')"
counted=$(grep -cE ' [0-9]:[0-9]+ [^0 ]' /tmp/here)
[ "$counted" -gt $((n / 2)) ]
tap $? "half of them count something" "$counted"

: > /tmp/limited
differing > /tmp/differ
limited=$(wc -l < /tmp/limited)
sed 's/^/# limited: /; s/|/\n#   /g' /tmp/limited
: > /tmp/smallest
# shellcheck disable=SC2046 # a list
shrink $(first_of_each < /tmp/differ | cut -d'|' -f3)
# shellcheck disable=SC2046 # a list
[ ! -s /tmp/shrunk ] || both $(cat /tmp/shrunk)
[ ! -s /tmp/shrunk ] || differing > /tmp/smallest
cat /tmp/smallest /tmp/differ | first_of_each | sed 's/^/# /; s/|/\n#   /g'
[ "$(wc -l < /tmp/differ)" = 0 ]
tap $? "all do the same" "$(wc -l < /tmp/differ) differ"
[ "$limited" -le $((n / 1000)) ]
tap $? "but for few that end at an overflow" "$limited"
tap_end
