#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The same perf shows the same rows in the guest and on the host, with its real PMU: the
# same events with the same units, and scaled only what is so there. Asked for without
# an event, for every name that perf list has, for every metric, and for a recording. Where the
# host has two kinds of cores as_host.sh CPU runs both on that CPU of the host.
. ./lib.sh

# What a guest has not, as usage.rst says: the topdown events that the host's kernel names on
# Intel's CPUs before Ice Lake, and names that want a second register (macro_fused's code does on
# newer CPUs), or show the other hyperthread.
not_topdown='cpu(_core|_atom)?/topdown-'
# There a guest counts topdown by codes for general counters, and names no event that samples loads.
not_load='cpu_(core|atom)/mem-(loads|stores)'
not_second='frontend_retired\.|offcore_resp|^ocr\.|load_latency|uops_retired\.macro_fused|int_misc\.unknown_branch|store_sample'
not_thread='cpu_clk_[a-z_]*\.[a-z_]*_any|(recovery|pending)_cycles_any|one_thread_active'
# Of a core with two threads; the guest sees none.
not_smt='tma_info_pipeline_execute|tma_info_thread_slots_util'

# names KIND: what perf list has, without tracepoints, the events of other PMUs, and those
names() {
	perf list --raw-dump "$1" 2> /dev/null | tr ' ' '\n' |
		grep -vE '^$|:|^pvperf/|^msr/|^amd_|^uncore|^power/' |
		grep -viE "^$not_topdown|^$not_load|$not_second|$not_thread" | sort -u
}

# rows NAME OPTIONS...: "NAME: EVENT UNIT" for each row of perf stat, and whether any of them
# is scaled. It depends on chance which; in a short program one may have had no turn at all.
rows() {
	rows_of=$1
	shift
	perf stat -x, -o /tmp/stat "$@" loop > /dev/null 2> /tmp/err || {
		echo "$rows_of: failed: $(head -n 1 /tmp/err)"
		return
	}
	awk -F, -v of="$rows_of" 'NF > 4 && $3 != "" {
		none = $1 ~ /not supported/
		if (!none && $5 < 100) scaled = 1
		if ($3 ~ /^[0-9. ]+$/) next	# a metric without a name
		sub(/[.]DISTRIBUTED/, ".THREAD", $3)	# where a guest sees no second thread
		print of ": " $3 " " $2 (none ? " not supported" : "") }
		END { print of ": " (scaled ? "some are scaled" : "all are counted") }' /tmp/stat | sort
}

# rows_of KIND N: of all names of a kind, N at a time
rows_of() {
	names "$1" > /tmp/names
	while some=$(head -n "$2" /tmp/names | paste -sd,) && [ -n "$some" ]; do
		sed -i "1,$2d" /tmp/names
		rows "$1 $some" -e "$some"
	done
}

# recorded NAME OPTIONS...: the events that perf record has opened
recorded() {
	recorded_name=$1
	shift
	perf record -q -o /tmp/data "$@" loop > /dev/null 2>&1
	perf evlist -i /tmp/data 2> /dev/null | grep -v '^#' | sed "s/^/$recorded_name: /"
}

measure() {
	rows 'no event'
	rows -d -d
	rows cycles,instructions -e cycles,instructions
	rows six -e cycles,instructions,branches,branch-misses,cache-references,cache-misses
	rows_of hw 1
	rows_of cache 3
	rows_of pmu 6
	names metric > /tmp/metrics
	while read -r metric; do
		rows "metric $metric" -M "$metric"
	done < /tmp/metrics
	rows --topdown --topdown
	recorded record
	recorded 'record -e cycles' -e cycles
	recorded 'record -e cycles,instructions' -e cycles,instructions
}

if [ "$1" = measure ]; then
	measure
	exit
fi

need_host_command
on=${1:+taskset -c $1}
if [ -n "$1" ]; then
	perf stat -e cycles true 2> /dev/null	# the host knows the VM from its first call on
	host "taskset -a -p -c $1 $(host "sed -n 's/.*pid=\([0-9]*\).*/\1/p' /sys/kernel/debug/pvperf/vms")" > /dev/null
fi
measure > /tmp/here
host "cd /t && $on ./as_host.sh measure" > /tmp/there
# Metrics of those events, and of an MSR that the guest's CPU has not.
grep -iE "^metric .*(topdown-|msr/aperf|$not_second|$not_thread|$not_smt)" /tmp/there | sed 's/^metric \([^:]*\):.*/\1/' | sort -u > /tmp/not
echo "# left out: $(grep -c . /tmp/not) metrics"
with_others() { awk -F '[ :]' 'FILENAME == ARGV[1] { left[$0]; next } !($1 == "metric" && $2 in left)' /tmp/not "$1"; }
for kind in 'no event' -d cycles,instructions six hw cache pmu metric --topdown record; do
	with_others /tmp/here | grep "^$kind" > /tmp/mine
	with_others /tmp/there | grep "^$kind" > /tmp/theirs
	# Not each CPU has what a metric, or --topdown, wants.
	case $kind in metric|--topdown) bad=;; *) bad=$(grep ': failed' /tmp/theirs);; esac
	[ -s /tmp/theirs ] && [ -z "$bad" ] && difference=$(diff -u /tmp/theirs /tmp/mine)
	tap $? "perf shows the host's rows: $kind ($(grep -c . /tmp/theirs))" \
		"$bad$(echo "$difference" | grep '^[-+][^-+]' | head -n 20 | tr '\n' ';')"
done
tap_end
