// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/bus/event_source/devices/{cpu,pvperf,...}, where perf looks up the names of events.
 * Tables; calls trial.h to find out which events the host has. The invariant: an event
 * that is listed here can be opened, and its string has the format of sysfs.h.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include "branches.h"
#include "caps.h"
#include "kinds.h"
#include "state.h"
#include "sysfs.h"
#include "trial.h"

/* AMD's selects have four more bits. */
static ssize_t event_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	bool intel = boot_cpu_data.x86_vendor == X86_VENDOR_INTEL;

	return sysfs_emit(buf, "config:0-7%s\n", intel ? "" : ",32-35");
}

static struct device_attribute format_attr_event = __ATTR_RO(event);
PMU_FORMAT_ATTR(umask,	"config:8-15");
PMU_FORMAT_ATTR(edge,	"config:18");
PMU_FORMAT_ATTR(inv,	"config:23");
PMU_FORMAT_ATTR(cmask,	"config:24-31");
PMU_FORMAT_ATTR(pv,	"config:48-51");
PMU_FORMAT_ATTR(host,	"config:52");
PMU_FORMAT_ATTR(kind,	"config:53-54");

/* The first two are of "pvperf" only. */
static struct attribute *format_attrs[] = {
	&format_attr_host.attr,
	&format_attr_kind.attr,
	&format_attr_event.attr,
	&format_attr_umask.attr,
	&format_attr_edge.attr,
	&format_attr_inv.attr,
	&format_attr_cmask.attr,
	&format_attr_pv.attr,
	NULL,
};

static const struct attribute_group cpu_format = {
	.name = "format",
	.attrs = format_attrs + 2,
};

static const struct attribute_group pvperf_format = {
	.name = "format",
	.attrs = format_attrs,
};

#define EVENT(_name, _config) {							\
	.attr = {									\
		.attr = { .name = _name, .mode = 0444 },				\
		.show = perf_event_sysfs_show,						\
	},										\
	.event_str = _config ",pv=0x1",							\
}

/*
 * The generic events, by the numbers of PERF_COUNT_HW_*. perf from 7.x on opens a name at
 * each PMU that lists it, so the names of "pvperf" are no other PMU's.
 */
#define GENERIC(prefix, cycles) {							\
	EVENT(prefix cycles, "event=0x00"),						\
	EVENT(prefix "instructions", "event=0x01"),					\
	EVENT(prefix "cache-references", "event=0x02"),					\
	EVENT(prefix "cache-misses", "event=0x03"),					\
	EVENT(prefix "branch-instructions", "event=0x04"),				\
	EVENT(prefix "branch-misses", "event=0x05"),					\
	EVENT(prefix "bus-cycles", "event=0x06"),					\
	EVENT(prefix "stalled-cycles-frontend", "event=0x07"),				\
	EVENT(prefix "stalled-cycles-backend", "event=0x08"),				\
	EVENT(prefix "ref-cycles", "event=0x09"),					\
}

static_assert(PERF_COUNT_HW_MAX == 10);

static struct perf_pmu_events_attr cpu_generic[PERF_COUNT_HW_MAX] = GENERIC("", "cpu-cycles");
static struct perf_pmu_events_attr pvperf_generic[PERF_COUNT_HW_MAX] = GENERIC("vcpu-", "cycles");
static struct perf_pmu_events_attr host_generic[PERF_COUNT_HW_MAX] = GENERIC("host-", "cycles");

/* The host's events of the vCPU's thread; PERF_COUNT_SW_*. */
PMU_EVENT_ATTR_STRING(host-cpu-clock,		attr_sw0, "event=0x00,pv=0x2");
PMU_EVENT_ATTR_STRING(host-cpu-clock.unit,	attr_sw0_unit, "ns");
PMU_EVENT_ATTR_STRING(host-page-faults,		attr_sw2, "event=0x02,pv=0x2");
PMU_EVENT_ATTR_STRING(host-context-switches,	attr_sw3, "event=0x03,pv=0x2");
PMU_EVENT_ATTR_STRING(host-migrations,		attr_sw4, "event=0x04,pv=0x2");

