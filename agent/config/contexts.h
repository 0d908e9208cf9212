/* SPDX-License-Identifier: BSD-2-Clause */
/* What LTTng can add to each event of programs: `context` in [events]. */
#ifndef CONFIG_CONTEXTS_H
#define CONFIG_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

/* So many may be configured, and so many more may be required. */
#define CONTEXTS_MAX 16
#define CONTEXTS_MORE 4

enum context_kind {
	CONTEXT_VPID,
	CONTEXT_VTID,
	CONTEXT_PROCNAME,
	CONTEXT_PTHREAD_ID,
	CONTEXT_IP,
	CONTEXT_VUID,
	CONTEXT_VGID,
	CONTEXT_PID_NS,
	CONTEXT_NET_NS,
	CONTEXT_MNT_NS,
	CONTEXT_CGROUP_NS,
	CONTEXT_PERF
};

struct context {
	enum context_kind kind;
	const char *name; /* as the file has it; of a perf counter what is behind "perf:" */
	uint32_t type;    /* a perf counter's, as the kernel numbers them, */
	uint64_t config;  /* and which of that type */
};

struct contexts {
	size_t count;
	struct context of[CONTEXTS_MAX + CONTEXTS_MORE];
};

/* Returns 0, or -1 with @error saying what is wrong. */
int contexts_parse(struct contexts *contexts, const char *text, char *error, size_t size);

/* The same of what a configuration has and what is required beside. */
int contexts_parse_with_required(struct contexts *contexts, const char *text, char *error, size_t size);

/* Adds one that is no counter, unless it is there: CONTEXTS_MORE of them at most. */
void contexts_require(struct contexts *contexts, enum context_kind kind);

#endif
