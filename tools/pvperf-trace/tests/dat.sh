# shellcheck shell=bash disable=SC2154 # `check` sets program, here and work
# SPDX-License-Identifier: GPL-2.0
# Tests of pvperf merge of trace.dat files: what the stock trace-cmd report shows of the
# copies, against the true times, which trace.py gives the events for a text.

amd=$((1 << 32)) intel=$((1 << 48))	# the ratio 1, in 32 and in 48 places

# dat_make VMS CLOCKS [debugfs]: the host's file and VMs of two vCPUs
dat_make() {
	rm -rf "$work/dat"
	mkdir "$work/dat"
	python3 "$traces/trace.py" "$work/dat" "$1" 2 "${seed_of_files:=1}" "${@:2}"
	dat_files=(-h "$work/dat/host.dat" -g "$work/dat/vm1.dat")
	[ "$1" = 1 ] || dat_files+=(-g "$work/dat/vm2.dat")
}

# dat_worst FILE...: how far trace-cmd report is from the truth, at most
dat_worst() {
	trace-cmd report -t "${@/#/-i}" 2> /dev/null | awk '
		match($0, /[0-9]+(\.[0-9]+)?: truth:/) {
			split(substr($0, RSTART), time, ":")
			split($0, at, "at=")
			sub(/\./, "", time[1])
			d = time[1] - at[2]; d = d < 0 ? -d : d; worst = d > worst ? d : worst; n++
		}
		END { if (n) printf "%.0f\n", worst; else print "no events" }'
}

