/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the flight recorder has recorded where [kernel] names nothing: what tells what a thread waited for,
 * and costs little. Reading and writing, which programs do most, is not among the calls: functions of the
 * kernel tell page faults from it. Patterns, as not each machine has all of these calls.
 */
#ifndef CONFIG_FLIGHTLIST_H
#define CONFIG_FLIGHTLIST_H

#define FLIGHT_EVENTS                                                                                        \
	"sched_switch, sched_waking, block_rq_*, irq_handler_*, irq_softirq_e*, timer_hrtimer_expire_*"
#define FLIGHT_SYSCALLS "futex*, f*sync, flock, *poll, *select*, epoll_*wait*, *nanosleep"
#define FLIGHT_FUNCTIONS "filemap_fault, do_swap_page"

#endif
