// SPDX-License-Identifier: GPL-2.0
/*
 * The parameter access, the switch. "unavailable" means that KVM is as if this module were
 * not there, whatever the rules say: all VMs are ended and told so, and nothing of KVM is
 * hooked. Knows neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "access.h"
#include "branches.h"
#include "door.h"
#include "hook.h"
#include "rule.h"
#include "rules.h"
#include "vm.h"

/* Protects the default's access, and what it stands for. */
static DEFINE_MUTEX(access_lock);
static bool loaded;			/* between the module's init and its exit */
static bool hooked;			/* at least the ends of VMs, whatever .access says */

static u32 access_now(void)
{
	return pvperf_policy_word(&pvperf_rules_default, PVPERF_WORD_ACCESS);
}

static void access_is(u32 access)
{
	WRITE_ONCE(pvperf_rules_default.word[PVPERF_WORD_ACCESS], access);
	pvperf_rules_changed();
}

/*
 * Unless the module @leaves hooks stay if a VM keeps perf from ending its events, or a call waits
 * for the memory of its process.
 */
static int access_close(bool leaves)
{
	/* At once, as the next step waits for calls, and they may wait for userspace. */
	if (!pvperf_vms_clear(leaves)) {
		pr_warn("guests have lost pvperf, but its hooks on KVM stay: write access=unavailable again when that process has ended\n");
		return -EBUSY;
	}
	if (!pvperf_door_close(leaves)) {
		pr_warn("guests have lost pvperf, but hooks on KVM stay: a call waits for its VM's memory (userfaultfd, FUSE), or for events of another VM to end; write access=unavailable again later\n");
		return -EBUSY;
	}
	/* If a hook sticks nobody has waited for calls that have entered. They need the VMs. */
	if (pvperf_hooks_stuck())
		return -EBUSY;
	pvperf_vms_end();
	pvperf_branches_unhook();
	pvperf_door_unwatch();
	hooked = false;
	return 0;
}

static int access_open(void)
{
	int err = hooked ? 0 : pvperf_door_watch();

	if (!err) {
		hooked = true;
		err = pvperf_door_open();
	}
	if (!err)
		return 0;
	/* A guest may have come in before the self-test failed; it may open nothing more. */
	access_is(PVPERF_ACCESS_UNAVAILABLE);
	if (hooked)
		access_close(!loaded);
	return err;
}

static bool access_offers(u32 access)
{
	return access >= PVPERF_ACCESS_LOCAL;
}

static void access_note(void)
{
	static const char *const notes[] = {
		[PVPERF_ACCESS_UNAVAILABLE] = "not available to any guest (access=unavailable)",
		[PVPERF_ACCESS_LOCAL] = "guests may count what their own vCPUs do",
		[PVPERF_ACCESS_GLOBAL] = "guests may count all that the host's CPUs do (access=global)",
	};

	pr_info("ready: ABI %u.%u, %s\n", KVM_PERF_ABI_VERSION >> 16,
		KVM_PERF_ABI_VERSION & 0xffff, notes[access_now()]);
}

static int access_apply(enum pvperf_access access)
{
	int err;

	lockdep_assert_held(&access_lock);
	/* Before the hooks are there: their self-test makes calls. */
	access_is(access);
	err = access_offers(access) ? access_open() : access_close(false);
	if (err)
		return err;
	access_note();
	/* Between local and global VMs go on, with another policy. */
	return access_offers(access) ? pvperf_vms_apply_rules(true) : 0;
}

static int access_write(u32 access)
{
	int err = 0;

	mutex_lock(&access_lock);
	if (!loaded)
		access_is(access);
	else if (access != access_now() || hooked != access_offers(access))
		err = access_apply(access);
	mutex_unlock(&access_lock);
	return err;
}

static int access_set(const char *value, const struct kernel_param *kp)
{
	char text[32], why[PVPERF_WHY];
	u32 access;

	strscpy(text, value, sizeof(text));
	if (!pvperf_word_parse(PVPERF_WORD_ACCESS, strim(text), &access, why)) {
		pr_err("parameter access=%.32s is none of unavailable, local and global\n",
		       strim(text));
		return -EINVAL;
	}
	if (access > PVPERF_ACCESS_GLOBAL) {
		pr_err("parameter access=%.32s: only one VM can have the host alone; give it that by a rule (/dev/pvperf_policy)\n",
		       strim(text));
		return -EINVAL;
	}
	return access_write(access);
}

static int access_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", pvperf_words[PVPERF_WORD_ACCESS].values[access_now()]);
}

static const struct kernel_param_ops access_ops = {
	.set = access_set,
	.get = access_get,
};
module_param_cb(access, &access_ops, NULL, 0644);
MODULE_PARM_DESC(access, "what a VM may see: unavailable, local (its own vCPUs; default), or global (and all that the host's CPUs do); unavailable takes pvperf from the VMs that run, too");

int pvperf_access_init(void)
{
	int err = 0;

	mutex_lock(&access_lock);
	if (access_offers(access_now()))
		err = access_open();
	if (!err)
		access_note();
	loaded = !err || pvperf_hooks_stuck();
	mutex_unlock(&access_lock);
	return err;
}

void pvperf_access_exit(void)
{
	mutex_lock(&access_lock);
	loaded = false;
	access_is(PVPERF_ACCESS_UNAVAILABLE);
	if (hooked)
		access_close(true);
	mutex_unlock(&access_lock);
}
