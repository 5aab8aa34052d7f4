# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Tests of hosts with one thing wrong each. The file check describes look.

look host-fits machine_host : module ok 0 'pvperf_host 0.1 is loaded'
look host-kernel-6.0 machine_host 'put proc/sys/kernel/osrelease 6.0.3-amd64' \
	kernel problem 1 'older than 6.1'
look host-kernel-7 machine_host 'put proc/sys/kernel/osrelease 7.0.1+deb14-amd64' \
	kernel ok 0 '7.0.1'
look host-kvm-not-loaded machine_host 'unload kvm_amd; unload kvm' \
	kvm problem 1 '-> modprobe kvm_amd'
look host-kvm-vendor machine_host 'unload kvm_amd' \
	kvm problem 1 'kvm_amd is not loaded'
look host-kvm-intel machine_host \
	'cpuid_set 0 10 756e6547 6c65746e 49656e69; cpuid_set 1 0 0 20 0
	 mv sys/module/kvm_amd sys/module/kvm_intel' \
	kvm ok 0 'kvm and kvm_intel are loaded'
look host-kvm-no-svm machine_host 'unload kvm_amd; unload kvm; cpuid_set 80000001 0 0 0 0' \
	kvm problem 1 "firmware's setup"
look host-pmu-none machine_host 'put perf_event 2' \
	pmu problem 1 'no hardware PMU'
look host-pmu-not-permitted machine_host 'put perf_event 13' \
	pmu unknown 0 '-> run pvperf check as root'
look host-pmu-taken machine_host 'put perf_event 0 0 500 0' \
	pmu problem 1 "does not count"
look host-pmu-hybrid machine_host \
	'put sys/bus/event_source/devices/cpu_core/cpus 0-11
	 put sys/bus/event_source/devices/cpu_atom/cpus 12-19' \
	pmu ok 0 'on P cores (CPUs 0-11) and E cores (CPUs 12-19)'
look host-mediated-on machine_host \
	'put sys/module/kvm_amd/parameters/enable_mediated_pmu Y' \
	mediated-vpmu problem 1 'enable_mediated_pmu=0'
look host-mediated-yields machine_host \
	'put sys/module/kvm_amd/parameters/enable_mediated_pmu Y
	 put sys/module/pvperf_host/parameters/yield Y' \
	mediated-vpmu ok 0 'yield to such VMs'
look host-mediated-off machine_host \
	'put sys/module/kvm_amd/parameters/enable_mediated_pmu N' \
	mediated-vpmu ok 0 'is off'
look host-mediated-none machine_host : mediated-vpmu ok 0 'has no mediated vPMU'
look host-ftrace-off machine_host 'put proc/sys/kernel/ftrace_enabled 0' \
	ftrace problem 1 '-> sysctl kernel.ftrace_enabled=1'
look host-ftrace-none machine_host 'rm proc/sys/kernel/ftrace_enabled' \
	ftrace problem 1 'CONFIG_DYNAMIC_FTRACE'
look host-functions-missing machine_host 'sed -i /kvm_cpuid/d proc/kallsyms' \
	functions problem 1 'lacks functions to hook: kvm_cpuid'
look host-functions-untraceable machine_host \
	'sed -i /kvm_vcpu_reset/d sys/kernel/tracing/available_filter_functions' \
	functions problem 1 "can't hook kvm_vcpu_reset"
look host-functions-no-tracefs machine_host 'rm -r sys/kernel/tracing' \
	functions unknown 0 '-> mount -t tracefs'
look host-functions-old-tracefs machine_host \
	'mv sys/kernel/tracing sys/kernel/debug/tracing' functions ok 0 '7 functions'
look host-functions-kvm-not-loaded machine_host 'unload kvm' \
	functions unknown 1 'KVM is not loaded'
look host-conflict-livepatch machine_host \
	'mkdir -p sys/kernel/livepatch/fix/kvm/kvm_cpuid,1' \
	conflict problem 1 'a live patch diverts kvm_cpuid'
look host-conflict-other-function machine_host \
	'mkdir -p sys/kernel/livepatch/fix/kvm/kvm_lapic_reset,1' conflict ok 0 'pvperf_host diverts'
look host-conflict-hook machine_host \
	'unload pvperf_host pvperf_host.ko; echo "kvm_cpuid [kvm] (1) R I  	tramp: 0" > \
	 sys/kernel/tracing/enabled_functions' \
	conflict problem 1 'another module diverts kvm_cpuid'
look host-conflict-perf-hook machine_host \
	'unload pvperf_host pvperf_host.ko; echo "perf_create_mediated_pmu (1) R I  	tramp: 0" > \
	 sys/kernel/tracing/enabled_functions' \
	conflict problem 1 'another module diverts perf_create_mediated_pmu'
look host-conflict-tracer machine_host \
	'unload pvperf_host pvperf_host.ko; echo "kvm_cpuid [kvm] (1) R   	tramp: 0 (I)" > \
	 sys/kernel/tracing/enabled_functions' \
	conflict ok 1 'no other module'
