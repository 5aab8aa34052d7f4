#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# KVM's module for the CPU goes and comes while the hooks for branches are there, which stay a minute;
# and comes after pvperf_host: guests have their branches, and nothing of the hooks is left in a vCPU.
. ./lib.sh

grep -q vmx /proc/cpuinfo || tap_skip_all "only Intel's module has such a hook"
hooked() { grep -q vmx_handle_exit_irqoff /sys/kernel/tracing/enabled_functions; }
good() { ./branches -t short_visits -t debugctl > /tmp/out 2>&1; }
again() { insmod /lab/modules/kvm-intel.ko && chmod 666 /dev/kvm; }

good && hooked
tap $? "branches, by the hooks" "$(grep '^not ok' /tmp/out)"
rmmod msr 2> /dev/null
rmmod kvm_intel && ! hooked
tap $? "the hooks go with the module"
insmod /lab/modules/msr.ko	# where that was, so that the new one is at another address
again
good && hooked
tap $? "the new module is hooked" "$(grep '^not ok' /tmp/out)"
rmmod pvperf_host && rmmod kvm_intel && insmod /lab/pvperf_host.ko
again
good && hooked
tap $? "a module that comes after pvperf_host is hooked" "$(grep '^not ok' /tmp/out)"
tap_end
