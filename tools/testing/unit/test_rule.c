// SPDX-License-Identifier: GPL-2.0
/*
 * host/rule.c: lines of text become rules, and rules lines.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rule.h"
#include "tap.h"

static char line[2048], why[PVPERF_WHY];
static struct pvperf_rule rule;

static int parse(const char *text)
{
	snprintf(line, sizeof(line), "%s", text);
	return pvperf_rule_parse(&rule, line, why);
}

static void refused(const char *text, const char *want)
{
	int got = parse(text);

	tap(got < 0 && strstr(why, want), "'%.40s' is refused: %s", text, why);
}

static void test_refused(void)
{
	char text[PVPERF_RULE_MAX + 2];

	refused("max_events=65", "is not between 1 and 64");
	refused("max_events=", "is not between 1 and 64");
	refused("max_events=4294967297", "is not between");
	refused("max_events=18446744073709551617", "is not between");
	refused("max_events=0x10", "is not between");
	refused("access=all", "none of unavailable, local, global, exclusive and force");
	refused("raw=maybe", "none of no, yes and list");
	refused("host_events=list", "none of no and yes");
	refused("raw=no raw=no", "stands twice");
	refused("uid=1 uid=2 raw=no", "stands twice");
	refused("cgroup= raw=no", "* matches all");
	refused("comm=qemu-system-x86_64 raw=no", "more than 15 characters");
	refused("uid=kvm raw=no", "is no number");
	refused("cgroup=*web* access=unavailable", "does not begin with /");
	refused("cgroup=/*web* priority=pinned", "any user's process could match");
	refused("comm=web access=global", "any user's process could match");
	refused("access=exclusive comm=web", "any user's process could match");
	refused("comm=web cgroup=/[am]*/web access=force", "any user's process could match");
	refused("comm=web uid=* access=global", "any user's process could match");
	refused("uid=100? priority=pinned", "add uid= without pattern");
	refused("cgroup=/user.slice/*db* access=global", "below /user.slice");
	refused("uid=[^0]* raw=no", "is no number");
	refused("pid=1x raw=no", "is no number");
	refused("comm=web", "say what these VMs may have");
	refused("comm", "neither a match");
	refused("maximum=3", "neither a match");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	refused(text, "more than 1023 characters");
	text[sizeof(text) - 2] = 0;
	refused(text, "neither a match");
}

static void printed(const char *text, const char *want)
{
	char got[PVPERF_RULE_MAX + 1];
	int n = parse(text);

	pvperf_rule_print(&rule, got, sizeof(got));
	tap(n == 1 && !strcmp(got, want), "'%s' is printed as '%s'", text, got);
}

static void test_printed(void)
{
	static const char all[] = "comm=a uid=0 cgroup=/a/* pid=7 access=unavailable priority=pinned "
		"raw=no host_events=no max_events=1 max_vm_events=65536 max_opens=1000000 "
		"max_calls=1000000000 max_overflows=16000 max_pages=1 min_period=2147483647";

	printed(" raw=0\tcomm=x  ", "comm=x raw=no");
	printed("raw=Y", "raw=yes");
	printed("raw=list", "raw=list");
	printed("comm=qemu-system-x86* uid=64[0-9]?? raw=no", "comm=qemu-system-x86* uid=64[0-9]?? raw=no");
	printed("access=global", "access=global");
	printed("cgroup=/*web* raw=no", "cgroup=/*web* raw=no");
	printed("cgroup=/machine.slice/*web* access=force", "cgroup=/machine.slice/*web* access=force");
	printed("cgroup=/web access=force", "cgroup=/web access=force");
	printed("comm=a pid=7 access=global", "comm=a pid=7 access=global");
	printed("comm=a uid=64 priority=pinned", "comm=a uid=64 priority=pinned");
	printed(all, all);
	tap(!parse("") && !parse(" \t") && !parse("# raw=no") && !parse("\t#"),
	    "empty lines and comments are no rules");
}

static void matched(bool want, const char *text, const char *comm, const char *uid,
		    const char *cgroup)
{
	const char *const who[PVPERF_MATCHES] = { comm, uid, cgroup };

	parse(text);
	tap(pvperf_rule_matches(&rule, who) == want, "'%s' is%s about %s, %s, %s", text,
	    want ? "" : " not", comm, uid, cgroup ? cgroup : "no cgroup");
}

static void test_matched(void)
{
	matched(true, "raw=no", "qemu", "64055", "/machine.slice/web.scope");
	matched(true, "comm=qe* raw=no", "qemu", "0", NULL);
	matched(false, "comm=qe raw=no", "qemu", "0", "/");
	matched(true, "uid=64??? raw=no", "qemu", "64055", "/");
	matched(false, "uid=64??? raw=no", "qemu", "6405", "/");
	matched(true, "cgroup=/*web* raw=no", "qemu", "0", "/machine.slice/web.scope");
	matched(false, "cgroup=/* raw=no", "qemu", "0", NULL);
	matched(false, "comm=qemu cgroup=/*db* raw=no", "qemu", "0", "/web");
	matched(true, "pid=3 raw=no", "qemu", "0", "/");
}

static void test_applied(void)
{
	struct pvperf_policy policy = { .word = {
		[PVPERF_WORD_MAX_EVENTS] = 9, [PVPERF_WORD_MAX_PAGES] = 8,
	} };

	parse("max_pages=5 raw=no");
	pvperf_rule_apply(&rule, &policy);
	tap(policy.word[PVPERF_WORD_MAX_PAGES] == 5 && policy.word[PVPERF_WORD_MAX_EVENTS] == 9,
	    "a rule changes its own words only");
}

/* What is printed is parsed to the same; nothing reads or writes outside. */
static void test_random(void)
{
	static const char *const bits[] = {
		"comm=", "uid=", "cgroup=", "pid=", "raw=", "access=", "max_pages=", "min_period=",
		"yes", "no", "local", "unavailable", "1000", "64", "*", " ", "\t", "#", "=", "x",
	};
	char text[1100], once[PVPERF_RULE_MAX + 1], twice[PVPERF_RULE_MAX + 1];
	unsigned int i, wrong = 0, rules = 0;
	int n;

	srand(1);
	for (i = 0; i < 300000; i++) {
		*text = 0;
		for (n = rand() % 12; n; n--)
			strcat(text, rand() % 16 ? bits[rand() % 20] : (char[]){ 1 + rand() % 255, 0 });
		if (parse(text) <= 0)
			continue;
		rules++;
		pvperf_rule_print(&rule, once, sizeof(once));
		wrong += parse(once) != 1;
		pvperf_rule_print(&rule, twice, sizeof(twice));
		wrong += !!strcmp(once, twice);
	}
	tap(rules > 100 && !wrong, "of 300000 random lines %u are rules, %u not twice the same",
	    rules, wrong);
}

int main(void)
{
	test_refused();
	test_printed();
	test_matched();
	test_applied();
	test_random();
	return tap_end();
}
