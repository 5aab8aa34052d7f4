# shellcheck shell=bash disable=SC2154 # `check` sets program, here and work
# SPDX-License-Identifier: GPL-2.0
# Tests of pvperf policy, set and refused, with the device's text in a file.

standard='access=local priority=flexible raw=yes branches=off host_events=yes max_events=64 max_vm_events=4096 max_opens=4096 max_calls=1000000000 max_overflows=16000 max_pages=2048 min_period=1000'

machine_rules() {
	mkdir -p dev etc/policy.d
	printf '%s\n' 'comm=db* access=unavailable' 'cgroup=/machine.slice/*web* priority=pinned raw=no' \
		"# default: $standard" > dev/pvperf_policy
	printf '%s\n' '# the databases' '' 'comm=db*   raw=0' > etc/policy.d/20-db.conf
	printf 'max_events=8' > etc/policy.d/90-rest.conf
	echo 'nonsense' > etc/policy.d/README
	echo 'max_events=99' > etc/bad
}

# ruled NAME CHANGE STATUS WORDS RULES ARGUMENT...: pvperf prints WORDS and leaves RULES, with ;
# for a line's end, or if that is empty the rules as they were
ruled() {
	local name=$1 change=$2 status=$3 words=$4 rules=$5 out got why=
	shift 5
	wanted "$name" || return 0
	machine_make "cp dev/pvperf_policy before; $change" machine_host machine_vms machine_rules ||
		why="the test is broken; "
	out=$(cd "$work/m/etc" && PVPERF_ROOT=$work/m "$program" "$@" 2>&1)
	got=$?
	[ "$got" = "$status" ] || why+="status $got, not $status; "
	[[ $(tr -s ' ' <<< "$out") == *"$words"* ]] || why+="no words '$words'; "
	[ -z "$rules" ] || tr ';' '\n' <<< "$rules" > "$work/m/before"
	[ ! -e "$work/m/dev" ] || cmp -s "$work/m/before" "$work/m/dev/pvperf_policy" ||
		why+="rules: $(cat "$work/m/dev/pvperf_policy"); "
	[ -z "$why" ]
	verdict "$name" $? "$why$out"
}

old='comm=db* access=unavailable;cgroup=/machine.slice/*web* priority=pinned raw=no'

ruled policy-rules : 0 ' 2 cgroup=/machine.slice/*web* priority=pinned raw=no' '' policy
ruled policy-default : 0 "default: $standard" '' policy
ruled policy-vm : 0 'VM 178 web CPU 0/KVM: rule 2: priority=pinned raw=no' '' policy
ruled policy-vm-default : 0 'VM 200: default: as the default' '' policy
ruled policy-alone "sed -i '/^vm pid=178 /s/\$/ alone=1/' sys/kernel/debug/pvperf/vms" 0 'VM 178 web CPU 0/KVM: rule 2: has the host alone: priority' '' policy
ruled policy-not-alone "sed -i '/^vm pid=178 /s/\$/ alone=1/' sys/kernel/debug/pvperf/vms" 0 'VM 200: default: nothing while VM 178 web CPU 0/KVM has the host alone' '' policy
ruled policy-no-module 'rm -r sys/module/pvperf_host dev' 1 'pvperf_host is not loaded' '' policy
ruled policy-guest 'rm -r sys/module/pvperf_host dev; mkdir -p sys/module/pvperf_guest; put sys/module/pvperf_guest/initstate live' \
	1 "the policy is its host's" '' policy
ruled policy-json-error 'rm -r sys/module/pvperf_host dev' 1 '"error":"can' '' policy --json
ruled policy-new-rule 'echo "colour=red" >> dev/pvperf_policy; cp dev/pvperf_policy before' 1 \
	"install pvperf of the module's version" '' policy
