# shellcheck shell=bash disable=SC2154 # `check` sets program, here and work
# SPDX-License-Identifier: GPL-2.0
# Tests of pvperf merge.

offset=18446739773557710924	# as a kernel of 2013 printed it

# merge_host: two exits between a wake-up and the switch
merge_host() {
	sed 's/^/        qemu-kvm-2687    [003] d.../; s/$/ [detail]/' <<-'END'
	50550079203669: kvm_exit:
	50550079206816: kvm_entry:
	50550079240656: kvm_exit:
	50550079243467: kvm_entry:
	50550079256103: kvm_exit:
	50550079268391: kvm_entry:
	50550079280829: kvm_exit:
	50550079286028: kvm_entry:
	END
}
# merge_guest SHIFT: the guest's events, so many cycles late
merge_guest() {
	printf '            comm-3826  [000] d.h.%d: sched_wakeup: [detail]\n' $((50550079226331 + offset + $1))
	printf '            comm-3826  [000] d...%d: sched_switch: [detail]\n' $((50550079279266 + offset + $1))
}
# merge_clocks OFFSET RATIO FRAC: clock events of both sides go into host and guest
merge_clocks() {
	local t=50550079200000
	echo "         kworker-9       [000] ..... $t: pvperf_clock: clock=00c0ffee00c0ffee vm=2680 vcpu=0 tid=2687 offset=$1 ratio=$2 frac=$3 tsc=$t boot=1" |
		cat - "$work/host" > "$work/more" && mv "$work/more" "$work/host"
	echo "         kworker-9       [000] ..... $((t + offset)): pvperf_guest_clock: clock=00c0ffee00c0ffee tsc=$((t + offset)) local=1 boot=1" |
		cat - "$work/guest" > "$work/more" && mv "$work/more" "$work/guest"
}
merge_files() {
	merge_host > "$work/host"
	merge_guest "${1:-0}" > "$work/guest"
}

# merged NAME STATUS WORDS ARGUMENT...: pvperf merge ARGUMENT... prints WORDS
merged() {
	expect "${@:1:3}" "$program" merge "${@:4}"
}

seed='h qemu-kvm-2687 [003] d...50550079203669: kvm_exit: [detail]
h qemu-kvm-2687 [003] d...50550079206816: kvm_entry: [detail]
g comm-3826 [000] d.h.50550079226331: sched_wakeup: [detail]
h qemu-kvm-2687 [003] d...50550079240656: kvm_exit: [detail]
h qemu-kvm-2687 [003] d...50550079243467: kvm_entry: [detail]
h qemu-kvm-2687 [003] d...50550079256103: kvm_exit: [detail]
h qemu-kvm-2687 [003] d...50550079268391: kvm_entry: [detail]
g comm-3826 [000] d...50550079279266: sched_switch: [detail]
h qemu-kvm-2687 [003] d...50550079280829: kvm_exit: [detail]'

merge_files
merged merge-seed 0 "$seed" -h "$work/host" -g "$work/guest" -t $offset
merged merge-seed-streaming 0 "$seed" -h <(cat "$work/host") -g - -t $offset < "$work/guest"
merged merge-no-clock 1 'record pvperf:pvperf_guest_clock' -h "$work/host" -g "$work/guest"
merge_clocks $offset 4294967296 32
merged merge-clocks 0 "$seed" -h "$work/host" -g "$work/guest"
merged merge-proof 0 'CPU 0: 2 of 2 events lie between' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 4294967296 32
sed -i '/50550079206816: kvm_entry/a \               x-2687    [003] d...50550079206817: sched_waking: comm=a kvm_exit: pid=7' "$work/host"
merged merge-name-of-a-task 0 'CPU 0: 2 of 2 events lie between' -h "$work/host" -g "$work/guest"
{ cat "$work/host"; echo 'CPU:3 [LOST 12 EVENTS]'; } > "$work/more"
merged merge-lost 0 'gaps in which events were lost: 1' -h "$work/more" -g "$work/guest"
merge_files 30000
merge_clocks $offset 4294967296 32
merged merge-wrong-by-30000 3 'CPU 0: 0 of 1 events lie between' -h "$work/host" -g "$work/guest"
# An error of any size is found, and what the host has recorded at another time.
for shift in 3600000000000 -3600000000000; do
	merge_files
	merge_clocks "$(printf %u $((offset + shift)))" 4294967296 32
	merged merge-wrong-by$shift 3 'are these recordings of the same time' -h "$work/host" -g "$work/guest"
