# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced in the lab's machines, whose /lib/modules and /etc are those that the packages
# made (see ../boot). Does what a boot of Debian does with them.

# shellcheck source=tools/testing/selftests/common/lib.sh
. /p/tap.sh
rm -f /lab/pvperf_*.ko	# only the packages' modules may be loaded
mkdir -p /run/udev

modprobe() { /usr/sbin/modprobe "$@"; }	# not busybox's
loaded() { [ -e "/sys/module/$1/initstate" ]; }

# boot_modules: do what systemd-modules-load.service does
boot_modules() {
	cat /etc/modules /etc/modules-load.d/*.conf /usr/lib/modules-load.d/*.conf 2> /dev/null |
		sed '/^[#;]/d; /^$/d' |
		while read -r name; do
			modprobe "$name" || echo "# modprobe $name: $?"
		done
}

# boot_udev: do what systemd-udevd.service and systemd-udev-trigger.service do
boot_udev() {
	udevd --daemon && coldplug
}

coldplug() {
	udevadm trigger --type=subsystems --action=add &&
		udevadm trigger --type=devices --action=add &&
		udevadm settle --timeout=60
}

pvperf() { /p/pvperf "$@"; }

# unit host|policy ExecStart|ExecStop: do that of pvperf-host.service or pvperf-policy.service. A \ at
# a line's end joins it with the next one, $$ is one $, and in sh -c modprobe would be busybox's.
unit() {
	eval "$(sed -e ':a' -e '/\\$/{N; s/\\\n//; ba' -e '}' -e 's/\$\$/$/g; s|\<modprobe\>|/usr/sbin/&|' \
		"/usr/lib/systemd/system/pvperf-$1.service" | sed -n "s/^$2=-\{0,1\}//p")"
}

# show COMMAND...: run it, keep its output in $output, print its output as TAP comments,
# and return its status
show() {
	output=$("$@" 2>&1)
	set -- $?
	printf '%s\n' "$output" | sed 's/^/# /'
	return "$1"
}

# found SIDE CONDITION FIELD: that of pvperf check
found() {
	$user /p/pvperf check "--$1" --json |
		sed -n "/\"name\":\"$2\"/,/^ *}/s/.*\"$3\":\"\(.*\)\",\{0,1\}$/\1/p"
}
user=	# the command runs as this one

# mended SIDE CONDITION CASE: in this CASE the CONDITION is not met, and is once root has
# run literally what pvperf check says to run
mended() {
	was=$(found "$1" "$2" state) run=$(found "$1" "$2" run)
	[ -n "$run" ] && [ "$was" != ok ] && eval "$run" && [ "$(found "$1" "$2" state)" = ok ]
	tap $? "$1: $3: pvperf check says how to mend it: $run" "$was, then $(found "$1" "$2" state)"
}
