# shellcheck shell=bash disable=SC2154 # `check` sets program, here and work
# SPDX-License-Identifier: GPL-2.0
# Tests of pvperf list, with files in the form that host/stats.c writes.

# listed NAME CHANGE STATUS WORDS [OPTIONS...]: list prints WORDS, whatever the spaces
listed() {
	local name=$1 change=$2 status=$3 words=$4 broken=''
	shift 4
	wanted "$name" || return 0
	# shellcheck disable=SC2034 # expect looks at it
	machine_make "$change" machine_host machine_vms || broken="the test is broken; "
	PVPERF_ROOT=$work/m expect "$name" "$status" "$words" timeout 300 "$program" list "$@"
}

machine_vms() {
	cat > sys/kernel/debug/pvperf/vms <<-'END'
	vm pid=178 pages=2 held=512 calls=36 ops=58 refused=3 overflows=7 nmis=5
	  policy rule=2 access=local priority=pinned raw=no branches=off host_events=yes max_events=64 max_vm_events=4096 max_opens=4096 max_calls=1000000000 max_overflows=16000 max_pages=2048 min_period=1000
	  refused word=raw times=12 type=raw config=0x1c0 ago=7
	  refused word=max_calls times=3 type=hardware config=0x0 ago=90
	  vcpu index=0 events=3 attached=1 nmis=5
	    event id=0 type=hardware config=0x0 flags=0x21 period=0 state=off count=527118 enabled=400 running=100
	    event id=1 type=cache config=0x10000 flags=0x11 period=4000 state=counting count=18446744073709551615 enabled=0 running=0
	    event id=66 type=raw config=0x1c0 flags=0x5001 cpu=3 period=0 state=starved count=0 enabled=4 running=4
	  vcpu index=1 events=0 attached=0 nmis=0
	vm pid=200 pages=0 held=0 calls=1 ops=0 refused=0 overflows=0 nmis=0
	  policy rule=0 access=local priority=flexible raw=yes branches=off host_events=yes max_events=64 max_vm_events=4096 max_opens=4096 max_calls=1000000000 max_overflows=16000 max_pages=2048 min_period=1000
	END
	mkdir -p proc/178
	put proc/178/comm 'CPU 0/KVM'
	put proc/178/cgroup '0::/machine.slice/web.scope'
	printf '%s\0' qemu -name guest=web,debug-threads=on -m 512 -uuid 6E1d > proc/178/cmdline
	printf '%s\n' 'vms 2' 'vcpus 2' 'events 3' 'pages 2' 'calls 37' 'ops 58' \
		'refused 3' 'overflows 7' 'nmis 5' > sys/kernel/debug/pvperf/totals
}

# jsoned NAME FILTER: of the two VMs
jsoned() { said_json "$1" "$2" list machine_host machine_vms; }

# The process of a VM can make its arguments endless.
listed list-endless 'truncate -s 1T proc/178/cmdline' 0 'VM 178 web CPU 0/KVM'
listed list-no-end 'mkdir proc/200; printf "%s\0" qemu -name > proc/200/cmdline; printf db >> proc/200/cmdline' 0 'VM 200 db:'
listed list-two-dashes 'sed -i "s/-name/--name/" proc/178/cmdline' 0 'VM 178 web CPU 0/KVM'
listed list-alone "sed -i '/^vm pid=178 /s/\$/ alone=1/' sys/kernel/debug/pvperf/vms" 0 'has the host alone: what the other VMs may have is nothing meanwhile'
listed list-ended "sed -i '/^vm pid=178 /s/\$/ ended=1/' sys/kernel/debug/pvperf/vms" 0 $'VM 178: 2 pages that hold 512, 36 calls, 58 operations, 3 refused, 7 overflows, 5 NMIs\n its process has ended, or'
listed list-vm : 0 'VM 178 web CPU 0/KVM: 2 pages that hold 512, 36 calls, 58 operations, 3 refused, 7 overflows, 5 NMIs'
listed list-vm-bare : 0 'VM 200: 0 pages that hold 0'
listed list-policy : 0 ' policy of rule 2: access=local priority=pinned raw=no '
listed list-policy-default : 0 ' policy of the default: access=local priority=flexible '
listed list-vcpu : 0 'vCPU 0: 3 events, attached, 5 NMIs'
listed list-vcpu-bare : 0 'vCPU 1: 0 events, not attached'
listed list-event : 0 ' 0 cycles:u - off 527118 400 25.00%'
listed list-event-cache : 0 ' 1 L1-dcache-load-misses:k 4000 counting 18446744073709551615 0 -'
listed list-event-raw : 0 ' 66 r1c0+kind1+cpu3 - starved 0 4 100.00%'
listed list-event-software \
	'sed -i "s/hardware config=0x0/software config=0x3/" sys/kernel/debug/pvperf/vms' \
	0 ' 0 host-context-switches:u '