/*
 * Of P cores. Without these names perf stat, if given no events, complains (6.12) on such a model.
 * The host's driver reads them from a register of metrics, in one group, which pvperf has not got;
 * these codes are those for general counters.
 */
PMU_EVENT_ATTR_STRING(slots,			attr_td0, "event=0xa4,umask=0x01");
PMU_EVENT_ATTR_STRING(topdown-retiring,		attr_td1, "event=0xc2,umask=0x02");
PMU_EVENT_ATTR_STRING(topdown-bad-spec,		attr_td2, "event=0xa4,umask=0x04");
PMU_EVENT_ATTR_STRING(topdown-fe-bound,		attr_td3, "event=0x9c,umask=0x01");
PMU_EVENT_ATTR_STRING(topdown-be-bound,		attr_td4, "event=0xa4,umask=0x02");

/* All begin with the generic events, see events_fill(). */
static struct attribute *cpu_attrs[] = {
	[PERF_COUNT_HW_MAX] = &attr_td0.attr.attr,
	&attr_td1.attr.attr,
	&attr_td2.attr.attr,
	&attr_td3.attr.attr,
	&attr_td4.attr.attr,
	NULL,
};

static struct attribute *pvperf_attrs[] = {
	[PERF_COUNT_HW_MAX] = &attr_sw0.attr.attr,
	&attr_sw0_unit.attr.attr,
	&attr_sw2.attr.attr,
	&attr_sw3.attr.attr,
	&attr_sw4.attr.attr,
	NULL,
};

static struct attribute *host_attrs[] = {
	[PERF_COUNT_HW_MAX] = NULL,
};

static void events_fill(struct attribute **attrs, struct perf_pmu_events_attr *generic)
{
	int i;

	for (i = 0; i < PERF_COUNT_HW_MAX; i++)
		attrs[i] = &generic[i].attr.attr;
}

/* Bits of the generic events that the host has; of all kinds of cores, and of each. */
static unsigned long present[1 + KVM_PERF_KINDS];

/* @more: are the events there that follow the generic ones? */
static umode_t visible(struct kobject *kobj, const struct attribute *attr, int nr, bool more)
{
	const struct pmu *pmu = dev_get_drvdata(kobj_to_dev(kobj));

	if (nr < PERF_COUNT_HW_MAX)
		more = present[pvperf_kinds_of(pmu)] & BIT(nr);
	return more ? attr->mode : 0;
}

static umode_t cpu_visible(struct kobject *kobj, struct attribute *attr, int nr)
{
	const struct pmu *pmu = dev_get_drvdata(kobj_to_dev(kobj));

	return visible(kobj, attr, nr, !strcmp(pmu->name, "cpu_core") &&
				       pvperf_caps.features & KVM_PERF_FEATURE_RAW);
}

static umode_t pvperf_visible(struct kobject *kobj, struct attribute *attr, int nr)
{
	return visible(kobj, attr, nr, pvperf_caps.features & KVM_PERF_FEATURE_HOST_SW);
}

static const struct attribute_group cpu_events = {
	.name = "events",
	.attrs = cpu_attrs,
	.is_visible = cpu_visible,
};

static const struct attribute_group pvperf_events = {
	.name = "events",
	.attrs = pvperf_attrs,
	.is_visible = pvperf_visible,
};

static const struct attribute_group host_events = {
	.name = "events",
	.attrs = host_attrs,
	.is_visible = pvperf_visible,
};

#define NUMBER_RO(_name, _value)							\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{										\
	return sysfs_emit(buf, "%llu\n", (u64)(_value));				\
}										\
static DEVICE_ATTR_RO(_name)

/* Has perf stat -a open one event of a PMU, not one on each of the guest's CPUs. */
NUMBER_RO(cpumask, PVPERF_READER);

