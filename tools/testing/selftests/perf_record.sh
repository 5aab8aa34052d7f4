#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf record and report, unmodified: samples come at the rate that was asked for, show
# the hot function and call chains of user and kernel, and none is lost.
. ./lib.sh

trap 'rm -f $data' EXIT

# seconds FILE: between its first and its last sample
seconds() {
	perf script -i "$1" -F time 2> /dev/null | tr -d ': ' |
		awk 'NR == 1 { a = $1 } { b = $1 } END { print b - a }'
}

# A real CPU runs the program in a fraction of the time: it would overflow more often in
# a second than the host allows, and end too soon to measure a rate.
period=100000 loops=5 off=50
emulated || { period=1000000; loops=20; off=100; }

# A fixed period, of the program alone: as many samples as periods.
perf record -q -c $period -e instructions:u -o $data ./loop100m
[ -s $data ] || tap_skip_all "perf record records nothing here"
n=$(samples $data)
want=$((100000000 / period))
[ "$n" -eq $want ] || { ! emulated && [ $((n - want)) -ge -1 ] && [ $((n - want)) -le 1 ]; }
tap $? "-c $period of 100,000,004 are $want samples" "$n"

perf record -q -F 999 -e cycles:u -o $data \
	sh -c "i=0; while [ \$i -lt $loops ]; do ./loop100m; i=\$((i + 1)); done"
n=$(samples $data)
s=$(seconds $data)
rate=$(awk -v n="$n" -v s="$s" 'BEGIN { printf "%.0f", s ? n / s : 0 }')
within "$rate" 999 $off
tap $? "-F 999 gives 999 a second within $((off / 10)) %" "$rate ($n in $s s)"
n=$(lost $data)
[ "$n" = 0 ]
tap $? "no sample is lost" "$n"

# Of a group newer kernels correct the leader's period alone in ticks. On a real CPU the program has no such misses.
if emulated; then
	perf record -q -a -F 999 -e '{cycles:u,branch-misses:u}' -o $data \
		sh -c "i=0; while [ \$i -lt $loops ]; do ./loop100m; i=\$((i + 1)); done"
	n=$(perf script -i $data -F event 2> /dev/null | grep -c branch-misses)
	s=$(seconds $data)
	rate=$(awk -v n="$n" -v s="$s" 'BEGIN { printf "%.0f", s ? n / s : 0 }')
	within "$rate" 999 200
	tap $? "a rarer member of a group has the frequency within 20 %" "$rate ($n in $s s)"
fi

if command -v hot > /dev/null; then
	perf record -q -F 999 -g -o $data hot 30 > /dev/null 2>&1
	top=$(perf report -i $data --stdio --no-children -g none 2> /dev/null |
		awk '/^ *[0-9.]+%/ { print $NF; exit }')
	case $top in
	*hot*) tap 0 "the hottest function is hot()";;
	*) tap 1 "the hottest function is hot()" "$top";;
	esac
	[ "$(deep_chains $data)" -gt 0 ]
	tap $? "-g gives call chains of the program"
else
	tap_skip "-g" "no program hot here"
fi

# Kernel samples have symbols and call chains.
perf record -q -g -e cycles:k -c 20000 -o $data \
	perf bench sched pipe -l 2000 > /dev/null 2>&1
perf script -i $data -F ip,sym 2> /dev/null |
	grep -qE '(schedule|pipe_(read|write)|vfs_(read|write))'
tap $? "call chains of the kernel have symbols"

perf record -q -a -e cycles -F 500 -o $data sh -c './loop100m; ./loop100m; ./loop100m'
n=$(perf script -i $data -F comm,ip 2> /dev/null | grep -c loop100m)
[ "$n" -gt 10 ]
tap $? "-a samples the program" "$n samples"

# perf top takes some seconds to begin, and at the end of its input it never sleeps.
mkfifo /tmp/no_input
exec 9<> /tmp/no_input
timeout 60 perf top --stdio -d 1 -e cycles < /tmp/no_input > /tmp/top 2>&1 &
top=$!
seen='^ *[1-9][0-9]\.[0-9]+% +loop100m '
i=0
until grep -qE "$seen" /tmp/top || [ $((i += 1)) -gt 400 ]; do
	./loop100m
done
kill $top 2> /dev/null
wait $top 2> /dev/null
exec 9>&-
grep -qE "$seen" /tmp/top
tap $? "perf top shows the program" "$(grep '%' /tmp/top | tail -n 2 | tr '\n' ' ')"
tap_end
