#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Allocations and the kernel's functions fail, on a kernel that can have them fail: no complaint,
# nothing left, and the next try is as good as ever.
#   failing.sh load SIDE N   each of the first N allocations of the load of pvperf_SIDE fails once
#   failing.sh calls TEST... a tenth of those below the host module's functions, while TESTs run
#   failing.sh functions SIDE FUNCTION:MOST:TEST...  each of the first MOST calls of FUNCTION in a
#                            load of pvperf_SIDE and a TEST after it fails once
. ./lib.sh

fail=/sys/kernel/debug/failslab
[ -d $fail ] || tap_skip_all "the kernel has no FAILSLAB"
echo N > $fail/task-filter
echo -1 > $fail/times
echo 0 > $fail/space
echo 0 > $fail/probability
echo 0 > $fail/verbose
echo N > $fail/ignore-gfp-wait
echo 100 > $fail/stacktrace-depth

# below FIRST END: only allocations below the functions from FIRST on, and before END
below() {
	echo "0x$1" > $fail/require-start
	echo "0x$2" > $fail/require-end
}
# of_module MODULE: the addresses of its functions
of_module() { awk -v m="[$1]" 'tolower($2) == "t" && $4 == m { print $1 }' /proc/kallsyms | sort; }

# insmod, of which the N-th allocation fails; busybox's tries a second time then. Is there an N-th?
load_nth() {
	before=$(dmesg | grep -c FAULT_INJECTION)
	sh -c 'echo "$0" > /proc/self/fail-nth; exec insmod "$1"' "$1" "/lab/$module.ko" 2>> /tmp/out
	loaded=$?
	[ "$(dmesg | grep -c FAULT_INJECTION)" -gt "$before" ]
}

load() {
	module=pvperf_$1
	awk '$3 == "do_init_module" { print $1; getline; print $1 }' /proc/kallsyms > /tmp/init
	below "$(head -n 1 /tmp/init)" "$(tail -n 1 /tmp/init)"
	echo 1 > $fail/verbose
	echo 0 > $fail/verbose_ratelimit_interval_ms
	rmmod "$module"
	# Of an allocation with __GFP_NOWARN nothing is told, so nothing says which is the last.
	n=0 failed=0 bad=
	while [ $((n += 1)) -le "$2" ]; do
		! load_nth $n || failed=$((failed + 1))
		[ $loaded = 0 ] || insmod "/lab/$module.ko" 2> /tmp/why || bad="$bad $n: $(cat /tmp/why)"
		rmmod "$module" 2>> /tmp/why || bad="$bad $n: it cannot be unloaded"
	done
	[ $failed -ge $(($2 / 4)) ]
	tap $? "$module: loads of which an allocation fails" "$failed of $2; $(tail -n 1 /tmp/out)"
	[ -z "$bad" ]
	tap $? "$module: the next load is as good as ever" "$bad"
	[ -e "/sys/module/$module" ] || insmod "/lab/$module.ko"
	tap $? "$module: it is loaded"
	echo "# $module: $failed allocations have failed"
}

calls() {
	of_module pvperf_host > /tmp/functions
	echo 1000000 > $fail/times
	below "$(head -n 1 /tmp/functions)" "$(tail -n 1 /tmp/functions)"
	for test; do
		echo 10 > $fail/probability
		timeout 300 "./$test" > /tmp/out 2>&1
		status=$?
		echo 0 > $fail/probability
		[ -e /sys/module/pvperf_host ] || insmod /lab/pvperf_host.ko	# its load may fail, too
		[ $status -lt 124 ] && grep -q '^1\.\.' /tmp/out
		tap $? "$test: it comes to its end" "status $status, $(tail -n 1 /tmp/out)"
		echo "# $test: $(grep -c '^ok' /tmp/out) ok, $(grep -c '^not ok' /tmp/out) not ok"
	done
	left=$(cat $fail/times)
	[ "$left" -lt 1000000 ]
	tap $? "allocations have failed" "$((1000000 - left))"
	sleep 1
	host_is_empty
	rmmod pvperf_host && insmod /lab/pvperf_host.ko && ./lifetime > /tmp/out 2>&1
	tap $? "unloaded and loaded, all is as ever" "$(grep '^not ok' /tmp/out)"
}

# nth FUNCTION N TEST: a load and a TEST, of which the N-th call of FUNCTION fails. Was there one?
nth() {
	rmmod "$module" || complaints="$complaints $2: it cannot be unloaded"
	echo "$2" > $functions/space
	echo 1 > $functions/times
	# busybox's insmod tries a second time.
	insmod "/lab/$module.ko" 2>> /tmp/out || insmod "/lab/$module.ko" ||
		complaints="$complaints $2: it cannot be loaded"
	eval "timeout 100 ./$3" > /tmp/out 2>&1
	[ $? -lt 124 ] || complaints="$complaints $2: $(tail -n 1 /tmp/out)"
	[ "$(cat $functions/times)" = 0 ]
}

function_fails() {
	echo "$1" > $functions/inject
	echo 0xfffffffffffffff4 > "$functions/$1/retval"	# ENOMEM
	n=0 complaints=
	while [ $n -lt "$2" ] && nth "$1" $((n + 1)) "$3"; do
		n=$((n + 1))
	done
	echo > $functions/inject
	[ $n -gt 0 ]
	tap $? "$module: $1 fails"
	[ -z "$complaints" ]
	tap $? "$module, $3: it comes to its end each time" "$complaints"
	rmmod "$module" && insmod "/lab/$module.ko" && eval "./$3" > /tmp/out 2>&1 && ! grep '^not ok' /tmp/out
	tap $? "$module, $3: then all is as ever" "$(grep '^not ok' /tmp/out)"
	echo "# $module: $1 failed in $n calls in turn"
}

functions() {
	module=pvperf_$1
	functions=/sys/kernel/debug/fail_function
	echo 100 > $functions/probability
	echo 0 > $functions/verbose
	shift
	for each; do
		test=${each#*:}
		function_fails "${each%%:*}" "${test%%:*}" "${test#*:}"
	done
	sleep 1
	[ "$module" = pvperf_guest ] || host_is_empty
}

"$@"
tap_end
