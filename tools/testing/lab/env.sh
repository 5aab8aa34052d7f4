# shellcheck shell=bash disable=SC2034 # the scripts that source this use its variables
# SPDX-License-Identifier: GPL-2.0
# Paths, kernels, and messages of the lab: sourced by every shell script here. It makes
# nothing, and needs nothing installed.

LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$LAB/../../.." && pwd)
BUILD=$TOP/build
USERLAND=trixie		# the suite whose programs both images are made of

say() { echo "lab: $*" >&2; }
die() { echo "lab: $*" >&2; exit 1; }

# usage: the comment at the top of the calling script, as its --help
usage() { sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; }

kernel_names() { awk '!/^#/ && NF { print $1 }' "$LAB/kernels"; }

# kernel_suite 6.12: the suite that has it
kernel_suite() {
	local s
	s=$(awk -v k="$1" '!/^#/ && $1 == k { print $2 }' "$LAB"/kernels{,.debug,.flavours})
	[ -n "$s" ] || die "no kernel '$1' in tools/testing/lab/kernels; there are: $(kernel_names | xargs)"
	echo "$s"
}

# flavour NAME: of a kernel or its suite: rt, cloud, or nothing
flavour() { case $1 in *-rt) echo rt;; *-cloud) echo cloud;; esac; }

# stock NAME: of a kernel of another flavour, or that tells, or of its suite: Debian's usual one
stock() {
	local name=${1%-debug} f
	f=$(flavour "$1")
	name=${name%-races}
	echo "${name%${f:+-$f}}"
}

# perf_suite SUITE: the suite whose perf a kernel of SUITE gets: its own, as its users have
# it; but the tests read what a newer perf than bookworm's prints
perf_suite() {
	[ "$(stock "$1")" = bookworm ] && echo "$USERLAND" || stock "$1"
}

# kernel_version 6.12: the full name that uname -r gives, from the suite's root
kernel_version() {
	local d suite
	suite=$(kernel_suite "$1") || exit 1
	for d in "$BUILD/roots/$suite/usr/lib/modules/$(stock "$1")".*; do
		if [ -e "$d/build" ] || [ -L "$d/build" ]; then
			basename "$d"
			return
		fi
	done
	die "no kernel $1.* with headers in build/roots/$suite: the suite has moved on." \
	    "Look at build/roots/$suite/usr/lib/modules, correct tools/testing/lab/kernels"
}
