#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a test has left behind at the host. lab/selftest runs this there after each test:
# as many pages are pinned as the host's module says it has. Nothing else in the lab pins
# any. A page may be given back a little later than its event.
totals=/sys/kernel/debug/pvperf/totals

pinned() {
	awk '/^nr_foll_pin_acquired / { n += $2 } /^nr_foll_pin_released / { n -= $2 }
	     END { print n + 0 }' /proc/vmstat
}

had() {
	if [ -e $totals ]; then sed -n 's/^pages //p' $totals; else echo 0; fi
}

tries=0
until [ "$(pinned)" = "$(had)" ]; do
	if [ $((tries += 1)) -gt 30 ]; then
		echo "not ok - ledger: $(pinned) pages are pinned, and pvperf has $(had)"
		exit 1
	fi
	usleep 100000
done
