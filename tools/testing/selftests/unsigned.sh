#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the host: a guest whose kernel takes only signed modules, as with Secure Boot. The
# kernel's own messages must name the signature.
. ./lib.sh

need_guest_command

guest '[ -e /sys/module/module/parameters/sig_enforce ]' > /tmp/out 2>&1 ||
	tap_skip_all "the kernel checks no signatures"
guest 'insmod /lab/pvperf_guest.ko; lsmod; dmesg' > /tmp/out 2>&1
grep -q '^pvperf_guest ' /tmp/out
tap $? "a guest that takes any module has pvperf_guest" "$(tail -n 1 /tmp/out)"

guest -a module.sig_enforce=1 'insmod /lab/pvperf_guest.ko; lsmod; dmesg' > /tmp/out 2>&1
! grep -q '^pvperf_guest ' /tmp/out
tap $? "a guest that wants a signature has not"
grep -q "insmod: .*: \(Key was rejected by service\|Required key not available\)" /tmp/out
tap $? "insmod names the key" "$(grep insmod /tmp/out)"
grep -q 'Loading of .*module.* is rejected' /tmp/out
tap $? "the log names the signature" "$(grep -i module /tmp/out | tail -n 1)"
tap_end
