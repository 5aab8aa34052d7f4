# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # the scripts that source this use its variables
# Sourced by the scripts that run in a copy of a root. Results go to stdout, everything
# else to stderr, which is a log. The scripts work in a copy of the tree, so
# that what they build disappears with the root.

failed=0
cd /root || exit 2
mkdir /root/pvperf
tar -C /tree --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.ko' \
	--exclude='.*.cmd' --exclude=./tools/pvperf/pvperf --exclude=./tools/pvperf-trace/pvperf-trace -c . | tar -C /root/pvperf -x
cd /root/pvperf || exit 2

# try WHAT COMMAND...: print the result WHAT, which is ok if COMMAND succeeds
try() {
	local what=$1 log
	shift
	log=$(mktemp)
	echo "== $what: $*" >&2
	if "$@" > "$log" 2>&1; then
		echo "ok - $what"
	else
		echo "not ok - $what: $* failed: $(tail -n 8 "$log" | tr '\n' '|')"
		failed=1
	fi
	cat "$log" >&2
	rm -f "$log"
}

same() { diff "$1" "$2"; }
gone() { [ ! -e "$1" ]; }
fails() { ! "$@"; }

# The kernel that the root has headers of.
kernel=$(basename "$(dirname "$(ls -d /lib/modules/*/build | head -n 1)")")

# list_paths FILE: write every path of the root to FILE, except what the lab builds (/src),
# caches, logs, /run (where a kernel's postinst asks for a reboot), what depmod makes, and
# the key that DKMS makes at its first build and keeps.
list_paths() {
	find / -xdev \( -path /root -o -path /src -o -path /tmp -o -path /run -o -path /var/log -o -path /var/cache \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path '/lib/modules/*/modules.*' \
		-o -path '/usr/lib/modules/*/modules.*' -o -path '/var/lib/dkms/mok.*' -o -path /var/lib/systemd \
		-o -name __pycache__ \) -prune \
		-o -print | LC_ALL=C sort > "$1"
}
