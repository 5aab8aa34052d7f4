# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# How setup runs and shows its steps: sourced, after env.sh. A step runs in the background
# with its output in a log; it starts when the steps that it needs are done. On a terminal
# one line, which is overwritten, shows the running steps, their progress, and the next
# steps; a log gets a line when a step starts and another when it is done. $LAB_THEN names
# what a caller of setup does after all steps.

tick=0.5	# seconds between two looks
plan=()		# names of the steps that are not done, in order
declare -A step_needs step_file step_command step_pid step_since

# step NAME NEEDS FILE COMMAND...: plan COMMAND, unless FILE, which it makes, exists. NEEDS
# are names of steps, with commas; a step that is not planned counts as done. With - as
# FILE the command itself finds out what it has to do.
step() {
	local name=$1
	[ ! -e "$3" ] || return 0
	plan+=("$name")
	step_needs[$name]=$2
	step_file[$name]=$3
	shift 3
	step_command[$name]=${*@Q}
}

steps_run() {
	while [ ${#plan[@]} -gt 0 ]; do
		steps_start
		line_draw
		sleep "$tick"
		steps_reap
	done
	line_clear
}

steps_start() {
	local name
	for name in "${plan[@]}"; do
		[ -z "${step_pid[$name]}" ] && step_may_start "$name" || continue
		line_live || say "$name: started, log in $(step_log "$name")"
		eval "${step_command[$name]}" > "$TOP/$(step_log "$name")" 2>&1 < /dev/null &
		step_pid[$name]=$!
		step_since[$name]=$SECONDS
	done
}

step_may_start() { # NAME
	local other
	for other in "${plan[@]}"; do
		case ,${step_needs[$1]}, in *,$other,*) return 1;; esac
	done
}

step_log() { echo "build/logs/setup-$1.log"; }

steps_reap() {
	local name left=()
	for name in "${plan[@]}"; do
		if [ -z "${step_pid[$name]}" ] || kill -0 "${step_pid[$name]}" 2> /dev/null; then
			left+=("$name")
		elif wait "${step_pid[$name]}" && step_made "${step_file[$name]}"; then
			line_clear
			say "$name: done in $((SECONDS - step_since[$name])) s"
		else
			step_failed "$name"
		fi
	done
	plan=("${left[@]}")
}

step_made() { [ "$1" = - ] || [ -e "$1" ]; } # FILE

step_failed() { # NAME
	line_clear
	tail -n 25 "$TOP/$(step_log "$1")" >&2
	# shellcheck disable=SC2046 # a word for each job
	kill $(jobs -p) 2> /dev/null || true
	die "$1: failed, see above and $(step_log "$1");" \
	    "run the same again once the cause is gone"
}

line_live() { [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; }

line_clear() { ! line_live || printf '\r\033[K' >&2; }

# A line that is longer than the terminal is wide would scroll instead of being overwritten.
line_draw() {
	local columns
	line_live || return 0
	columns=$(stty size <&2 2> /dev/null | cut -d ' ' -f 2)
	[ "${columns:-0}" -gt 0 ] || columns=80
	printf '\r%.*s\033[K' $((columns - 1)) "lab: $SECONDS s: $(line_text)" >&2
}

line_text() {
	local name now='' then=''
	for name in "${plan[@]}"; do
		if [ -n "${step_pid[$name]}" ]; then
			now="$now; $name $(step_at "$name")"
		else
			then="$then, $name"
		fi
	done
	then="$then${LAB_THEN:+, $LAB_THEN}"
	echo "${now#; }${then:+; then: ${then#, }}"
}

# step_at NAME: its progress, from its output: [n/N] of ninja, packages of apt-get, or the
# last line "I: ..." of mmdebstrap or of a script of the lab.
step_at() {
	awk '
	/^I: / { phase = tolower(substr($0, 4, 1)) substr($0, 5); sub(/\.+$/, "", phase) }
	/^\[[0-9]+\/[0-9]+\]/ { phase = substr($1, 2, length($1) - 2) }
	/^[0-9]+ upgraded, [0-9]+ newly installed/ { all = $1 + $3; got = unpacked = ready = 0 }
	/^Get:/ { phase = "fetching " ++got "/" all }
	/^Unpacking / { phase = "unpacking " ++unpacked "/" all }
	/^Setting up / { phase = "setting up " ++ready "/" all }
	END { sub(/\/$/, "", phase); print phase == "" ? "starts" : phase }
	' "$TOP/$(step_log "$1")"
}