# dat_exact NAME VMS CLOCKS WORST [debugfs]: the copies' times are right, all events inside
dat_exact() {
	local out got worst control
	wanted "$1" || return 0
	dat_make "$2" "$3" "${@:5}"
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	got=$?
	worst=$(dat_worst "$work"/dat/m/*.dat)
	control=$(dat_worst "$work"/dat/*.dat)
	[ "$got" = 0 ] && [ "$worst" != "no events" ] && [ "$worst" -le "$4" ] && [ "$control" -gt 1000000 ] &&
		[ "$(grep -c ' events lie between' <<< "$out")" = $((2 * $2)) ]
	verdict "$1" $? "status $got, worst $worst, of the files as they came $control: $out"
}

# dat_says NAME STATUS WORDS ARGUMENT...: and no copies, if STATUS is 1 or 2
dat_says() {
	local name=$1 status=$2 words=$3 out got
	shift 3
	wanted "$name" || return 0
	rm -rf "$work/dat/m"
	out=$("$program" merge "$@" -o "$work/dat/m" 2>&1)
	got=$?
	[ "$got" = "$status" ] && [[ $out == *"$words"* ]] && { [[ $status = [03] ]] || [ ! -e "$work/dat/m/host.dat" ]; }
	verdict "$name" $? "status $got: $out"
}

dat_exact dat-plain 1 $amd/32/0 0
if wanted dat-full; then
	"$program" merge "${dat_files[@]}" -o "$work/dat/m" --why nobody > /dev/full 2>&1
	[ $? = 1 ] && rm -rf "$work/dat/m" &&
		{ "$program" merge "${dat_files[@]}" -o "$work/dat/m" > /dev/full 2>&1; [ $? = 1 ]; } &&
		[ ! -e "$work/dat/m/host.dat" ]
	verdict dat-full $? 'no status 1 for a full output, or copies'
fi
dat_says dat-given 0 'is taken as given' "${dat_files[@]}" -t 5
dat_exact dat-unscaled-amd 1 1/0/0 0
dat_exact dat-steps 2 "$intel/48/0,$intel/48/12345678,$intel/48/1,$intel/48/999999999999" 0
dat_exact dat-half 1 $((amd / 2))/32/0 1
dat_exact dat-double 1 $((intel * 2))/48/0 1
dat_exact dat-scaled-steps 2 "$((intel * 11 / 10))/48/0,$((intel * 11 / 10))/48/70000000000,$((intel * 9 / 10))/48/5" 1

dat_exact dat-loaded 1 "$amd/32/0,$amd/32/-300000000/load,$amd/32/0" 0
dat_exact dat-debugfs 1 "$amd/32/0,$amd/32/12345678" 0 debugfs
dat_exact dat-debugfs-loaded 1 "$intel/48/0,$intel/48/-300000000/load" 0 debugfs
# One clock, of which perf inject wants the numbers; and one that steps.
if wanted dat-inject; then
	dat_make 1 $amd/32/0
	python3 "$traces/trace.py" "$work/dat" 1 1 1 $((amd / 4))/32/0 debugfs
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1 | sed -n 's/.*--guest-data=//p')
	[[ $out =~ ^FILE,$((0xde00)),[0-9]+,0.25$ ]] && offset=${out%,*} offset=${offset##*,} &&
		grep -aq "pvperf: vm=.* offset=$(printf %d "$offset" 2> /dev/null || echo $((offset))) " "$work/dat/host.dat"
	verdict dat-inject $? "$out"
	python3 "$traces/trace.py" "$work/dat" 1 1 1 $amd/32/0,$amd/32/7777 debugfs
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1 | grep guest-data)
	[ -z "$out" ]
	verdict dat-inject-steps $? "$out"
fi
# vCPUs that were not made in the order of the guest's CPUs, and APIC ids with a gap.
dat_exact dat-apics 2 "$amd/32/0,$amd/32/12345678" 0 apics=6,2
dat_exact dat-debugfs-apics 1 $amd/32/0 0 debugfs apics=0,2
# One event of a guest may not end the reading, and no event of it keep a time that is not looked at.
dat_exact dat-odd-cpus 1 $amd/32/0 0 odd=cpus
dat_make 1 $amd/32/0 odd=unknown
dat_says dat-odd-event 1 "vm1.dat: libtracecmd can't read it to its end" "${dat_files[@]}"
dat_make 1 $amd/32/0 odd=buffer
dat_says dat-odd-buffer 1 'vm1.dat: a guest'"'"'s times in buffers' "${dat_files[@]}"
# A guest without our module says that it is another process's.
dat_make 1 $amd/32/0 debugfs odd=$((0xde00))
dat_says dat-odd-name 1 "no pvperf_clock with clock=000000000000de00" "${dat_files[@]}"
if wanted dat-child; then
	dat_make 1 $amd/32/0
	out=$( (trap '' CHLD; "$program" merge "${dat_files[@]}" -o "$work/dat/m") 2>&1)
	verdict dat-child $? "$out"
fi
# A clock that is wrong by an hour, either way.
for wrong in 7200000000000 -7200000000000; do
	dat_make 1 $amd/32/0 wrong=$wrong
	dat_wrong=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 3 ] && [[ $dat_wrong == *'are these recordings of the same time'* ]]
	verdict dat-wrong$wrong $? "$dat_wrong"
done
# The tools show nanoseconds, if the host tells how fast its TSC is.
if wanted dat-nanoseconds; then
	dat_make 1 $amd/32/0 ticks=3
	"$program" merge "${dat_files[@]}" -o "$work/dat/m" > /dev/null 2>&1
	out=$(trace-cmd report -t -i "$work/dat/m/host.dat" -i "$work/dat/m/vm1.dat" 2> /dev/null | awk '
		match($0, /[0-9]+\.?[0-9]*: truth:/) {
			split(substr($0, RSTART), time, ":")
			split($0, at, "at=")
			sub(/\./, "", time[1])
			d = time[1] - at[2] / 3; d = d < 0 ? -d : d; worst = d > worst ? d : worst; n++
		}
		END { print (n > 100 && worst < 2000 ? "good" : n " events, " worst) }')
	[ "$out" = good ]
	verdict dat-nanoseconds $? "$out"
fi
dat_make 2 $amd/32/0 debugfs
dat_says dat-debugfs-two 1 'say --vm PID' "${dat_files[@]}"
dat_says dat-debugfs-vm 0 "what KVM's debugfs told of process $((0xde01))" -h "$work/dat/host.dat" \
	-g "$work/dat/vm1.dat" --vm $((0xde00)) -g "$work/dat/vm2.dat" --vm $((0xde01))
dat_says dat-bad-vm 2 'wants the process' -h "$work/dat/host.dat" -g "$work/dat/vm1.dat" --vm 7x
dat_says dat-debugfs-other-vm 1 'no pvperf_clock with' -h "$work/dat/host.dat" -g "$work/dat/vm1.dat" --vm 7

dat_make 1 $amd/32/0
clocks=$work/dat/vm1.dat
# What lies where a copy has to be, and what an earlier merge has made.
if wanted dat-in-the-way; then
	mkdir -p "$work/dat/m"
	cp "$work/dat/vm1.dat" "$work/dat/m/vm1.dat"
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 1 ] && [[ $out == *'no copy that pvperf merge has made'* ]] && cmp -s "$work/dat/vm1.dat" "$work/dat/m/vm1.dat" &&
		[ -z "$(ls "$work"/dat/m/*.merge "$work/dat/m/host.dat" 2> /dev/null)" ]
	verdict dat-in-the-way $? "$out"
	rm -r "$work/dat/m"
	"$program" merge "${dat_files[@]}" -o "$work/dat/m" > /dev/null 2>&1
	cp -r "$work/dat/m" "$work/dat/before"
	chmod 600 "$work/dat/host.dat"
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1; stat -c %a "$work/dat/m/host.dat")
	[[ $out == *600 ]]
	verdict dat-mode $? "$out"
	head -c 20000 "$work/dat/vm1.dat" > "$work/dat/cut"
	mkdir "$work/dat/bad" && mv "$work/dat/cut" "$work/dat/bad/vm1.dat"
	out=$("$program" merge -h "$work/dat/host.dat" -g "$work/dat/bad/vm1.dat" -o "$work/dat/m" 2>&1)
	[ $? = 1 ] && diff -r "$work/dat/before" "$work/dat/m" > /dev/null
	verdict dat-fails-keeps $? "$out; $(ls "$work/dat/m")"
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1) && diff -r "$work/dat/before" "$work/dat/m" > /dev/null
	verdict dat-again $? "$out"
	echo precious > "$work/dat/precious"
	ln "$work/dat/precious" "$work/dat/m/vm1.dat.merge"
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1) && [ "$(cat "$work/dat/precious")" = precious ]
	verdict dat-part-is-a-link $? "$out"
	rm -r "$work/dat/m"
fi
if wanted dat-two-at-once; then
	mkdir -p "$work/dat/m"
	out=$(flock "$work/dat/m/.merge.lock" "$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 1 ] && [[ $out == *'another pvperf merge makes copies there'* ]]
	verdict dat-two-at-once $? "$out"
fi
if wanted dat-names; then
	name=$'a b;touch pwned;\e[2J'
	mkdir "$work/dat/$name"
	cp "$work"/dat/*.dat "$work/dat/$name/"
	out=$(cd "$work" && eval "$("$program" merge "$work/dat/$name" 2> "$work/said" | head -n 1)" | wc -l)
	[ "$out" -gt 100 ] && ! grep -q $'\e' "$work/said" && [ ! -e "$work/pwned" ]
	verdict dat-names $? "$out: $(cat "$work/said")"
	mkdir "$work/dat/run[1]"
	cp "$work"/dat/*.dat "$work/dat/run[1]/"
	out=$("$program" merge "$work/dat/run[1]" 2>&1)
	verdict dat-names-pattern $? "$out"
fi
dat_says dat-commands 0 "kernelshark $work/dat/m/host.dat -a $work/dat/m/vm1.dat" "${dat_files[@]}"
if wanted dat-threads; then
	"$program" merge "${dat_files[@]}" -o "$work/dat/m" > /dev/null 2>&1
	out=$(trace-cmd dump -i "$work/dat/m/host.dat" --options 2>&1)
	grep -q 'Option GUEST' <<< "$out" && grep -qx '.*vm1.*' <<< "$out" && ! grep -q vm1.dat <<< "$out" && grep -q 1001 <<< "$out"
	verdict dat-threads $? "$out"
fi
if wanted dat-compressed; then
	for f in host vm1; do
		trace-cmd convert --compression zstd -i "$work/dat/$f.dat" -o "$work/dat/$f.z" > /dev/null 2>&1
		mv "$work/dat/$f.z" "$work/dat/$f.dat"
	done
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1 && dat_worst "$work"/dat/m/*.dat)
	grep -q zstd "$clocks" && [ "${out##*$'\n'}" = 0 ]
	verdict dat-compressed $? "$out"
fi
dat_make 1 $amd/32/0
dat_says dat-swapped 1 'no pvperf_guest_clock in it' -h "$clocks" -g "$work/dat/host.dat"
dat_says dat-one-is-text 1 'all files have to be, or none' -h "$work/dat/host.dat" -g <(echo text)
if wanted dat-fifo; then
	mkfifo "$work/dat/vm2.dat"
	out=$(timeout 300 "$program" merge "${dat_files[@]}" -g "$work/dat/vm2.dat" -o "$work/dat/m" 2>&1)
	[ $? = 1 ] && [[ $out == *'all files have to be, or none'* ]]
	verdict dat-fifo $? "$out"
	rm "$work/dat/vm2.dat"
fi
dat_says dat-other-vm 1 'of another VM than --vm says' "${dat_files[@]}" --vm 7
dat_says dat-same-name 1 'rename one' "${dat_files[@]}" -g "$clocks"
mkdir "$work/dat/other"
head -c 10000 "$clocks" > "$work/dat/other/vm1.dat"
dat_says dat-cut 1 'pvperf: ' -h "$work/dat/host.dat" -g "$work/dat/other/vm1.dat"
trace-cmd convert --file-version 6 -i "$clocks" -o "$work/dat/other/vm1.dat" > /dev/null 2>&1
dat_says dat-version-6 1 'trace-cmd convert --file-version 7' -h "$work/dat/host.dat" -g "$work/dat/other/vm1.dat"
if wanted dat-itself; then
	before=$(cksum < "$clocks")
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat" 2>&1)
	[ $? = 1 ] && [[ $out == *"another folder with -o"* ]] && [ "$(cksum < "$clocks")" = "$before" ]
	verdict dat-itself $? "$out"
fi
# A vCPU 10 us late: the offset of the host's clock event, which stands in the page as it is.
if wanted dat-wrong-by-10us; then
	python3 - "$work/dat/host.dat" <<-'END'
	import struct, sys
	data = open(sys.argv[1], 'rb').read()
	at = data.index(struct.pack('<Hxxi', 903, 7)) + 16
	offset, = struct.unpack_from('<Q', data, at)
	open(sys.argv[1], 'wb').write(data[:at] + struct.pack('<Q', offset - 30000) + data[at + 8:])
	END
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 3 ] && grep -q 'CPU [01]: \([0-9]*\) of \1 events' <<< "$out" &&
		[ "$(grep -c 'CPU [01]: \([0-9]*\) of \1 events' <<< "$out")" = 1 ]
	verdict dat-wrong-by-10us $? "$out"
fi
# No clock of vCPU 0: it is that of a vCPU 7.
if wanted dat-no-clock-of-cpu; then
	dat_make 1 $amd/32/0
	python3 - "$work/dat/host.dat" <<-'END'
	import struct, sys
	data = open(sys.argv[1], 'rb').read()
	at = -1
	while (at := data.find(struct.pack('<Hxxi', 903, 7), at + 1)) >= 0:
	    if struct.unpack_from('<Q', data, at + 48)[0] == 0:
	        data = data[:at + 48] + struct.pack('<Q', 7) + data[at + 56:]
	open(sys.argv[1], 'wb').write(data)
	END
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 3 ] && [[ $out == *"events may have a wrong time: no clock event tells their CPU's clock"* ]]
	verdict dat-no-clock-of-cpu $? "$out"
fi
if wanted dat-no-link; then
	rm -rf "$work/dat/m" && mkdir "$work/dat/m" && ln -s "$clocks" "$work/dat/m/host.dat"
	before=$(cksum < "$clocks")
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 1 ] && [ "$(cksum < "$clocks")" = "$before" ]
	verdict dat-no-link $? "$out"
fi
dat_make 1 "$amd/32/0,$amd/32/-5000000000"
if wanted dat-back; then
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" 2>&1)
	[ $? = 3 ] && [[ $out == *"was set back: 1"* ]]
	verdict dat-back $? "$out"
fi

why_parts="victim (42) woke at 1100000 and ran 5.0 us later, on CPU 0
         1.5 us  in the guest
         1.5 us  waiting for the host's CPU, which ran: pig
         1.0 us  in the host, after the exit: 64
         1.0 us  waiting for the host's CPU, which ran: hog
1 of 1 wake-ups of victim took more than 4 us"
dat_make 1 why moved
dat_says dat-why-other-thread 0 "$why_parts" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why migrated
dat_says dat-why-migrated 0 "         2.0 us  waiting for the host's CPU, which ran: cow
         1.5 us  in the guest
         1.0 us  in the host, after the exit: 64
         0.5 us  waiting for the host's CPU, which ran: hog" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why migrated-unseen
dat_says dat-why-migrated-unseen 0 "         2.5 us  not known
         1.5 us  in the guest" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why gap-reason
dat_says dat-why-gap-reason 3 "         4.0 us  not known
         0.5 us  in the guest
         0.5 us  in the host, after the exit
1 of 1" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why gap-entry
dat_says dat-gap-entry 0 'CPU 0: 1 events cannot be judged' "${dat_files[@]}"
dat_make 1 why remote
dat_says dat-why-remote 0 "$why_parts" "${dat_files[@]}" --why victim --over 4us
why_waker="         3.5 us  in the guest
         1.0 us  waiting for the host's CPU, which ran: pig
         0.5 us  in the host, after the exit: 64"
dat_make 1 why waker
dat_says dat-why-waker 0 "$why_waker" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why leaving
dat_says dat-why-leaving 0 "$why_waker" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why pulled
dat_says dat-why-pulled 0 "ran 5.0 us later, on CPU 1
         3.0 us  in the guest
         1.0 us  waiting for the host's CPU, which ran: hog
         0.5 us  waiting for the host's CPU, which ran: pig
         0.5 us  in the host, after the exit: 64" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why pulled-unseen
dat_says dat-why-pulled-unseen 0 "         5.0 us  not known" "${dat_files[@]}" --why victim --over 4us
dat_make 1 why starved
dat_says dat-why-starved 3 'of 1 more wake-ups of victim it is not known how long they took: the recording ends' "${dat_files[@]}" --why victim
dat_make 1 why no-switch
dat_says dat-why-no-switch 3 "the host's recording has no sched_switch" "${dat_files[@]}" --why victim
dat_make 1 why short
dat_says dat-why-short 1 'it does not tell how fast the TSC is' "${dat_files[@]}" --why victim
dat_make 1 why lost-host
dat_says dat-why-lost-host 3 '         4.5 us  not known
         0.5 us  in the guest' "${dat_files[@]}" --why victim --over 4us
dat_make 1 why lost-host-still
dat_says dat-why-lost-host-still 3 '         3.5 us  not known
1 of 1' "${dat_files[@]}" --why victim --over 3us
dat_says dat-lost 3 'host.dat: gaps in which events were lost: 1: record with greater buffers' "${dat_files[@]}"
dat_make 1 why
dat_says dat-why 0 "$why_parts" "${dat_files[@]}" --why victim --over 4us
dat_says dat-why-pid 0 '0 of 1 wake-ups of 42 took more than 5.1 us' "${dat_files[@]}" --why 42 --over 5.1us
dat_says dat-why-nobody 3 'no wake-up of nobody was recorded' "${dat_files[@]}" --why nobody
dat_says dat-why-time 2 '--over wants a time' "${dat_files[@]}" --why 42 --over 5
dat_says dat-over-alone 2 '--json and --over go with --why' "${dat_files[@]}" --over 1ms
dat_says dat-vm-offset 2 '--vm does not go with -t' "${dat_files[@]}" --vm 7 -t -5
dat_says dat-why-offset 2 'does not go with -t' "${dat_files[@]}" --why 42 -t -5
dat_says dat-why-text 2 'are for trace.dat files' -h "$work/host" -g "$work/guest" --why 42
if wanted dat-why-json; then
	out=$("$program" merge "${dat_files[@]}" -o "$work/dat/m" --why 42 --over 0s --json 2> /dev/null)
	jq -e '.[0].pid == 42 and .[0].us == 5 and (.[0].parts | map(.us) | add) == 5' <<< "$out" > /dev/null
	verdict dat-why-json $? "$out"
fi
dat_make 1 why lost
dat_says dat-why-lost 0 'victim (42) woke at 1904000 and ran 1.0 us later' "${dat_files[@]}" --why victim --over 0s
dat_says dat-why-lost-one 0 '1 of 1 wake-ups of victim' "${dat_files[@]}" --why victim --over 0s
if wanted dat-damaged; then
	dat_make 1 "$amd/32/0,$amd/32/12345678" debugfs
	out=$(python3 "$traces/mutate.py" "$program" "$work/dat" "${mutated_seed:=1}" "${mutated:=100}" host.dat vm1.dat -o OUT 2>&1)
	verdict dat-damaged $? "$out"
fi