done
# Nor is it hidden by events that the host lost, which leave nothing to judge.
merge_clocks "$(printf %u $((offset - 3600000000000)))" 4294967296 32
echo 'CPU:3 [LOST 12 EVENTS]' >> "$work/host"
merged merge-wrong-and-lost 3 'CPU 0: 4 events cannot be judged, as the host lost events' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 4294967296 32
sed -i '$d' "$work/host"
merged merge-no-last-exit 0 'CPU 0: 1 events lie before or after' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 4294967296 32
sed -i 's/ [0-9]*\([0-9]\{9\}\): pvperf_clock/ 50550.\1: pvperf_clock/' "$work/host"
merged merge-host-in-seconds 1 'its times are not the TSC' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 4294967296 32
sed -i 's/tsc=[0-9]*/tsc=7/' "$work/host"
merged merge-host-other-clock 1 'its times are not the TSC' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 4294967296 32
sed -i 's/tsc=[0-9]*/tsc=7/' "$work/guest"
merged merge-guest-other-clock 1 'its times are not the TSC' -h "$work/host" -g "$work/guest"
# The guest's CPU 0 is the vCPU that was made second.
merge_files
merge_clocks $offset 4294967296 32
sed -i 's/vcpu=0 /vcpu=1 apic=4 /; /pvperf_clock/{p; s/vcpu=1 apic=4/vcpu=0 apic=0/; s/offset=[0-9]*/offset=5/}' "$work/host"
sed -i 's/clock=00c0ffee00c0ffee /&apic=4 /' "$work/guest"
merged merge-apic 0 'CPU 0: 2 of 2 events lie between' -h "$work/host" -g "$work/guest"
merge_files
printf 'no newline' >> "$work/guest"
merged merge-no-newline 0 "$seed" -h "$work/host" -g "$work/guest" -t $offset
merge_files
head -c 70000 /dev/zero | tr '\0' x >> "$work/guest"
merged merge-long-line 1 'guest: a line has 65536 bytes' -h "$work/host" -g "$work/guest" -t $offset
merge_files
sed 's/sched_wakeup: /&\x00\x1b/' "$work/guest" > "$work/more"
merged merge-nul 0 'sched_wakeup: ??[detail]' -h "$work/host" -g "$work/more" -t $offset
sed -i '1s/sched_wakeup: /&a\xc2\x9b\x9b2J\xc3\xa9\xe0\x82\x9b/' "$work/more"
merged merge-control-c1 0 'sched_wakeup: a???2Jé???' -h "$work/host" -g "$work/more" -t $offset
# The offset steps by 2^40 after the first event.
merge_files
merge_clocks $offset 4294967296 32
sed -i "5a \\        qemu-kvm-2687    [003] ..... 50550079250000: pvperf_clock: clock=00c0ffee00c0ffee vm=2680 vcpu=0 tid=2687 offset=$(printf %u $((offset + (1 << 40)))) ratio=4294967296 frac=32 tsc=1 boot=1" "$work/host"
sed -i "3s/d\.\.\.[0-9]*/d...$((50550079279266 + offset + (1 << 40)))/" "$work/guest"
merged merge-step 0 'CPU 0: 2 of 2 events lie between' -h "$work/host" -g "$work/guest"
# perf's clock: a line to the TSC by two clock events.
merge_files
merge_clocks $offset 1 0
{
	for s in 0 1000000; do
		echo " perf 9 [000] 5.$(printf %09d $s): pvperf:pvperf_guest_clock: clock=00c0ffee00c0ffee tsc=$((50550079200000 + offset + 2 * s)) local=$((5000000000 + s)) boot=1"
	done
	echo " comm 3826 [000] 5.000013165: sched:sched_wakeup: [detail]"
} | sort -k 4 > "$work/guest"
merged merge-perf-script 0 'g comm 3826 [000] 50550079226330: sched:sched_wakeup' -h "$work/host" -g "$work/guest"
sed 's/ comm 3826/ 1 [0] 3: x 3826/' "$work/guest" > "$work/more"
merged merge-perf-script-name 0 'x 3826 [000] 50550079226330: sched:sched_wakeup' -h "$work/host" -g "$work/more"
sed 's/\.\([0-9]\{6\}\)[0-9]*: /.\1: /' "$work/guest" > "$work/us"
merged merge-perf-script-us 1 'use perf script --ns' -h "$work/host" -g "$work/us"
sed 's/local=5/local=7/' "$work/guest" > "$work/mono"
merged merge-perf-script-mono 1 "its times are not perf's own clock" -h "$work/host" -g "$work/mono"
merged merge-text-vm 2 '--vm and --why are for trace.dat files' -h "$work/host" -g "$work/guest" --vm 7
sed -i s/00c0ffee/00facade/ "$work/guest"
merged merge-other-host 1 'no pvperf_clock with clock=00facade' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 1 0
sed -n '$s/\[000\]/[001]/p' "$work/guest" >> "$work/guest"
merged merge-no-clock-of-cpu 3 '1 events are left out' -h "$work/host" -g "$work/guest"
merge_files
merge_clocks $offset 1 0
sed -n '1s/00c0ffee00c0ffee/00c0ffee00c0ffef/p' "$work/guest" >> "$work/guest"
merged merge-moved 1 'has two names in it' -h "$work/host" -g "$work/guest"
merged merge-nothing 2 'it wants DIR, or -h HOST and -g GUEST'
merged merge-no-file 1 'No such file' -h "$work/none" -g "$work/none" -t 1
merged merge-bad-offset 2 'wants OFFSET or OFFSET,RATIO,FRAC' -h a -g b -t 1,2
for t in 0,1,4294967296 ,1,0 '1,1,' '1,' '1,1,0,'; do
	merged merge-bad-offset-$t 2 'wants OFFSET or OFFSET,RATIO,FRAC' -h a -g b -t "$t"
