#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# perf stat -a -I: the events of a CPU, read one after the other, are told by the
# host together, in one call for each CPU and interval; and nothing goes missing.
. ./lib.sh

cpus=$(nproc)
intervals=10
u6=cycles:u,instructions:u,branches:u,branch-misses:u,cache-references:u,cache-misses:u

perf stat -x, -o /tmp/a -e instructions:u true
grep -q '^[1-9]' /tmp/a || tap_skip_all "perf counts nothing here"
calls() { host "sed -n 's/^calls //p' $totals"; }

run() { perf stat -x, -a -I 100 -o /tmp/b -e $u6 sh -c "./loop20m; sleep $1"; }
run 1
a=$(calls)
run 1
b=$(calls)
run 2
c=$(calls)
more=$(((c - b) - (b - a)))
[ $more -ge $((intervals * cpus * 9 / 10)) ] && [ $more -le $((intervals * cpus * 3 / 2)) ]
tap $? "one call for each CPU and interval" "$more in $intervals, on $cpus CPUs"

# The sum of an event over all intervals.
sum() { awk -F, -v e="$1" '$4 == e { n += $2 } END { printf "%d\n", n }' /tmp/b; }
n=$(sum instructions:u)
[ "$n" -gt 20000004 ]
tap $? "none is missing" "$n"
within "$(sum cycles:u)" "$n" 1
tap $? "cycles have as many" "$(sum cycles:u)"
within "$(($(sum branches:u) * 8))" "$n" 1
tap $? "branches have an eighth" "$(sum branches:u)"
awk -F, '/,/ && $6 != "100.00" { print }' /tmp/b > /tmp/c
tap "$(grep -c . /tmp/c)" "all of the time" "$(head -n 3 /tmp/c | tr '\n' ' ')"
tap_end
