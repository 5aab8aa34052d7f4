# shellcheck shell=bash disable=SC2154 # `check` sets program, here and work
# SPDX-License-Identifier: GPL-2.0
# Tests of pvperf record, with a trace-cmd that only notes what it was asked to do, and a
# tracefs below PVPERF_ROOT. All sides are this machine.

record_make() {
	rm -rf "$work/r"
	mkdir -p "$work/r/bin" "$work/r/root/sys/kernel/tracing/events/pvperf"/pvperf_{,guest_}clock
	for f in "$work"/r/root/sys/kernel/tracing/events/pvperf/*; do echo 1 > "$f/enable"; done
	echo 1 > "$work/r/root/sys/kernel/tracing/tracing_on"
	cat > "$work/r/bin/trace-cmd" <<-'END'
	#!/usr/bin/env python3
	import os, signal, sys, time
	out = sys.argv[sys.argv.index('-o') + 1]
	def end(*a):
	    time.sleep(float(os.environ.get('SLOW', 0)))
	    with open(out, 'w') as f:
	        f.write(' '.join(sys.argv[1:]) + '\n')
	    sys.exit(int(os.environ.get('BAD', 0)))
	signal.signal(signal.SIGTERM, end)
	print(os.getpid(), file=open(os.path.dirname(sys.argv[0]) + '/ran', 'a'))
	open(out + '.cpu0', 'w').close()
	time.sleep(600)
	END
	chmod +x "$work/r/bin/trace-cmd"
}

# recorded NAME STATUS WORDS ARGUMENT...: pvperf record -o DIR ARGUMENT... prints WORDS
recorded() {
	PATH=$work/r/bin:$PATH PVPERF_ROOT=$work/r/root TMPDIR=$work/r \
		expect "${@:1:3}" "$program" record -o "$work/r/out" "${@:4}"
}

# record_left WORDS SIDE: what that side was asked to record
record_left() {
	grep -q -- "$1" "$work/r/out/$2.dat"
	verdict "record-$2${3:-}" $? "$(cat "$work/r/out/$2.dat")"
}

record_make
recorded record-command 0 "pvperf merge $work/r/out" --guest web=nice --guest db=env -e sched -- touch "$work/r/ran"
if wanted record; then
	record_left '-C x86-tsc -o .* -e pvperf:pvperf_clock -e kvm:kvm_entry -e kvm:kvm_exit -e kvm:kvm_write_tsc_offset -e sched' host
	record_left '-e pvperf:pvperf_guest_clock -e sched' web
	record_left '-e pvperf:pvperf_guest_clock -e sched' db
	[ -e "$work/r/ran" ] && [ -z "$(ls "$work"/r/tmp.* 2> /dev/null)" ]
	verdict record-leaves-nothing $? "$(ls "$work/r")"
fi
if wanted record-fails; then
	rm -rf "$work/r/out"
	SLOW=20 recorded record-fails 1 web: --guest 'web=sleep 3; false'
	[ -z "$(ls -d "$work"/r/tmp.* 2> /dev/null)" ]
	verdict record-fails-leaves-nothing $? "$(ls "$work/r")"
fi
if wanted record-ctrl-c; then
	rm -rf "$work"/r/tmp.* "$work/r/out"
	PATH=$work/r/bin:$PATH PVPERF_ROOT=$work/r/root TMPDIR=$work/r "$program" record -o "$work/r/out" --guest web=nice > "$work/r/said" 2>&1 &
	for _ in $(seq 1000); do
		[ "$(find "$work/r" -name 'tmp.*.cpu0' | wc -l)" != 2 ] || break
		sleep 0.2
	done
	# Both have said "ready", and wait for the end.
	for _ in $(seq 3000); do
		[ "$(pgrep -c -x cat -P "$(pgrep -d, -P $!)")" != 2 ] || break
		sleep 0.1
	done
	kill -INT $!
	wait $!
	out=$(cat "$work/r/said")
	[[ $out == *"pvperf merge $work/r/out"* ]] && grep -q 'sched:sched_switch' "$work/r/out/web.dat"
	verdict record-ctrl-c $? "$out"
fi
# A transfer that breaks off, and a command that waits for something that never comes, or fails.
cat > "$work/r/bin/cuts" <<-'END'
#!/bin/sh
"$@" | dd bs=1 count=100 status=none
END
printf '#!/bin/sh\n"$@"\nexit 3\n' > "$work/r/bin/fails"
chmod +x "$work/r/bin/cuts" "$work/r/bin/fails"
printf '#!/bin/sh\necho ready; cat > /dev/null; echo 999999999999999999\n' > "$work/r/bin/huge"
chmod +x "$work/r/bin/huge"
recorded record-huge 1 'web.dat.part: no room: less than a tenth would be left' --guest web=huge -- true
rm -f "$work"/r/out/*.part
# A guest that does not end: the host records for some seconds more, or until Ctrl-C, which does not
# end pvperf.
printf '#!/bin/sh\necho ready; cat > /dev/null; sleep 600\n' > "$work/r/bin/mute"
chmod +x "$work/r/bin/mute"
for sig in '' -INT; do
	name=record-mute$sig
	wanted "$name" || continue
	rm -f "$work/r/bin/ran"
	PATH=$work/r/bin:$PATH PVPERF_ROOT=$work/r/root TMPDIR=$work/r "$program" record -o "$work/r/mute" --guest web=mute -- sh -c 'kill -INT $PPID' > "$work/r/said" 2>&1 &
	for _ in $(seq 2000); do
		recorder=$(cat "$work/r/bin/ran" 2> /dev/null)
		now=$(pgrep -f "$work/r/bin/trace-cmd" | tr '\n' ' ')
		[ -n "$now" ] || [ -z "$recorder" ] || break
		! grep -q 'waiting for it to stop' "$work/r/said" || [ -z "$sig" ] || { kill $sig $!; sig=; }
		sleep 0.1
	done
	sleep 1
	[ -n "$recorder" ] && [ -z "$now" ] && grep -q ' R \| S ' "/proc/$!/stat"
	verdict "$name" $? "$recorder, $now: $(cat "$work/r/said")"
	kill $!
	wait $!
	rm -rf "$work/r/mute"
done
BAD=1 recorded record-bad 1 'web: trace-cmd record: status 1: ' --guest web=env -- true
rm -f "$work"/r/out/*.part
recorded record-cut 1 'its file broke off: ' --guest web=cuts -e "$(printf %0200d 0)" -- true
if wanted record-cut; then
	[ "$(wc -c < "$work/r/out/web.dat.part")" -lt 100 ] && grep -q pvperf_clock "$work/r/out/host.dat.part" &&
		grep -q sched:sched_switch "$work/r/out/web.dat"
	verdict record-cut-keeps $? "$(ls -l "$work/r/out")"
	rm "$work"/r/out/*.part
fi
recorded record-cut-tells 1 "host.dat.part is kept, and is whole" --guest web=cuts -e "$(printf %0200d 0)" -- true
recorded record-keeps-part 1 '.dat.part is of another recording' --guest web=env -- true
rm -f "$work"/r/out/*.part
recorded record-status 0 'its command failed after its file had come' --guest web=fails -- true
recorded record-no-command 1 'nothing-such' --guest web=env -- nothing-such
recorded record-command-killed 0 'sh was ended by signal 9' --guest web=env -- sh -c 'kill -9 $$'
recorded record-command-fails 0 'false ended with status 1' --guest web=env -- false
printf 'exit 3\n' > "$work/r/script"
chmod +x "$work/r/script"
recorded record-script 0 'script ended with status 3' --guest web=env -- "$work/r/script"
mkdir -p "$work/r/out"
touch "$work/r/out/db.dat"
recorded record-other 1 'db.dat is of another recording' --guest web=env -- true
rm "$work/r/out/db.dat"
# A signal that only pvperf gets ends the command as well.
for sig in INT TERM; do
	wanted record-kill-$sig || continue
	PATH=$work/r/bin:$PATH PVPERF_ROOT=$work/r/root TMPDIR=$work/r "$program" record -o "$work/r/out" --guest web=env -- \
		sh -c 'echo > "$0/begun"; exec sleep 100' "$work/r" > "$work/r/said" 2>&1 &
	until [ -e "$work/r/begun" ] || ! kill -0 $!; do sleep 0.1; done
	rm "$work/r/begun"
	# A shell has its background commands ignore SIGINT, and pvperf does not.
	kill -$sig $!
	wait $!
	got=$?
	[ $got = 0 ] && grep -q 'pvperf merge' "$work/r/said"
	verdict record-kill-$sig $? "$got: $(cat "$work/r/said")"
done
if wanted record-terminal; then
	# As ssh asks: on the terminal, which is another session's.
	printf '#!/bin/sh\nexec < /dev/tty\n' > "$work/r/bin/asks"
	chmod +x "$work/r/bin/asks"
	out=$(PATH=$work/r/bin:$PATH PVPERF_ROOT=$work/r/root timeout 300 script -qec \
		"$program record -o $work/r/asked --guest web=asks -- true" /dev/null 2>&1)
	got=$?
	[ $got = 1 ] && [[ $out == *'web: its command ended'* ]] && [ ! -e "$work/r/asked" ]
	verdict record-terminal $? "$got: $out"
fi
recorded record-no-shell 1 'trace-cmd record -C x86-tsc -o web.dat -e pvperf:pvperf_guest_clock' --guest web=false
recorded record-bad-name 2 "a guest's name has" --guest 'a/b=ssh'
recorded record-two-of-a-name 2 'two sides have one name' --guest host=ssh
recorded record-bad-buffer 2 '-b wants the size' --guest web=env -b 4M
recorded record-buffer 0 "pvperf merge" --guest web=env -b 4096 -- true
! wanted record-buffer || record_left '-C x86-tsc -b 4096 -o' web -buffer-size
recorded record-bad-event 2 'SYSTEM:EVENT' --guest web=env -e "x' y"
recorded record-no-guest 2 'it wants -o DIR and --guest' -- true
rm -r "$work"/r/root/sys/kernel/tracing/events/pvperf/pvperf_guest_clock
recorded record-no-guest-module 0 "web: recording without pvperf_guest, by what KVM's debugfs tells" --guest web=env -- true
rm -r "$work"/r/root/sys/kernel/tracing/events/pvperf/pvperf_clock
recorded record-no-module 1 'host: there is no event pvperf:pvperf_clock: modprobe pvperf_host' --guest web=env -- true
if wanted record-debugfs; then
	vcpu=$work/r/root/sys/kernel/debug/kvm/12-34/vcpu1
	mkdir -p "$vcpu" "${vcpu%1}0"
	for f in pid:56 tsc-offset:-789 guest_mode:0; do echo "${f#*:}" | tee "$vcpu/${f%:*}" > "${vcpu%1}0/${f%:*}"; done
	echo 1 > "${vcpu%1}0/guest_mode"
fi
recorded record-debugfs 0 'host: recording without pvperf_host' --guest web=env -- true
if wanted record-debugfs; then
	out=$(cat "$work/r/root/sys/kernel/tracing/trace_marker")
	[ "$out" = 'pvperf: vm=12 vcpu=1 tid=56 offset=-789 ratio=1 frac=0' ]
	verdict record-debugfs-told $? "$out"
fi
mkdir -p "$work/r/root/sys/devices/system/clocksource/clocksource0"
echo 'hpet acpi_pm' > "$work/r/root/sys/devices/system/clocksource/clocksource0/available_clocksource"
recorded record-unstable 0 'host: recording without pvperf_host, by what KVM'"'s debugfs tells with a TSC that" --guest web=env -- true
rm "$work/r/bin/trace-cmd"
recorded record-no-directory 1 'No such file' --guest web=env -o "$work/none/none"
