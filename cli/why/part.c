/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/part.h"

#include <stddef.h>

const char *part_words(enum part part)
{
	static const char *const words[PARTS] = {
		[PART_CPU] = "running",
		[PART_INTERRUPTED] = "held up by interrupts",
		[PART_RUNNABLE] = "waiting for a processor",
		[PART_DISK] = "waiting for the disk",
		[PART_LOCK] = "waiting for a lock",
		[PART_NETWORK] = "waiting for the network or a pipe",
		[PART_SLEEP] = "asleep",
		[PART_FAULT] = "waiting for memory (page faults)",
		[PART_OTHER] = "waiting",
		[PART_UNKNOWN] = "unknown",
	};

	return words[part];
}

/* What a thread waits for in a system call. */
enum sort { SORT_ANY, SORT_FILE, SORT_STREAM, SORT_ASYNC, SORT_LOCK, SORT_NETWORK, SORT_SLEEP };

static const struct {
	enum sort sort;
	const char *calls[24];
} sorts[] = {
	{SORT_LOCK, {"futex", "futex_waitv", "futex_wait", "futex_time64", "futex_lock_pi", "flock", "semop",
			    "semtimedop"}},
	{SORT_NETWORK,
		{"poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "accept",
			"accept4", "connect", "recv", "recvfrom", "recvmsg", "recvmmsg", "send", "sendto",
			"sendmsg", "sendmmsg", "mq_timedreceive", "mq_timedsend", "msgrcv", "msgsnd"}},
	{SORT_SLEEP, {"nanosleep", "clock_nanosleep", "clock_nanosleep_time64", "pause"}},
	{SORT_STREAM, {"read", "readv", "write", "writev", "splice", "sendfile", "sendfile64", "tee",
			      "vmsplice", "close"}},
	{SORT_ASYNC, {"io_uring_enter", "io_getevents", "io_pgetevents", "io_submit"}},
	{SORT_FILE,
		{"fsync", "fdatasync", "sync", "syncfs", "sync_file_range", "msync", "pread64", "preadv",
			"preadv2", "pwrite64", "pwritev", "pwritev2", "open", "openat", "openat2", "creat",
			"getdents64", "newfstatat", "statx", "unlink", "unlinkat", "rename", "renameat2"}},
};

static enum sort sort_of(struct text call)
{
	if (!call.data)
		return SORT_ANY;
	for (size_t i = 0; i < sizeof(sorts) / sizeof(*sorts); i++)
		for (size_t k = 0; k < sizeof(sorts[i].calls) / sizeof(*sorts[i].calls) && sorts[i].calls[k];
			k++)
			if (text_is(call, sorts[i].calls[k]))
				return sorts[i].sort;
	return SORT_ANY;
}

/* The kernel's task states, as the tracepoint has them; what is above is no reason to wait. */
#define STATE_UNINTERRUPTIBLE 2
#define STATES 0xff

bool part_is_preempted(int64_t state)
{
	return (state & STATES) == 0;
}

/*
 * Disks, page faults and locks in the kernel are waited for without being interruptible. That it is the disk
 * shows in a request that is completed meanwhile, whoever has made it: a journal's thread, perhaps.
 */
static enum part part_of_uninterruptible(const struct circumstances *known, enum sort sort)
{
	bool of_files = sort == SORT_FILE || sort == SORT_STREAM || sort == SORT_ASYNC;

	/* a thread that is in no system call has nothing else to wait for */
	if (known->outside || known->in_fault || (known->fault && !of_files))
		return PART_FAULT;
	return known->disk || known->disk_unknown ? PART_DISK : PART_OTHER;
}

enum part part_of_wait(const struct circumstances *known)
{
	enum sort sort = sort_of(known->call);

	if ((known->state & STATES) == STATE_UNINTERRUPTIBLE)
		return part_of_uninterruptible(known, sort);
	switch (sort) {
	case SORT_LOCK:
		return PART_LOCK;
	case SORT_NETWORK:
	case SORT_STREAM:
		return PART_NETWORK;
	case SORT_SLEEP:
		return PART_SLEEP;
	case SORT_ASYNC:
		return known->disk ? PART_DISK : PART_OTHER;
	case SORT_FILE:
	case SORT_ANY:
		break;
	}
	return PART_OTHER;
}
