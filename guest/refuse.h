/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _PVPERF_GUEST_REFUSE_H
#define _PVPERF_GUEST_REFUSE_H

#include <linux/jiffies.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>

#define PVPERF_REFUSE_EVERY	(60 * HZ)

/*
 * Prints to the log why an event is refused and what to do instead, and is the error for perf
 * core. Process context. No program can fill the log: each reason gets one line a minute, and none
 * about how many were left out, as programs try the same again and again.
 */
#define pvperf_refuse(err, fmt, ...) ({						\
	static struct ratelimit_state _rs =					\
		RATELIMIT_STATE_INIT_FLAGS(_rs, PVPERF_REFUSE_EVERY, 1,		\
					   RATELIMIT_MSG_ON_RELEASE);		\
	if (__ratelimit(&_rs))							\
		pr_notice("%s[%d]: refused: " fmt "\n", current->comm,		\
			  current->pid, ##__VA_ARGS__);			\
	err; })

#endif /* _PVPERF_GUEST_REFUSE_H */
