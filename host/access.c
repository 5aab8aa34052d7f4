// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters access and leave_out. "unavailable" means that KVM is as if this module
 * were not there: all VMs are ended and told so, and nothing of KVM is hooked. A VM that
 * is left out finds the same, but the hooks stay. Knows neither KVM nor perf.
 */
#define pr_fmt(fmt) "pvperf_host: " fmt

#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "access.h"
#include "caps.h"
#include "door.h"
#include "hook.h"
#include "names.h"
#include "vm.h"

/* Protects .access and the names, and what they stand for. */
static DEFINE_MUTEX(access_lock);
static bool loaded;			/* between the module's init and its exit */
static bool hooked;			/* guests' calls come in, whatever .access says */

static const char *const accesses[] = {
	[PVPERF_ACCESS_UNAVAILABLE] = "unavailable",
	[PVPERF_ACCESS_LOCAL] = "local",
};

static int access_open(void)
{
	int err = hooked ? 0 : pvperf_door_watch();

	if (err || hooked)
		return err;
	err = pvperf_door_open();
	hooked = !err;
	if (!err)
		return 0;
	/* A guest may have come in before the self-test failed. */
	pvperf_vms_end();
	pvperf_door_unwatch();
	return err;
}

/* The hooks stay if a VM keeps perf from ending its events, unless the module @leaves. */
static void access_close(bool leaves)
{
	/* At once, as the next step waits for calls, and they may wait for userspace. */
	if (!pvperf_vms_clear(leaves)) {
		pr_warn("guests have lost pvperf, but its hooks on KVM stay: write access=unavailable again when that process has ended\n");
		return;
	}
	pvperf_door_close();
	pvperf_vms_end();
	pvperf_door_unwatch();
	hooked = false;
}

static void access_note(void)
{
	pr_info("ready: ABI %u.%u, %s\n", KVM_PERF_ABI_VERSION >> 16,
		KVM_PERF_ABI_VERSION & 0xffff,
		pvperf_policy.access == PVPERF_ACCESS_LOCAL ?
		"guests may count what their own vCPUs do" :
		"not available to any guest (access=unavailable)");
}

static int access_apply(enum pvperf_access access)
{
	int err = 0;

	lockdep_assert_held(&access_lock);
	/* Before the hooks are there: their self-test makes calls. */
	WRITE_ONCE(pvperf_policy.access, access);
	if (access == PVPERF_ACCESS_LOCAL)
		err = access_open();
	else
		access_close(false);
	if (err)
		WRITE_ONCE(pvperf_policy.access, PVPERF_ACCESS_UNAVAILABLE);
	else
		access_note();
	return err;
}

static int access_set(const char *value, const struct kernel_param *kp)
{
	int access = sysfs_match_string(accesses, value), err = 0;

	if (access < 0) {
		pr_err("parameter access=%.*s is neither unavailable nor local\n",
		       (int)strcspn(value, "\n"), value);
		return -EINVAL;
	}
	mutex_lock(&access_lock);
	if (!loaded)
		pvperf_policy.access = access;
	else if (access != pvperf_policy.access || hooked != (access == PVPERF_ACCESS_LOCAL))
		err = access_apply(access);
	mutex_unlock(&access_lock);
	return err;
}

static int access_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", accesses[pvperf_policy.access]);
}

static const struct kernel_param_ops access_ops = {
	.set = access_set,
	.get = access_get,
};
module_param_cb(access, &access_ops, NULL, 0644);
MODULE_PARM_DESC(access, "what a VM may see: unavailable, or local (its own vCPUs; default); unavailable takes pvperf from the VMs that run, too");

static int leave_out_set(const char *value, const struct kernel_param *kp)
{
	int err;

	mutex_lock(&access_lock);
	err = pvperf_names_set(value);
	if (!err && loaded)
		pvperf_vms_leave_out();
	mutex_unlock(&access_lock);
	return err;
}

static int leave_out_get(char *buffer, const struct kernel_param *kp)
{
	int len;

	mutex_lock(&access_lock);
	len = pvperf_names_get(buffer);
	mutex_unlock(&access_lock);
	return len;
}

/* When the module has gone, and nobody can look at the names any more. */
static void leave_out_free(void *arg)
{
	pvperf_names_set("");
}

static const struct kernel_param_ops leave_out_ops = {
	.set = leave_out_set,
	.get = leave_out_get,
	.free = leave_out_free,
};
module_param_cb(leave_out, &leave_out_ops, NULL, 0644);
MODULE_PARM_DESC(leave_out, "VMs of processes with these names see nothing: patterns, separated by commas (default none); also takes pvperf from those that run");

int pvperf_access_init(void)
{
	int err = 0;

	mutex_lock(&access_lock);
	if (pvperf_policy.access == PVPERF_ACCESS_LOCAL)
		err = access_open();
	if (err)
		WRITE_ONCE(pvperf_policy.access, PVPERF_ACCESS_UNAVAILABLE);
	else
		access_note();
	loaded = !err || pvperf_hooks_stuck();
	mutex_unlock(&access_lock);
	return err;
}

void pvperf_access_exit(void)
{
	mutex_lock(&access_lock);
	loaded = false;
	WRITE_ONCE(pvperf_policy.access, PVPERF_ACCESS_UNAVAILABLE);
	if (hooked)
		access_close(true);
	mutex_unlock(&access_lock);
}
