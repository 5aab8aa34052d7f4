#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# At boot udev triggers all present devices, and loads the guest's module for the CPU
# device, whose modalias has the feature "in a VM". No program names the module.
. ./lib.sh

command -v udevadm > /dev/null || tap_skip_all "no udev"
[ -f /lab/pvperf_guest.ko ] || tap_skip_all "no /lab/pvperf_guest.ko"
loaded() { [ -e /sys/module/pvperf_guest/initstate ]; }

! loaded
tap $? "the module is not loaded yet"
tree=/lib/modules/$(uname -r)
mkdir -p "$tree/updates/dkms" /run/udev
cp /lab/pvperf_guest.ko "$tree/updates/dkms"
touch "$tree/modules.order" "$tree/modules.builtin"
/usr/sbin/depmod
tap $? "depmod"
# As systemd-udevd.service and systemd-udev-trigger.service do.
udevd --daemon
tap $? "udevd runs"
! loaded
tap $? "udevd alone loads nothing"
udevadm trigger --type=devices --action=add
udevadm settle --timeout=30
tap $? "all present devices have been triggered"
loaded
tap $? "the module is loaded"
n=$(count -e instructions:u ./loop5m)
within "${n:-0}" 5000004 0.1
tap $? "perf counts" "${n:-nothing}"
udevadm control --exit
tap_end
