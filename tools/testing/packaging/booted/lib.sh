# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced in the lab's machines, which have what the packages brought into
# /lib/modules and /etc (see ../boot): what a boot of Debian does with that.

# shellcheck source=tools/testing/selftests/lib.sh
. /p/tap.sh
rm -f /lab/pvperf_*.ko	# so that nobody takes one from there
mkdir -p /run/udev

modprobe() { /usr/sbin/modprobe "$@"; }	# the other one is busybox's
loaded() { [ -e "/sys/module/$1/initstate" ]; }

# what systemd-modules-load.service does
boot_modules() {
	cat /etc/modules /etc/modules-load.d/*.conf /usr/lib/modules-load.d/*.conf 2> /dev/null |
		sed '/^[#;]/d; /^$/d' |
		while read -r name; do
			modprobe "$name" || echo "# modprobe $name: $?"
		done
}

# what systemd-udevd.service and systemd-udev-trigger.service do
boot_udev() {
	udevd --daemon &&
		udevadm trigger --type=subsystems --action=add &&
		udevadm trigger --type=devices --action=add &&
		udevadm settle --timeout=60
}

# says COMMAND...: what it says, as comments, and its status
says() {
	said=$("$@" 2>&1)
	set -- $?
	printf '%s\n' "$said" | sed 's/^/# /'
	return "$1"
}
