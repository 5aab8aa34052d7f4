// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/bus/event_source/devices/{cpu,pvperf}: the names that perf takes events
 * from. Tables, and a question to trial.h about what the host has. The
 * invariant: an event listed here can be opened, and its string means what
 * sysfs.h says of the config.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "caps.h"
#include "state.h"
#include "sysfs.h"
#include "trial.h"

PMU_FORMAT_ATTR(event,	"config:0-7,32-35");
PMU_FORMAT_ATTR(umask,	"config:8-15");
PMU_FORMAT_ATTR(edge,	"config:18");
PMU_FORMAT_ATTR(inv,	"config:23");
PMU_FORMAT_ATTR(cmask,	"config:24-31");
PMU_FORMAT_ATTR(pv,	"config:48-51");

static struct attribute *pvperf_sysfs_formats[] = {
	&format_attr_event.attr,
	&format_attr_umask.attr,
	&format_attr_edge.attr,
	&format_attr_inv.attr,
	&format_attr_cmask.attr,
	&format_attr_pv.attr,
	NULL,
};

static const struct attribute_group pvperf_sysfs_format = {
	.name = "format",
	.attrs = pvperf_sysfs_formats,
};

/* The generic events, in the order of PERF_COUNT_HW_*. */
PMU_EVENT_ATTR_STRING(cycles,			pvperf_hw0a, "event=0x00,pv=0x1");
PMU_EVENT_ATTR_STRING(cpu-cycles,		pvperf_hw0, "event=0x00,pv=0x1");
PMU_EVENT_ATTR_STRING(instructions,		pvperf_hw1, "event=0x01,pv=0x1");
PMU_EVENT_ATTR_STRING(cache-references,		pvperf_hw2, "event=0x02,pv=0x1");
PMU_EVENT_ATTR_STRING(cache-misses,		pvperf_hw3, "event=0x03,pv=0x1");
PMU_EVENT_ATTR_STRING(branch-instructions,	pvperf_hw4, "event=0x04,pv=0x1");
PMU_EVENT_ATTR_STRING(branch-misses,		pvperf_hw5, "event=0x05,pv=0x1");
PMU_EVENT_ATTR_STRING(bus-cycles,		pvperf_hw6, "event=0x06,pv=0x1");
PMU_EVENT_ATTR_STRING(stalled-cycles-frontend,	pvperf_hw7, "event=0x07,pv=0x1");
PMU_EVENT_ATTR_STRING(stalled-cycles-backend,	pvperf_hw8, "event=0x08,pv=0x1");
PMU_EVENT_ATTR_STRING(ref-cycles,		pvperf_hw9, "event=0x09,pv=0x1");

/* Of the host, about the vCPU's thread; PERF_COUNT_SW_*. */
PMU_EVENT_ATTR_STRING(host-cpu-clock,		pvperf_sw0, "event=0x00,pv=0x2");
PMU_EVENT_ATTR_STRING(host-cpu-clock.unit,	pvperf_sw0_unit, "ns");
PMU_EVENT_ATTR_STRING(host-page-faults,		pvperf_sw2, "event=0x02,pv=0x2");
PMU_EVENT_ATTR_STRING(host-context-switches,	pvperf_sw3, "event=0x03,pv=0x2");
PMU_EVENT_ATTR_STRING(host-migrations,		pvperf_sw4, "event=0x04,pv=0x2");

#define PVPERF_SYSFS_GENERIC	\
	&pvperf_hw1.attr.attr,	\
	&pvperf_hw2.attr.attr,	\
	&pvperf_hw3.attr.attr,	\
	&pvperf_hw4.attr.attr,	\
	&pvperf_hw5.attr.attr,	\
	&pvperf_hw6.attr.attr,	\
	&pvperf_hw7.attr.attr,	\
	&pvperf_hw8.attr.attr,	\
	&pvperf_hw9.attr.attr

/* As many as there are generic events go by the number of the event. */
static struct attribute *pvperf_sysfs_cpu_attrs[] = {
	&pvperf_hw0.attr.attr,
	PVPERF_SYSFS_GENERIC,
	NULL,
};

static struct attribute *pvperf_sysfs_pvperf_attrs[] = {
	&pvperf_hw0a.attr.attr,
	PVPERF_SYSFS_GENERIC,
	&pvperf_sw0.attr.attr,
	&pvperf_sw0_unit.attr.attr,
	&pvperf_sw2.attr.attr,
	&pvperf_sw3.attr.attr,
	&pvperf_sw4.attr.attr,
	NULL,
};

static unsigned long pvperf_sysfs_present;	/* generic events that the host has */

static umode_t pvperf_sysfs_visible(struct kobject *kobj, struct attribute *attr,
				    int nr)
{
	bool visible = nr < PERF_COUNT_HW_MAX ?
		       pvperf_sysfs_present & BIT(nr) :
		       pvperf_caps.features & KVM_PERF_FEATURE_HOST_SW;

	return visible ? attr->mode : 0;
}

static const struct attribute_group pvperf_sysfs_cpu_events = {
	.name = "events",
	.attrs = pvperf_sysfs_cpu_attrs,
	.is_visible = pvperf_sysfs_visible,
};

static const struct attribute_group pvperf_sysfs_pvperf_events = {
	.name = "events",
	.attrs = pvperf_sysfs_pvperf_attrs,
	.is_visible = pvperf_sysfs_visible,
};

/* Lets perf know that there's no use in asking for :p, :pp, :ppp. */
static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr,
				char *buf)
{
	return sysfs_emit(buf, "0\n");
}
static DEVICE_ATTR_RO(max_precise);

/* How many hardware events count at once; 0: the host doesn't say. */
static ssize_t counters_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%u\n", pvperf_caps.counters);
}
static DEVICE_ATTR_RO(counters);

static ssize_t min_period_show(struct device *dev, struct device_attribute *attr,
			       char *buf)
{
	return sysfs_emit(buf, "%u\n", pvperf_caps.min_period);
}
static DEVICE_ATTR_RO(min_period);

static struct attribute *pvperf_sysfs_caps_attrs[] = {
	&dev_attr_max_precise.attr,
	&dev_attr_counters.attr,
	&dev_attr_min_period.attr,
	NULL,
};

static const struct attribute_group pvperf_sysfs_caps = {
	.name = "caps",
	.attrs = pvperf_sysfs_caps_attrs,
};

const struct attribute_group *pvperf_sysfs_cpu[] = {
	&pvperf_sysfs_format,
	&pvperf_sysfs_cpu_events,
	&pvperf_sysfs_caps,
	NULL,
};

const struct attribute_group *pvperf_sysfs_pvperf[] = {
	&pvperf_sysfs_format,
	&pvperf_sysfs_pvperf_events,
	&pvperf_sysfs_caps,
	NULL,
};

void pvperf_sysfs_init(void)
{
	struct pvperf_key key = { .type = KVM_PERF_TYPE_HARDWARE };
	int slot;

	BUILD_BUG_ON(PERF_COUNT_HW_MAX != 10);
	for (key.config = 0; key.config < PERF_COUNT_HW_MAX; key.config++)
		if (pvperf_trial_open(&key, &slot) != -KVM_ENOENT)
			pvperf_sysfs_present |= BIT(key.config);
}
