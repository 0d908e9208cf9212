/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader's process: started, watched, ended. */
#ifndef SUPERVISE_CHILD_H
#define SUPERVISE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "handover/page.h"

struct child {
	pid_t pid;           /* 0: none runs */
	int memory;          /* its /proc/PID/statm; -1: not open */
	int64_t started;     /* CLOCK_MONOTONIC ns, as below */
	int64_t watched;     /* when it was watched last; */
	int64_t moved;       /* when it had moved last, as far as was seen, */
	int64_t moved_cpu;   /* and the processor time that it had used by then, ns */
	int64_t computed;    /* since then, ns of processor time, */
	int64_t kept;        /* and ns in which it was ready to run, and had no processor; */
	int64_t kept_before; /* that of before; -1: not looked at yet */
	int64_t cpu;         /* all of it, as it was watched last, */
	int64_t weighed;     /* and when its memory was looked at; 0: it was not */
	int64_t stopped;     /* since when somebody has stopped it; 0: nobody has */
	uint64_t oom_kills;  /* that there had been where it runs */
	bool killed;         /* by us, as it hung, */
	bool too_large;      /* or as it took too much memory */
};

enum child_end {
	CHILD_FAULT, /* of what it read, as far as one can tell */
	CHILD_KILLED /* by somebody who has nothing to do with that */
};

/* The path of a program that only the agent starts; g_free. */
char *child_program(const char *name);

/* The path of the command, `blkin`; the same. */
char *child_command(void);

/* A file without a name that has the text, to be closed; -1, and errno, if there is none. */
int child_text_file(const struct buffer *text);

/* Starts it with its end of @socket, the page, and its configuration as text. Returns the agent's end of the
 * socket; or -1, with why in @error. */
int child_start(struct child *child, int page, const struct buffer *config, char *error, size_t error_size);

/* Looks whether it moves. If it hangs it is ended, which takes effect a moment later. */
void child_watch(struct child *child, struct page *page);

/* So long, in ns, it has waited for nobody since it moved last, as it was watched: it computed, or was ready
 * to run and had no processor. */
int64_t child_busy(const struct child *child);

/* Ends it if it takes more than @memory, in bytes: pages that it maps and never touches do not count. */
void child_bound(struct child *child, uint64_t memory);

/* It is to end, by itself within @patience_ns or else by force. What came of it goes to @how, as in "was
 * ended by signal 6". */
enum child_end child_end(struct child *child, int64_t patience_ns, char *how, size_t size);

#endif
