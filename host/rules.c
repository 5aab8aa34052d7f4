// SPDX-License-Identifier: GPL-2.0
/*
 * The list of rules. A list never changes: a write makes another one. A VM's process may give
 * itself a long name and a deep cgroup, so matching holds no spinlock. It runs in that VM's first
 * call, and in whoever applies the rules to all VMs: a write, or claim.c's thread.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uidgid.h>
#include "rule.h"
#include "rules.h"
#include "state.h"

/* With comments and empty lines. */
#define RULES_MAX	4096

/* Of all lists that have it. */
struct rules_entry {
	refcount_t refs;
	struct pvperf_rule rule;
	struct pid *pid;		/* of .rule's pid=, or NULL */
	char line[];			/* that .rule points into */
};

struct rules {
	refcount_t refs;
	u32 n;
	bool by_cgroup;
	struct rules_entry *entry[];
};

static DEFINE_SPINLOCK(rules_lock);	/* protects pvperf_rules, and counts .version with it */
struct rules *pvperf_rules;		/* NULL: none */
static u32 rules_version;

struct pvperf_policy pvperf_rules_default = {
	.word = {
		[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_LOCAL,
#define PVPERF_WORD(ID, name, values, least, most, standard, ...) \
		[PVPERF_WORD_##ID] = standard,
#include "words.h"
	},
};

u32 pvperf_rules_version(void)
{
	return READ_ONCE(rules_version);
}

void pvperf_rules_changed(void)
{
	spin_lock(&rules_lock);
	WRITE_ONCE(rules_version, rules_version + 1);
	spin_unlock(&rules_lock);
}

static void entry_put(struct rules_entry *entry)
{
	if (!refcount_dec_and_test(&entry->refs))
		return;
	put_pid(entry->pid);
	kfree(entry);
}

static void rules_put(struct rules *rules)
{
	u32 i;

	if (!rules || !refcount_dec_and_test(&rules->refs))
		return;
	for (i = 0; i < rules->n; i++)
		entry_put(rules->entry[i]);
	kvfree(rules);
}

static struct rules *rules_get(u32 *version)
{
	struct rules *rules;

	spin_lock(&rules_lock);
	rules = pvperf_rules;
	if (rules)
		refcount_inc(&rules->refs);
	*version = rules_version;
	spin_unlock(&rules_lock);
	return rules;
}

static void rules_swap(struct rules *rules)
{
	spin_lock(&rules_lock);
	swap(rules, pvperf_rules);
	WRITE_ONCE(rules_version, rules_version + 1);
	spin_unlock(&rules_lock);
	rules_put(rules);
}

/* -------------------------------------------------------------------- whom */

/* The path below the root of the second version's hierarchy. */
static bool who_cgroup(struct task_struct *task, char *path)
{
	int len = -ENOENT;

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	len = cgroup_path(task_dfl_cgroup(task), path, PATH_MAX);
	rcu_read_unlock();
#endif
	return len >= 0 && len < PATH_MAX;
}

/* The first rule's number; 0: none. */
static u32 rules_find(const struct rules *rules, struct pid *process,
		      const char *const who[PVPERF_MATCHES])
{
	u32 i;

	for (i = 0; i < rules->n; i++) {
		const struct rules_entry *entry = rules->entry[i];

		if ((!entry->pid || entry->pid == process) &&
		    pvperf_rule_matches(&entry->rule, who))
			return i + 1;
		cond_resched();
	}
	return 0;
}

/*
 * A path that is too long could hide a VM from a rule that refuses it, and its depth is up to
 * the process, so such a VM gets nothing.
 */
static int rules_ask(const struct rules *rules, struct task_struct *task, struct pid *process,
		     const char *comm, struct pvperf_verdict *verdict)
{
	char *path = kmalloc(PATH_MAX, GFP_KERNEL_ACCOUNT);
	char uid[16];
	const char *who[PVPERF_MATCHES] = { comm, uid, path };

	if (!path)
		return -ENOMEM;
	snprintf(uid, sizeof(uid), "%u", from_kuid(&init_user_ns, task_uid(task)));
	if (rules->by_cgroup && !who_cgroup(task, path)) {
		verdict->policy.word[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_UNAVAILABLE;
	} else {
		verdict->rule = rules_find(rules, process, who);
		if (verdict->rule)
			pvperf_rule_apply(&rules->entry[verdict->rule - 1]->rule,
					  &verdict->policy);
	}
	kfree(path);
	return 0;
}

/*
 * A thread that is not about to end: the admin's move into another cgroup leaves those out, and
 * the first thread may end long before the others.
 */
static struct task_struct *process_thread(struct pid *process)
{
	struct task_struct *leader, *thread, *found = NULL;

	rcu_read_lock();
	leader = pid_task(process, PIDTYPE_TGID);
	if (leader) {
		/* With lockdep for_each_thread() names tasklist_lock, which no module has. */
		list_for_each_entry_rcu(thread, &leader->signal->thread_head, thread_node) {
			if (READ_ONCE(thread->flags) & PF_EXITING)
				continue;
			found = get_task_struct(thread);
			break;
		}
	}
	rcu_read_unlock();
	return found;
}

bool pvperf_rules_can_ask(struct pid *process)
{
	struct task_struct *task = process_thread(process);

	if (task)
		put_task_struct(task);
	return task;
}

/*
 * What the rules alone say. If there are some, a VM whose process has ended gets nothing: nobody
 * can say any more whose it was.
 */
static int rules_verdict(struct pid *process, const char *comm, struct pvperf_verdict *verdict)
{
	struct rules *rules = rules_get(&verdict->version);
	struct task_struct *task;
	int err = 0;

	verdict->rule = 0;
	verdict->policy = pvperf_rules_default;
	if (!rules)
		return 0;
	task = process_thread(process);
	if (task) {
		err = rules_ask(rules, task, process, comm, verdict);
		put_task_struct(task);
	} else {
		verdict->policy.word[PVPERF_WORD_ACCESS] = PVPERF_ACCESS_UNAVAILABLE;
	}
	rules_put(rules);
	return err;
}

/* ------------------------------------------------- the VM that has the host alone */

/* By its number: it may end at any time. */
static atomic64_t alone;

u64 pvperf_alone(void)
{
	return atomic64_read(&alone);
}

void pvperf_alone_set(u64 serial)
{
	atomic64_set(&alone, serial);
	/* A VM that makes its first call now is judged again. */
	pvperf_rules_changed();
}

int pvperf_rules_resolve(struct pvperf_vm *vm, struct pvperf_verdict *verdict)
{
	int err = rules_verdict(vm->process, vm->name, verdict);
	u32 *access = &verdict->policy.word[PVPERF_WORD_ACCESS];
	u64 serial = pvperf_alone();

	verdict->reason = KVM_PERF_REASON_DENIED;
	if (err || !serial)
		return err;
	if (vm->serial == serial) {
		if (*access > PVPERF_ACCESS_GLOBAL)
			*access = PVPERF_ACCESS_GLOBAL;		/* it need not ask again */
		else	/* The rules say so no more. claim.c lets the others back in. */
			atomic64_cmpxchg(&alone, serial, 0);
	} else if (*access >= PVPERF_ACCESS_LOCAL) {
		*access = PVPERF_ACCESS_UNAVAILABLE;
		verdict->reason = KVM_PERF_REASON_ALONE;
	}
	return 0;
}

/* -------------------------------------------------------------------- text */

/* Of a process, not of one of its threads. */
static struct pid *process_get(u32 number)
{
	struct pid *pid = find_get_pid(number);
	bool there;

	rcu_read_lock();
	there = pid && pid_task(pid, PIDTYPE_TGID);
	rcu_read_unlock();
	if (there)
		return pid;
	put_pid(pid);
	return NULL;
}

static struct rules *rules_alloc(u32 n)
{
	struct rules *rules = n > RULES_MAX ? ERR_PTR(-ENOSPC) :
		kvzalloc(struct_size(rules, entry, n), GFP_KERNEL_ACCOUNT);

	if (rules == ERR_PTR(-ENOSPC))
		pr_err("policy: more than %u lines; the rules stay as they were\n", RULES_MAX);
	else if (!rules)
		rules = ERR_PTR(-ENOMEM);
	else
		refcount_set(&rules->refs, 1);
	return rules;
}

/* With the caller's reference. */
static void rules_add(struct rules *rules, struct rules_entry *entry)
{
	rules->by_cgroup |= !!entry->rule.match[PVPERF_MATCH_CGROUP];
	rules->entry[rules->n++] = entry;
}

/* More than 0: the line has a rule, 0: it has none; less: it is wrong, @why says so. */
static int entry_parse(struct rules_entry *entry, char *why)
{
	int got = pvperf_rule_parse(&entry->rule, entry->line, why);
	u32 number;

	if (got <= 0 || !entry->rule.match[PVPERF_MATCH_PID])
		return got;
	pvperf_word_number(entry->rule.match[PVPERF_MATCH_PID], &number);
	entry->pid = process_get(number);
	if (entry->pid)
		return got;
	snprintf(why, PVPERF_WHY, "there is no process %u", number);
	return -1;
}

static int rules_add_line(struct rules *rules, const char *line, u32 nr)
{
	size_t size = strlen(line) + 1;
	struct rules_entry *entry = kzalloc(struct_size(entry, line, size), GFP_KERNEL_ACCOUNT);
	char why[PVPERF_WHY];
	int got;

	if (!entry)
		return -ENOMEM;
	refcount_set(&entry->refs, 1);
	memcpy(entry->line, line, size);
	got = entry_parse(entry, why);
	if (got > 0)
		rules_add(rules, entry);
	else
		entry_put(entry);
	if (got >= 0)
		return 0;
	pr_err("policy, line %u: %s; the rules stay as they were\n", nr, why);
	return -EINVAL;
}

static bool entry_is_over(const struct rules_entry *entry)
{
	bool over;

	rcu_read_lock();
	over = entry->pid && !pid_task(entry->pid, PIDTYPE_TGID);
	rcu_read_unlock();
	return over;
}

static u32 rules_kept(const struct rules *old)
{
	u32 i, n = 0;

	for (i = 0; i < old->n; i++)
		n += !entry_is_over(old->entry[i]);
	return n;
}

/*
 * Rules about processes that have ended are left out, here and where the rules are shown. Some may
 * have ended since rules_kept().
 */
static void rules_keep(struct rules *rules, const struct rules *old)
{
	u32 i;

	for (i = 0; i < old->n; i++) {
		if (entry_is_over(old->entry[i]))
			continue;
		refcount_inc(&old->entry[i]->refs);
		rules_add(rules, old->entry[i]);
	}
}

static int rules_parse(struct rules *rules, char *text)
{
	u32 nr = 0;
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n")))
		err = rules_add_line(rules, line, ++nr);
	return err;
}

static u32 text_lines(const char *text)
{
	u32 n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

int pvperf_rules_set(char *text, bool append)
{
	/* Nobody else writes it. */
	const struct rules *old = append ? pvperf_rules : NULL;
	struct rules *rules = rules_alloc((old ? rules_kept(old) : 0) + text_lines(text));
	int err;

	if (IS_ERR(rules))
		return PTR_ERR(rules);
	if (old)
		rules_keep(rules, old);
	err = rules_parse(rules, text);
	if (err || !rules->n) {
		rules_put(rules);
		rules = NULL;
	}
	if (!err)
		rules_swap(rules);
	return err;
}

static void show_default(struct seq_file *m)
{
	char text[64];
	int i;

	seq_puts(m, "# default:");
	for (i = 0; i < PVPERF_WORDS; i++) {
		pvperf_word_print(i, pvperf_policy_word(&pvperf_rules_default, i), text,
				  sizeof(text));
		seq_printf(m, " %s", text);
	}
	seq_putc(m, '\n');
}

void pvperf_rules_show(struct seq_file *m)
{
	char *line = kmalloc(PVPERF_RULE_MAX + 1, GFP_KERNEL);
	struct rules *rules;
	u32 i, version;

	if (!line)
		return;
	rules = rules_get(&version);
	for (i = 0; rules && i < rules->n; i++) {
		if (entry_is_over(rules->entry[i]))
			continue;
		pvperf_rule_print(&rules->entry[i]->rule, line, PVPERF_RULE_MAX + 1);
		seq_printf(m, "%s\n", line);
	}
	rules_put(rules);
	show_default(m);
	kfree(line);
}

u32 pvperf_rules_shown(u32 rule)
{
	struct rules *rules;
	u32 version, i, n = 0;

	rules = rules_get(&version);
	for (i = 0; rules && i < min(rule, rules->n); i++)
		n += !entry_is_over(rules->entry[i]);
	if (i && entry_is_over(rules->entry[i - 1]))
		n = 0;
	rules_put(rules);
	return n;
}

void pvperf_rules_exit(void)
{
	rules_swap(NULL);
}
