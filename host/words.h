/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of a policy that are parameters, too: identifier, name, names of its values (NULL: it
 * is a number, of that least and most), default, description. Who includes this says what
 * PVPERF_WORD() makes of them. A new one wants a line in operations.rst, security.rst, pvperf.8
 * and completion.bash.
 */
PVPERF_WORD(PRIORITY, priority, priorities, 0, 0, PVPERF_PRIORITY_FLEXIBLE,
	    "when the host's perf wants the same counters: flexible (guests wait; default), or pinned (the host's unpinned events wait as well)")
PVPERF_WORD(RAW, raw, raws, 0, 0, PVPERF_RAW_YES,
	    "raw events, by event select, unit mask, edge, invert, counter mask: yes (default), list (those about the hyperthread alone) or no")
PVPERF_WORD(BRANCHES, branches, branch_words, 0, 0, PVPERF_BRANCHES_OFF,
	    "the last branches before a sample, of user mode alone: off (default), addresses, or full (also mispredictions, which help side channels)")
PVPERF_WORD(HOST_EVENTS, host_events, answers, 0, 0, true,
	    "the host's software events about a vCPU's thread (context switches, migrations, faults, clock): yes (default) or no")
PVPERF_WORD(MAX_EVENTS, max_events, NULL, 1, KVM_PERF_EVENTS_MAX, KVM_PERF_EVENTS_MAX,
	    "events that one vCPU may have open, 1 to 64 (default 64)")
PVPERF_WORD(MAX_VM_EVENTS, max_vm_events, NULL, 1, 65536, 4096,
	    "events that all vCPUs of a VM may have open, 1 to 65536 (default 4096)")
PVPERF_WORD(MAX_OPENS, max_opens, NULL, 1, 1000000, 4096,
	    "events that all vCPUs of a VM may open in a second, 1 to 1000000 (default 4096); more wait for their turn, 0.1 s at most, or are refused")
PVPERF_WORD(MAX_CALLS, max_calls, NULL, 100, PVPERF_CALLS_UNBOUNDED, PVPERF_CALLS_UNBOUNDED,
	    "calls that a vCPU may make in a second, from 100 on (default 1000000000: no limit); more wait for their turn")
PVPERF_WORD(MAX_OVERFLOWS, max_overflows, NULL, 1000, 16000, 16000,
	    "overflows of one event in a second, 1000 to 16000 (default 16000), and of a vCPU's thread four times as many; beyond them periods get longer")
PVPERF_WORD(MAX_PAGES, max_pages, NULL, 1, 65536, 2048,
	    "pages that one VM's pins may hold in place, 1 to 65536 (default 2048); a transparent huge page is held as a whole")
PVPERF_WORD(MIN_PERIOD, min_period, NULL, 100, INT_MAX, 1000,
	    "shortest sampling period, at least 100 (default 1000)")
#undef PVPERF_WORD
