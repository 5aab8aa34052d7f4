# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Source packages by an apt configuration of our own, so that the machine's stays as it
# is: sourced.

# apt_own DIR: from now on apt uses DIR, and asks what the lists in DIR/sources.d name.
apt_own() {
	mkdir -p "$1"/lists/partial "$1"/cache/archives/partial "$1"/sources.d
	# Valid-Until: a mirror that lags behind still serves the packages.
	cat > "$1/apt.conf" <<-S
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$1/sources.d";
		Dir::State::lists "$1/lists";
		Dir::Cache "$1/cache";
		Acquire::Check-Valid-Until "false";
		APT::Sandbox::User "root";
	S
	export APT_CONFIG=$1/apt.conf
}