ruled policy-check : 0 '2 rules' '' policy --check policy.d
ruled policy-check-bad : 1 'bad:1: max_events=99 is not between 1 and 64' '' policy --check bad
ruled policy-nul 'printf "comm=db* access=unavailable\\0" > etc/nul' 1 'nul:1: a byte of value 0' '' policy --apply nul
ruled policy-check-none : 1 "can't read nothing" '' policy --check nothing
ruled policy-apply : 0 '2 rules hold now' 'comm=db* raw=no;max_events=8' policy --apply policy.d
ruled policy-apply-keeps 'sed -i "1i pid=178 raw=no" dev/pvperf_policy' 0 '3 rules hold now' \
	'pid=178 raw=no;comm=db* raw=no;max_events=8' policy --apply policy.d
ruled policy-apply-replaces 'sed -i "1i pid=178 raw=no" dev/pvperf_policy; mkdir etc/one; echo pid=178 raw=yes > etc/one/a.conf' \
	0 '1 rules hold now' 'pid=178 raw=yes' policy --apply one
ruled policy-apply-twice 'mkdir etc/one; printf "%s\n" "comm=q* access=unavailable" "uid=1 pid=178 raw=no" > etc/one/a.conf; tac etc/one/a.conf > dev/pvperf_policy' \
	0 '2 rules hold now' 'comm=q* access=unavailable;uid=1 pid=178 raw=no' policy --apply one
ruled policy-apply-changed 'mkdir etc/one; echo uid=1 pid=178 raw=yes > etc/one/a.conf; sed -i "1i uid=1 pid=178 raw=no" dev/pvperf_policy' \
	0 '1 rules hold now' 'uid=1 pid=178 raw=yes' policy --apply one
ruled policy-apply-two 'printf "%s\n" "pid=178 access=unavailable" "pid=178 raw=no" > dev/pvperf_policy' 0 '4 rules hold now' \
	'pid=178 access=unavailable;pid=178 raw=no;comm=db* raw=no;max_events=8' policy --apply policy.d
ruled policy-check-pid 'echo pid=178 raw=no > etc/pid' 0 "'pid=178 raw=no' can be applied while there is such a process" '' policy --check pid
ruled policy-ended "sed -i '/^vm pid=178 /s/\$/ ended=1/' sys/kernel/debug/pvperf/vms" 0 'VM 178 (ended): rule 2' '' policy
ruled policy-name 'printf "qemu\0-name\0web x: rule 1: raw=yes\0" > proc/178/cmdline' 0 'VM 178 web x? rule 1? raw=yes CPU 0/KVM: rule 2: priority' '' policy
ruled policy-apply-folder : 1 'there is no file *.conf' '' policy --apply ../etc
ruled policy-check-many 'seq -f "comm=%.0f raw=no" 4096 > etc/many' 1 'the module takes 4095' '' policy --check many
ruled policy-check-long 'for i in $(seq 70); do echo "comm=$(printf %01000d 0)* raw=no"; done > etc/long' 1 'the module takes' '' policy --check long
ruled policy-apply-bad : 1 'stay as they were' '' policy --apply bad
ruled policy-apply-empty ': > etc/none; echo > before' 0 '0 rules hold now' '' policy --apply none
ruled policy-both : 2 'one of --check and --apply' '' policy --check a --apply b
ruled policy-word : 2 'unexpected argument web' '' policy web
ruled set-name : 0 'VM 178: priority=pinned raw=yes max_events=3' \
	"pid=178 priority=pinned raw=yes max_events=3;$old" set web raw=yes max_events=3
ruled set-again 'sed -i "1i pid=178 raw=no" dev/pvperf_policy; sed -i "s/rule=2/rule=1/" sys/kernel/debug/pvperf/vms' 0 'VM 178' \
	"pid=178 raw=no host_events=no;$old" set 178 host_events=no
ruled set-default-words "sed -i '/^  policy/s/rule=2/rule=0/' sys/kernel/debug/pvperf/vms" 0 'VM 178' \
	"pid=178 max_events=9;$old" set 178 max_events=9
# While db has the host alone debugfs shows what the others have now, and not what the rules say.
ruled set-alone "sed -i '/rule=2/s/access=local/access=unavailable/' sys/kernel/debug/pvperf/vms" 0 'VM 178' \
	"pid=178 priority=pinned raw=no max_events=9;$old" set web max_events=9