done
merged merge-no-text 1 'Is a directory' -h "$work" -g "$work/guest" -t 1
# A name with brackets, and ftrace's record-tgid.
merge_files
sed -i '1s/ *comm-3826 /       a 1 [5] b-3826 /; 2s/ *comm-3826 /           a [5]-3826 /' "$work/guest"
sed -i 's/-2687 /-2687 (   2680)/' "$work/host"
merge_clocks $offset 1 0
merged merge-names 0 'CPU 0: 2 of 2 events lie between' -h "$work/host" -g "$work/guest"
# One that looks like a CPU and a time.
merge_files
sed -i '1s/ *comm-3826 /      1 [0] 3: x-3826 /; 2s/ *comm-3826 /      1 [0] 3: x-3826 /' "$work/guest"
merge_clocks $offset 1 0
sed -i '2i\       x-1 [0] 3: a\nbc-3826  [000] d...4: sched_switch: [detail]' "$work/guest"
merged merge-name-forged 0 'CPU 0: 2 of 2 events lie between' -h "$work/host" -g "$work/guest"
echo "x-1 [4294957296] 1: a: b" > "$work/guest"
merged merge-cpu-huge 3 '1 events are left out' -h "$work/host" -g "$work/guest" -t 1
head -c 20000 /dev/urandom > "$work/guest"
merged merge-noise 3 'guest: has no line of ftrace or perf script' -h "$work/host" -g "$work/guest" -t 1

if wanted merge-damaged; then
	merge_files
	merge_clocks $offset 4294967296 32
	out=$(python3 "$traces/mutate.py" "$program" "$work" "${mutated_seed:=1}" "${mutated:=100}" host guest 2>&1)
	verdict merge-damaged $? "$out"
fi
if wanted merge-map; then
	out=$(cc -O2 -Wall -o "$work/map" "$traces/map.c" "$traces/../map.c" 2>&1 && "$work/map")
	verdict merge-map $? "$out"
fi
