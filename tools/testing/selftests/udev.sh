#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# At boot: udev goes over the devices that are there, and the guest's module is
# loaded by the CPU that says it is in a VM, as nobody asked for it by name.
. ./lib.sh

command -v udevadm > /dev/null || tap_skip_all "no udev"
[ -f /lab/pvperf_guest.ko ] || tap_skip_all "no /lab/pvperf_guest.ko"
loaded() { [ -e /sys/module/pvperf_guest/initstate ]; }

! loaded
tap $? "it is not there by itself"
tree=/lib/modules/$(uname -r)
mkdir -p "$tree/updates/dkms" /run/udev
cp /lab/pvperf_guest.ko "$tree/updates/dkms"
touch "$tree/modules.order" "$tree/modules.builtin"
/usr/sbin/depmod
tap $? "depmod"
# what systemd-udevd.service and systemd-udev-trigger.service do
udevd --daemon
tap $? "udevd runs"
! loaded
tap $? "udevd alone loads nothing"
udevadm trigger --type=devices --action=add
udevadm settle --timeout=30
tap $? "the devices that are there have been gone over"
loaded
tap $? "the module is loaded"
n=$(count -e instructions:u ./loop5m)
within "${n:-0}" 5000004 0.1
tap $? "and counts" "${n:-nothing}"
udevadm control --exit
tap_end