look host-signature-lockdown-unsigned machine_host \
	'unload pvperf_host pvperf_host.ko
	 put lib/modules/6.12.1-amd64/updates/dkms/pvperf_host.ko not signed, and long enough
	 put sys/kernel/security/lockdown none "[integrity]" confidentiality' \
	signature problem 1 'has no signature'
look host-signature-lockdown-signed machine_host \
	'unload pvperf_host pvperf_host.ko
	 put lib/modules/6.12.1-amd64/updates/dkms/pvperf_host.ko "~Module signature appended~"
	 put sys/kernel/security/lockdown none "[integrity]" confidentiality' \
	signature unknown 1 'mokutil --test-key'
look host-signature-lockdown-compressed machine_host \
	'unload pvperf_host pvperf_host.ko.xz
	 put sys/kernel/security/lockdown none integrity "[confidentiality]"' \
	signature unknown 1 'compressed'
look host-signature-lockdown-loaded machine_host \
	'put sys/kernel/security/lockdown none "[integrity]" confidentiality' \
	signature ok 0 'locked down (integrity), and has accepted pvperf_host'
look host-signature-enforced machine_host \
	'unload pvperf_host; put sys/module/module/parameters/sig_enforce Y' \
	signature unknown 1 'module.sig_enforce set'
look host-signature-no-lockdown machine_host 'rm sys/kernel/security/lockdown' \
	signature ok 0 'not locked down'
look host-signature-no-securityfs machine_host \
	'rm -r sys/kernel/security; unload pvperf_host' \
	signature unknown 1 '-> mount -t securityfs'
look host-signature-no-securityfs-loaded machine_host 'rm -r sys/kernel/security' \
	signature ok 0 'has accepted pvperf_host'
look host-module-not-loaded machine_host 'unload pvperf_host pvperf_host.ko.xz' \
	module problem 1 '-> modprobe pvperf_host;'
look host-module-like-named machine_host 'unload pvperf_host pvperf_host2.ko' \
	module problem 1 'no pvperf_host is installed'
look host-module-no-headers machine_host \
	'unload pvperf_host; rm -r lib/modules/6.12.1-amd64/build' \
	module problem 1 'install the headers of this kernel from where it came'
look host-module-no-headers-debian machine_host \
	'unload pvperf_host; put proc/sys/kernel/osrelease 6.12.118+deb13-amd64' \
	module problem 1 'apt install linux-headers-6.12.118+deb13-amd64 linux-headers-amd64; then, in'
look host-module-no-headers-dkms machine_host \
	'unload pvperf_host; put proc/sys/kernel/osrelease 6.1.0-56-amd64
	 mkdir -p usr/src/pvperf-host-0.1; : > usr/src/pvperf-host-0.1/dkms.conf' \
	module problem 1 'apt install linux-headers-6.1.0-56-amd64 linux-headers-amd64'
look host-module-not-built machine_host \
	'unload pvperf_host; put usr/src/pvperf-host-0.1/dkms.conf' \
	module problem 1 'dkms install pvperf-host/0.1 -k 6.12.1-amd64'
look host-module-not-installed machine_host 'unload pvperf_host' \
	module problem 1 "-> in pvperf's source: make install-modules"
look host-access-rules machine_host \
	'mkdir -p dev; printf "%s\n" raw=no access=unavailable "# default: raw=yes" > dev/pvperf_policy' \
	access ok 0 'access=local, and 2 rules; pvperf policy shows'
policy_d() {
	mkdir -p etc/pvperf/policy.d
	printf '%s\n' raw=no pid=178\ raw=no > etc/pvperf/policy.d/1.conf
	printf '%s\n' "$@" > dev/pvperf_policy
}
look host-access-policy-d machine_host 'policy_d raw=no' access ok 0 'access=local, and 1 rules'
look host-access-policy-d-not machine_host 'policy_d "# default: raw=yes"' access problem 1 '-> pvperf policy --apply /etc/pvperf/policy.d'
look host-access-policy-d-bad machine_host 'policy_d raw=no; echo raw >> etc/pvperf/policy.d/1.conf' access problem 1 'may have a mistake'
look host-access-policy-d-old machine_host 'policy_d raw=no; put sys/module/pvperf_host/parameters/access unavailable' \
	access problem 1 '-> { pvperf policy --apply /etc/pvperf/policy.d ||'
look host-access-policy-d-more machine_host 'policy_d access=global raw=no' access problem 1 "are not those in"
look host-access-no-device machine_host 'policy_d raw=no; rm dev/pvperf_policy' access unknown 0 "pvperf_policy"
look host-access-unavailable machine_host \
	'put sys/module/pvperf_host/parameters/access unavailable' \
	access problem 1 'echo local > /sys/module/pvperf_host/parameters/access'
look host-access-rules-missing machine_host \
	'mkdir -p etc/pvperf/policy.d; put dev/pvperf_policy "# default"; put sys/module/pvperf_host/parameters/access unavailable; put etc/pvperf/policy.d/1.conf raw' \
	access problem 1 '-> { pvperf policy --apply /etc/pvperf/policy.d ||'
look host-debugfs-none machine_host 'rm -r sys/kernel/debug' \
	debugfs problem 1 '-> mount -t debugfs'
look host-by-option machine_guest : kvm problem 1 'kvm' --host
