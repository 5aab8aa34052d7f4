# shellcheck shell=bash disable=SC2154 # `check` sets program, here and work
# SPDX-License-Identifier: GPL-2.0
# Tests of the command line and of the output of check --json.

# said NAME STATUS WORDS ARGUMENT...: pvperf prints WORDS and exits with STATUS
said() {
	expect "${@:1:3}" "$program" "${@:4}"
}

said usage-none 2 'no command given'
said usage-command 2 'unknown command frob' frob
said usage-dashes 2 'unknown option, or one without its path: --frob' -- policy --frob
said usage-option 2 'unknown option --frob' check --frob
said usage-word 2 'unexpected argument list' check list
said usage-list-host 2 '--host and --guest are options of check' list --host
said usage-value 2 'unknown option --json=1' list --json=1
said usage-help-value 2 'unknown option --help=1' --help=1
said usage-help 0 'pvperf check [--host]' --help
said usage-help-word 0 'pvperf help [COMMAND]' help
said usage-help-command 0 'list the VMs' help list
said usage-help-unknown 2 'unknown command frob' help frob
said usage-command-help 0 '--json: one JSON object' check --help
alone() {
	local out got
	wanted usage-trace-absent || return 0
	cp "$program" "$work/pvperf"
	out=$(PATH=/none "$work/pvperf" merge x 2>&1)
	got=$?
	[ $got = 1 ] && [[ $out == *'merge is a command of the program pvperf-trace'*'apt install pvperf-trace'* ]]
	verdict usage-trace-absent $? "status $got: $out"
}
alone
said usage-trace 2 'merge: it wants DIR' merge
said usage-trace-help 0 'pvperf merge DIR' help merge
said usage-command-help-last 0 'pvperf record' record -o folder --help
said usage-record-command 2 'it wants -o DIR' record --guest web=x -e sched -- psql -h db
said usage-record-words 2 'it wants -o DIR' record --guest=web=x psql --help
# A VM's name is no command, though compgen expands its words.
if wanted completion-of-a-name; then
	out=$(work=$work here=$here bash -c '. "$here/../completion.bash"
		pvperf() { echo "VM 7 \$(touch\${IFS}$work/owned) qemu: 2 pages"; echo "VM 8 web qemu: 2 pages"; }
		COMP_WORDS=(pvperf set "") COMP_CWORD=2
		_pvperf
		echo "${COMPREPLY[*]}"; ls "$work/owned"' 2> /dev/null)
	[ "$out" = "7 8 web" ]
	verdict completion-of-a-name $? "$out"
fi
said usage-letter 2 'unknown option -x' check -xh
said usage-help-help 0 'pvperf help [COMMAND]' help help
said usage-version-word 0 'pvperf ' version
said usage-version 0 "pvperf $("$here/../../../packaging/version")" --version

if wanted usage-full-disk; then
	out=$("$program" --help 2>&1 > /dev/full)
	[ $? = 1 ] && [[ $out == *"can't write"* ]]
	verdict usage-full-disk $? "$out"
fi

said_json check-json-fits \
	'.fits and .kernel == "6.12.1-amd64" and (.sides | length) == 1 and
	 .sides[0].side == "host" and .sides[0].problems == 0 and
	 (.sides[0].conditions | length) == 11' \
	check machine_host
said_json check-json-todo \
	'.fits and .sides[0].side == "guest" and
	 ([.sides[0].conditions[] | .todo, .run] | all(. == null))' \
	check machine_guest
