// SPDX-License-Identifier: GPL-2.0
/*
 * The admin's side of the policies. A write to /dev/pvperf_policy replaces the rules as a
 * whole, or with O_APPEND appends to them; so does the second write after one open. A
 * parameter that is a word of a policy is the default. Both hold for the VMs that run when
 * the write returns. Knows neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "control.h"
#include "rule.h"
#include "rules.h"
#include "vm.h"

/* In bytes, of one write. */
#define CONTROL_MAX	SZ_64K

static DEFINE_MUTEX(control_lock);	/* one change at a time, until all VMs follow */
static bool loaded;

/* -------------------------------------------------------------- parameters */

static int word_set(const char *value, const struct kernel_param *kp)
{
	u32 *word = kp->arg;
	char text[64], why[PVPERF_WHY];
	u32 to;
	int err = 0;

	strscpy(text, value, sizeof(text));
	if (!pvperf_word_parse(word - pvperf_rules_default.word, strim(text), &to, why)) {
		pr_err("parameter %s\n", why);
		return -EINVAL;
	}
	mutex_lock(&control_lock);
	WRITE_ONCE(*word, to);
	pvperf_rules_changed();
	if (loaded)
		err = pvperf_vms_apply_rules(true);
	mutex_unlock(&control_lock);
	return err;
}

/* Only the value. */
static int word_get(char *buffer, const struct kernel_param *kp)
{
	const u32 *word = kp->arg;
	char text[64];

	pvperf_word_print(word - pvperf_rules_default.word, READ_ONCE(*word), text, sizeof(text));
	return sysfs_emit(buffer, "%s\n", strchr(text, '=') + 1);
}

static const struct kernel_param_ops word_ops = {
	.set = word_set,
	.get = word_get,
};

#define PVPERF_WORD(ID, name, values, least, most, standard, description)		\
	module_param_cb(name, &word_ops, &pvperf_rules_default.word[PVPERF_WORD_##ID], 0644); \
	MODULE_PARM_DESC(name, description);
#include "words.h"

/* ------------------------------------------------------------------- rules */

static int control_show(struct seq_file *m, void *unused)
{
	pvperf_rules_show(m);
	return 0;
}

/* By capability, too: whoever passes the device into a container gives nothing away. */
static int control_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	/* Who only writes seeks, too: seq_lseek() wants a seq_file. */
	return single_open(file, control_show, NULL);
}

/* Who appends by stdio seeks to the end first. */
static loff_t control_llseek(struct file *file, loff_t offset, int whence)
{
	return whence == SEEK_END ? noop_llseek(file, offset, whence) :
				    seq_lseek(file, offset, whence);
}

/* A write where the last one has ended is more of the same; .private is where. */
static int control_set(char *text, struct file *file, loff_t pos)
{
	struct seq_file *m = file->private_data;
	size_t size = strlen(text);
	bool goes_on;
	int err;

	mutex_lock(&control_lock);
	goes_on = pos && pos == (uintptr_t)m->private;
	err = pvperf_rules_set(text, file->f_flags & O_APPEND || goes_on);
	if (!err)
		m->private = (void *)(uintptr_t)(pos + size);
	if (!err)
		err = pvperf_vms_apply_rules(true);
	mutex_unlock(&control_lock);
	return err;
}

#define CONTROL_PIECE	4096	/* what tools with stdio write at a time */

/* The rest of a line that was cut could be a rule about all VMs. */
static bool control_is_whole(const char *text, size_t size)
{
	if (strlen(text) != size)
		pr_err("policy: a byte of value 0 in the text; the rules stay as they were\n");
	else if (size % CONTROL_PIECE == 0 && text[size - 1] != '\n')
		pr_err("policy: the write of %zu bytes ends within a line, as that of a tool that writes in pieces; use cat, or pvperf policy --apply; the rules stay as they were\n",
		       size);
	else
		return true;
	return false;
}

static ssize_t control_write(struct file *file, const char __user *from, size_t size,
			     loff_t *pos)
{
	char *text;
	int err;

	if (!size)
		return 0;
	if (size > CONTROL_MAX) {
		pr_err("policy: more than %u bytes in one write; the rules stay as they were\n",
		       CONTROL_MAX);
		return -EFBIG;
	}
	text = memdup_user_nul(from, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	err = control_is_whole(text, size) ? control_set(text, file, *pos) : -EINVAL;
	kfree(text);
	if (err)
		return err;
	*pos += size;
	return size;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.read = seq_read,
	.llseek = control_llseek,
	.write = control_write,
	.release = single_release,
};

static struct miscdevice control_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pvperf_policy",
	.fops = &control_fops,
	.mode = 0600,
};

static bool registered;

static void control_load(bool now)
{
	mutex_lock(&control_lock);
	loaded = now;
	mutex_unlock(&control_lock);
}

void pvperf_control_init(void)
{
	int err = misc_register(&control_device);

	registered = !err;
	if (err)
		pr_err("/dev/pvperf_policy can't be made (error %d): there are no rules, only parameters\n",
		       err);
	control_load(true);
	/* A parameter may have been written before that, and a VM have called. */
	pvperf_vms_apply_rules(false);
}

void pvperf_control_exit(void)
{
	control_load(false);
	if (registered)
		misc_deregister(&control_device);
}
