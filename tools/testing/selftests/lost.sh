#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The guest's perf.data says how many overflows gave no sample, because the buffer was
# full, or because the guest or the host limits the rate. The limit of the host's own
# perf stays what it is.
. ./lib.sh

need_host_command
host_rate=$(host cat /proc/sys/kernel/perf_event_max_sample_rate)
rate=/proc/sys/kernel/perf_event_max_sample_rate

# sampled NAME OPTIONS...
sampled() {
	record "$@"
	[ "$samples" -gt 10 ]
	tap $? "$name: there are samples" "$samples"
}

# others: the number of perf's records about processes and their maps
others() {
	n=0
	for kind in MMAP MMAP2 COMM FORK EXIT; do n=$((n + $(records $data $kind))); done
	echo $n
}

# perf does not read the buffer for a while: 8 KB hold some 200 of 1000 samples. LOST is
# written with the next sample that there is room for. Some of perf's records about
# processes are lost, too, by chance; the first run, with room for all, says how many
# there are, so that they can be told from lost samples.
work='./loop100m; kill -CONT $PPID; sleep 0.1; ./loop20m'
sampled "room" -m 64 -c 100000 -e instructions:u sh -c "$work"
[ "$samples" -eq "$made" ] && [ "$lost" -eq 0 ]
tap $? "room: $made overflows are $samples samples and $lost lost"
all=$(others)
sampled "full" -m 2 -c 100000 -e instructions:u sh -c "kill -STOP \$PPID; $work"
[ "$lost" -gt 100 ]
tap $? "full: there are losses" "$lost"
own=$((all - $(others)))
[ "$own" -ge 0 ] && [ $((samples + lost - own)) -eq "$made" ]
tap $? "full: $made overflows are $samples samples and $lost lost, $own of perf's own"
[ "$(records $data LOST)" -gt 0 ]
tap $? "full: LOST records say where"
perf report -i $data --stdio 2> /dev/null | grep -qx "# Total Lost Samples: $lost"
tap $? "full: perf report says so" "$(perf report -i $data --stdio 2> /dev/null | grep Lost)"

# The guest's own limit: perf core stops the event until the next tick. What it does not
# count meanwhile is not reported as lost, as on a real PMU; there is a THROTTLE record.
limit=$(cat $rate)
echo 2000 > $rate
sampled "guest's limit" -c 20000 -e instructions:u ./loop100m
all_told "guest's limit"
[ "$(records $data THROTTLE)" -gt 0 ] && [ "$(records $data THROTTLE)" -le $(($(records $data UNTHROTTLE) + 1)) ]
tap $? "guest's limit: throttled, and unthrottled" "$(records $data THROTTLE), $(records $data UNTHROTTLE)"
echo "$limit" > $rate

# The host's limit: the host makes periods longer, and reports the skipped ones as lost.
sampled "host's limit" -m 64 -c 2000 -e instructions:u ./loop100m
within $((samples + lost)) 50000 1
tap $? "host's limit: 50000 periods are $samples samples and $lost lost"
[ "$made" -lt 2000 ] && [ "$made" -gt 400 ]
tap $? "host's limit: between 4000 and 16000 overflows a second" "$made"
[ "$(records $data THROTTLE)" -gt 5 ] && [ "$(records $data THROTTLE)" -le $(($(records $data UNTHROTTLE) + 1)) ]
tap $? "host's limit: throttled, and unthrottled" "$(records $data THROTTLE), $(records $data UNTHROTTLE)"
# The host's sysctl is a limit of guests, too: a program of 0.1 s has 200 samples at 2000
# a second, and some more before the host has noticed.
host "echo 2000 > $rate"
sampled "host's sysctl" -m 64 -c 10000 -e instructions:u ./loop100m
within $((samples + lost)) 10000 1
tap $? "host's sysctl: 10000 periods are $samples samples and $lost lost"
[ "$made" -lt 400 ] && [ "$made" -gt 50 ]
tap $? "host's sysctl: between 500 and 4000 overflows a second" "$made"
# perf would stop the counter at each overflow, and nobody would tell the guest. An event that the
# guest has not asked for before: it keeps answers.
host "echo 1 > $rate"
perf record -o $data -c 100000 -e branches:u ./loop20m > /dev/null 2> /tmp/err
grep -q "doesn't support sampling" /tmp/err
tap $? "host's sysctl of one in a tick: perf record is refused" "$(cat /tmp/err)"
host 'dmesg | tail -n 3' | grep -q 'perf_event_max_sample_rate leaves one'
tap $? "host's sysctl of one in a tick: the host's log says why"
n=$(count -e instructions:u ./loop100m)
within "${n:-0}" 100000004 0.01
tap $? "host's sysctl of one in a tick: it counts" "${n:-nothing}"
host "echo $host_rate > $rate"
n=$(count -e instructions:u ./loop100m)
within "${n:-0}" 100000004 0.01
tap $? "it counts exactly afterwards" "${n:-nothing}"

now=$(host cat /proc/sys/kernel/perf_event_max_sample_rate)
[ "$now" = "$host_rate" ] && ! host dmesg | grep -q 'perf: interrupt took too long'
tap $? "the limit of the host's own perf stays what it was" "$host_rate, $now"
tap_end
