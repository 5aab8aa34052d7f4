#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash # which has local, as busybox, the sh of the guest
# rows.sh one|four SYSTEM REPEATS [ROW...]: in the guest, do each row's work, and print
# marks before and after it, "QM ROW.N.REPEAT.a" and ".b". N is the amount of work (round
# trips, seconds): with two amounts the constant part can be subtracted. Repeat 0 of each
# row is a warm-up.

where=$1 system=$2 repeats=$3
shift 3
only=$*
e1=instructions
e2=cycles,$e1
e4=$e2,branches,branch-misses
e6=$e4,cache-references,cache-misses
[ "$system" != plain ] || without=1

# tool COMMAND... -- PROGRAM...: COMMAND runs and measures PROGRAM; plain has no COMMAND
tool() {
	if [ -n "$without" ]; then
		while [ "$1" != -- ]; do shift; done
		shift
	fi
	rm -f /tmp/stat
	"$@" > /tmp/tool 2>&1 && ! grep -q '<not' /tmp/stat 2> /dev/null ||
		{ echo "rows: failed: $*"; cat /tmp/tool /tmp/stat; }
}

# work LABEL COMMAND: write a script that runs it between two marks
work() {
	printf '#!/bin/sh\nqmark %s.a > /tmp/a\n%s > /dev/null\nqmark %s.b > /tmp/b\n' \
		"$1" "$2" "$1" > /tmp/work
	chmod +x /tmp/work
}

marks() { cat /tmp/a /tmp/b; }

# around PROGRAM "AMOUNT..." ROW COMMAND...: the tool measures PROGRAM AMOUNT
around() {
	local program=$1 amounts=$2 row=$3 n r=0
	shift 3
	while [ $r -le "$repeats" ]; do
		for n in $amounts; do
			work "$row.$n.$r" "$program $n"
			tool "$@" -- /tmp/work
			marks
		done
		r=$((r + 1))
	done
}

# pipe MANY ROW COMMAND...: the tool measures perf's own benchmark, with 200 and MANY round trips
pipe() {
	local many=$1
	shift
	around 'perf bench sched pipe -l' "200 $many" "$@"
}

# seconds ROW COMMAND...: the tool measures sleep
seconds() { around sleep '1 2' "$@"; }

# The tool watches one of the two processes only.
half() {
	local n r=0
	while [ $r -le "$repeats" ]; do
		for n in 200 8000; do
			rm -f /tmp/go /tmp/pid
			mkfifo /tmp/go
			/t/pipe "half.stat6.$n.$r" $n /tmp/go > /tmp/pid &
			usleep 50000
			[ -n "$without" ] ||
				perf stat -e $e6 -o /tmp/stat -p "$(head -1 /tmp/pid)" &
			usleep 300000
			: > /tmp/go
			wait
			grep QM /tmp/pid
			[ -n "$without" ] || ! grep '<not' /tmp/stat || echo "rows: failed: half"
		done
		r=$((r + 1))
	done
}

# row NAME FUNCTION...: run FUNCTION if the row was asked for
row() {
	local o
	for o in ${only:-$1}; do
		case $1 in "$o"*) shift; "$@"; return;; esac
	done
}

case $where in
one)
	row idle seconds idle env
	row pipe.stat1 pipe 2000 pipe.stat1 perf stat -o /tmp/stat -e $e1
	row pipe.stat2 pipe 2000 pipe.stat2 perf stat -o /tmp/stat -e $e2
	row pipe.stat4 pipe 2000 pipe.stat4 perf stat -o /tmp/stat -e $e4
	row pipe.stat6 pipe 2000 pipe.stat6 perf stat -o /tmp/stat -e $e6
	# With 2000 round trips the ratio of this row differs by 1 % from run to run; so does half's.
	row pipe.record6 pipe 8000 pipe.record6 perf record -F 1000 -a -e $e6 -o /tmp/data
	row half.stat6 half
	[ -n "$without" ] || row open /t/opens open;;
four)
	row interval.stat6 seconds interval.stat6 \
		perf stat -a -I 100 -e $e6 -o /tmp/stat;;
esac