static struct attribute *cpumask_attrs[] = {
	&dev_attr_cpumask.attr,
	NULL,
};

static const struct attribute_group cpumask_group = {
	.attrs = cpumask_attrs,
};

/* Tells perf not to try :p, :pp and :ppp. */
NUMBER_RO(max_precise, 0);

/* How many general counters there are; 0: unknown. */
NUMBER_RO(counters, pvperf_caps.counters.general);

/* Which events have a counter of their own besides. */
static ssize_t fixed_counters_show(struct device *dev, struct device_attribute *attr,
				   char *buf)
{
	u32 fixed = pvperf_counters_fixed(&pvperf_caps.counters);

	return sysfs_emit(buf, "%s%s%s\n",
			  fixed & KVM_PERF_COUNTERS_INSTRUCTIONS ? "instructions " : "",
			  fixed & KVM_PERF_COUNTERS_CYCLES ? "cycles " : "",
			  fixed & KVM_PERF_COUNTERS_REF_CYCLES ? "ref-cycles" : "");
}
static DEVICE_ATTR_RO(fixed_counters);

/* How many counters take the narrow events, too; 0: no event is narrow. */
NUMBER_RO(narrow_counters, pvperf_caps.counters.narrow.counters);

NUMBER_RO(min_period, pvperf_caps.min_period);

/* How many branches a sample may have: the driver's file on bare metal. */
NUMBER_RO(branches, pvperf_caps.branches);

/* How often the host had no branches to give, as its perf used the CPU's stack, or came late. */
NUMBER_RO(branches_missing, pvperf_branches_missing());

static struct attribute *caps_attrs[] = {
	&dev_attr_max_precise.attr,
	&dev_attr_counters.attr,
	&dev_attr_fixed_counters.attr,
	&dev_attr_narrow_counters.attr,
	&dev_attr_min_period.attr,
	&dev_attr_branches.attr,
	&dev_attr_branches_missing.attr,
	NULL,
};

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
};

const struct attribute_group *pvperf_sysfs_cpu[] = {
	&cpu_format,
	&cpu_events,
	&caps_group,
	NULL,
};

/* On which CPUs perf opens an event of a kind of cores: any may run on a core of the kind. */
static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(cpu_online_mask));
}
static DEVICE_ATTR_RO(cpus);

static struct attribute *cpus_attrs[] = {
	&dev_attr_cpus.attr,
	NULL,
};

static const struct attribute_group cpus_group = {
	.attrs = cpus_attrs,
};

const struct attribute_group *pvperf_sysfs_kind[] = {
	&cpu_format,
	&cpu_events,
	&caps_group,
	&cpus_group,
	NULL,
};

const struct attribute_group *pvperf_sysfs_pvperf[] = {
	&pvperf_format,
	&pvperf_events,
	&caps_group,
	NULL,
};

const struct attribute_group *pvperf_sysfs_host[] = {
	&cpu_format,
	&host_events,
	&cpumask_group,
	NULL,
};

static unsigned long present_on(unsigned int kind)
{
	struct pvperf_key key = {
		.type = KVM_PERF_TYPE_HARDWARE,
		.flags = KVM_PERF_FLAG_KIND(kind),
	};
	unsigned long bits = 0;
	int slot;

	for (key.config = 0; key.config < PERF_COUNT_HW_MAX; key.config++)
		if (pvperf_trial_open(&key, &slot) != -KVM_ENOENT)
			bits |= BIT(key.config);
	return bits;
}

void pvperf_sysfs_init(void)
{
	unsigned int kind;

	events_fill(cpu_attrs, cpu_generic);
	events_fill(pvperf_attrs, pvperf_generic);
	events_fill(host_attrs, host_generic);
	present[0] = present_on(0);
	for (kind = 1; kind <= KVM_PERF_KINDS; kind++)
		if (pvperf_kinds_name(kind))
			present[kind] = present_on(kind);
}