listed list-event-unnamed \
	'sed -i "s/hardware config=0x0/hardware config=0x77/" sys/kernel/debug/pvperf/vms' \
	0 ' 0 hardware/0x77:u '
listed list-event-cache-odd \
	'sed -i "s/config=0x10000/config=0x090000/" sys/kernel/debug/pvperf/vms' \
	0 ' 1 cache/0x90000:k '
listed list-totals : 0 'all: 2 vms 2 vcpus 3 events 2 pages 37 calls'
listed list-nobody ': > sys/kernel/debug/pvperf/vms' 0 'no VM uses pvperf'
listed list-new-field 'sed -i "s/^vm /vm colour=red /" sys/kernel/debug/pvperf/vms' 0 'VM 178 web CPU'
listed list-strange 'echo what is this >> sys/kernel/debug/pvperf/vms' \
	1 "does not understand: 'what is this'; install"
listed list-no-module 'rm -r sys/kernel/debug sys/module/pvperf_host' \
	1 'pvperf_host is not loaded, see pvperf check'
listed list-no-debugfs 'rm -r sys/kernel/debug' 1 'mount -t debugfs'
listed list-orphan 'echo "event id=1" > sys/kernel/debug/pvperf/vms' \
	1 "does not understand: 'event'" --json
jsoned list-json-vm '.vms | length == 2 and .[0].pid == 178 and .[1].vcpus == []'
jsoned list-json-process '.vms[0] | .name == "web" and .cgroup == "/machine.slice/web.scope"'
jsoned list-json-process-gone '.vms[1] | .name == null and .comm == null'
listed list-name-odd 'printf "%s\0" qemu -name "$(printf "a\033[2Jb")" > proc/178/cmdline' 0 'VM 178 a?[2Jb CPU'
listed list-json-error 'rm -r sys/kernel/debug' 1 '"error":"can' --json
listed list-guest 'rm -r sys/kernel/debug; mkdir -p sys/module/pvperf_guest; put sys/module/pvperf_guest/initstate live' \
	1 "this is a guest, and the list is its host's"
jsoned list-json-policy '[.vms[].policy | .priority, .rule] == ["pinned", 2, "flexible", 0]'
jsoned list-json-refusals '.vms[0].refusals[0].word == "raw" and .vms[1].refusals == []'
jsoned list-json-event '.vms[0].vcpus[0].events |
	.[0].name == "cycles:u" and .[1].config == "0x10000" and .[2].count == 0'
jsoned list-json-totals '.totals.calls == 37 and .totals.refused == 3'
machine_busy() {
	machine_vms
	sed -i 's/^  vcpu index=1.*/  vcpu index=1 busy=1/' sys/kernel/debug/pvperf/vms
}
said_json list-json-busy '.vms[0].vcpus[1] == {"index": 1, "busy": 1}' list machine_host machine_busy
jsoned list-json-empty-vcpu '.vms[0].vcpus[1].events == []'