ruled set-back 'sed -i "1i pid=178 raw=no" dev/pvperf_policy' 0 'no rule of pvperf set any more' "$old" set web default
ruled set-back-other 'sed -i "1i uid=1 pid=178 raw=no" dev/pvperf_policy' 0 'no rule of pvperf set any more' "uid=1 pid=178 raw=no;$old" set web default
ruled set-number 'printf "%s\0" qemu -name 177 > proc/178/cmdline' 1 'no VM 177 has asked' '' set 177 raw=no
ruled set-ended "sed -i '1i vm pid=178 ended=1\n  policy rule=1' sys/kernel/debug/pvperf/vms" 0 'VM 178' \
	"pid=178 priority=pinned raw=no max_events=9;$old" set 178 max_events=9
ruled set-changed "sed -i '/^  policy/s/rule=2/rule=7/' sys/kernel/debug/pvperf/vms" 1 'have changed meanwhile' '' set web raw=no
ruled set-uuid : 0 'VM 178' "pid=178 access=unavailable priority=pinned raw=no;$old" set 6e1D access=unavailable
ruled set-cgroup : 0 'VM 178' "pid=178 priority=flexible raw=no;$old" set web.scope priority=flexible
ruled set-trusts-name : 2 'give the number' '' set web access=global
ruled set-nobody : 1 'no VM mail has asked' '' set mail raw=no
ruled set-two 'sed -i s/pid=200/pid=178/ sys/kernel/debug/pvperf/vms; put proc/200/comm x' 0 'VM 178' \
	"pid=178 priority=pinned raw=no max_events=9;$old" set web max_events=9
ruled set-word : 2 "'colour=red' is no word" '' set web colour=red
ruled set-value : 2 'max_events=65 is not between' '' set web max_events=65
ruled set-nothing : 2 'wants a VM and a word' '' set web
ruled refused : 0 'VM 178 web CPU 0/KVM: 12 raw events were refused, the last one r1c0 7 s ago; raw=yes would allow it' '' refused
ruled refused-waits "sed -i '/rule=2/s/max_calls=1000000000/max_calls=500/' sys/kernel/debug/pvperf/vms" 0 '3 calls had to wait, the last one 90 s ago; a greater max_calls' '' refused
ruled refused-calls-now : 0 '3 calls had to wait, the last one 90 s ago; it is allowed now' '' refused
ruled refused-most "sed -i 's/refused word=raw/refused word=max_events/' sys/kernel/debug/pvperf/vms" 0 'too many for their vCPU, the last one r1c0 7 s ago; it has the most that there is' '' refused
ruled refused-has-alone "sed -i '/^vm pid=178 /s/\$/ alone=1/; /rule=2/s/access=local/access=exclusive/; s/refused word=raw/refused word=access/' sys/kernel/debug/pvperf/vms" 0 'it is allowed now' '' refused
ruled refused-now "sed -i '/rule=2/s/raw=no/raw=yes/' sys/kernel/debug/pvperf/vms" 0 'the last one r1c0 7 s ago; it is allowed now' '' refused
ruled refused-alone "sed -i '/^vm pid=200 /s/\$/ alone=1/; s/refused word=raw/refused word=access/' sys/kernel/debug/pvperf/vms" 0 'were refused, the last one 7 s ago; VM 200 has the host alone now' '' refused
ruled refused-waiting "sed -i '/rule=2/s/access=local/access=exclusive/; s/refused word=raw/refused word=access/' sys/kernel/debug/pvperf/vms" 0 'it waits until no other VM counts' '' refused
ruled refused-none 'sed -i /refused.word/d sys/kernel/debug/pvperf/vms' 0 'the policies have refused no call' '' refused
ruled refused-json-error 'rm sys/kernel/debug/pvperf/vms' 1 $'"\n}' '' refused --json
ruled refused-json : 0 '"seconds_ago":7' '' refused --json
