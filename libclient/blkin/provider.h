/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands between the header and LTTng: one library per process, libblkin-provider.so.1, holds the
 * tracepoints; every object that includes <blkin/blkin.h> finds it with dlopen and calls it through the table
 * below. So a program needs no LTTng header, has no LTTng symbol and no DT_NEEDED on it, runs untraced where
 * the library is absent, and records each event exactly once however many objects of the process include the
 * header.
 *
 * Programs do not use this file directly; its names may change with the table's version.
 */
#ifndef BLKIN_PROVIDER_H_
#define BLKIN_PROVIDER_H_

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The fields of the LTTng event blkin:span, in the provider's hands for one call. No pointer may be NULL. */
struct blkin_span_record {
	uint64_t trace_id_high; /* upper half of a 128-bit trace id, 0 for a 64-bit one */
	uint64_t trace_id;
	uint64_t span_id;
	uint64_t parent_id; /* 0: a root */
	uint64_t start;     /* CLOCK_MONOTONIC, ns: LTTng's own clock */
	uint64_t finish;    /* the same; 0: the moment of the event */
	uint16_t flags;     /* BLKIN_FLAG_* */
	uint16_t pieces;    /* how many blkin:annotation and blkin:tag events of this span went before */
	uint16_t port;      /* of the local endpoint, host order */
	const char *name;
	const char *service; /* name of the local endpoint */
	const char *ip;      /* of the local endpoint, text; "" if unknown */
	const char *data;    /* annotations, tags and the remote endpoint, a line each; see span.h */
};

/* blkin_span_record.flags: the kind in the low bits, then Zipkin's shared and debug, then the level. */
#define BLKIN_FLAG_KIND 0x0007u
#define BLKIN_FLAG_SHARED 0x0008u
#define BLKIN_FLAG_DEBUG 0x0010u
/* The severity level, exclusive-or 6, so that 0 is info. */
#define BLKIN_FLAG_LEVEL 0x00e0u
#define BLKIN_FLAG_LEVEL_SHIFT 5

/* syslog's eight severity levels */
#define BLKIN_LEVELS_ 8

/*
 * The table that libblkin-provider.so.1 exports as `blkin_provider_1`. It only ever grows at its end; `size`
 * tells how far it goes. An `_on` points to a tracepoint's state: not 0 while some session records that
 * event.
 */
struct blkin_provider {
	uint32_t size;
	const int *span_on[BLKIN_LEVELS_];
	const int *keyval_string_on;
	const int *keyval_integer_on;
	const int *timestamp_on;
	void (*span[BLKIN_LEVELS_])(const struct blkin_span_record *record);
	void (*annotation)(const struct blkin_span_record *record, uint64_t time, const char *value);
	void (*tag)(const struct blkin_span_record *record, const char *key, const char *value);
	void (*keyval_string)(const char *trace_name, const char *service, int port, const char *ip,
		int64_t trace, int64_t span, int64_t parent_span, const char *key, const char *val);
	void (*keyval_integer)(const char *trace_name, const char *service, int port, const char *ip,
		int64_t trace, int64_t span, int64_t parent_span, const char *key, int64_t val);
	void (*timestamp)(const char *trace_name, const char *service, int port, const char *ip,
		int64_t trace, int64_t span, int64_t parent_span, const char *event);
	int (*sample)(uint64_t id, uint64_t now, const char *service);
	void (*set_sampling)(uint32_t one_in, uint32_t per_second);
};

/* One of each per executable or shared library, however many of its units include the header. */
#define BLKIN_ONE_PER_MODULE_ __attribute__((weak, visibility("hidden")))

extern const int blkin_always_off_ BLKIN_ONE_PER_MODULE_;
extern const struct blkin_provider blkin_no_provider_ BLKIN_ONE_PER_MODULE_;
extern const struct blkin_provider *blkin_provider_ BLKIN_ONE_PER_MODULE_;
extern unsigned blkin_forks_ BLKIN_ONE_PER_MODULE_;
extern int blkin_loaded_ BLKIN_ONE_PER_MODULE_;

static inline void blkin_ignore_sampling_(uint32_t one_in, uint32_t per_second)
{
	(void)one_in;
	(void)per_second;
}

const int blkin_always_off_ = 0;
const struct blkin_provider blkin_no_provider_ = {sizeof(struct blkin_provider),
	{&blkin_always_off_, &blkin_always_off_, &blkin_always_off_, &blkin_always_off_, &blkin_always_off_,
		&blkin_always_off_, &blkin_always_off_, &blkin_always_off_},
	&blkin_always_off_, &blkin_always_off_, &blkin_always_off_,
	{NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}, NULL, NULL, NULL, NULL, NULL, NULL,
	blkin_ignore_sampling_};
const struct blkin_provider *blkin_provider_ = &blkin_no_provider_;
/* How often this process forked: a thread's id generator seeds itself anew when it changes. */
unsigned blkin_forks_ = 0;
int blkin_loaded_ = 0;

static inline void blkin_count_fork_(void)
{
	blkin_forks_++;
}

/*
 * Find the provider before main, or on dlopen. Without LTTng on the node this fails in silence and every call
 * stays off; BLKIN_DEBUG=1 in the environment says why.
 */
__attribute__((constructor(101))) static void blkin_load_provider_(void)
{
	const struct blkin_provider *provider = NULL;
	void *library;

	if (blkin_loaded_)
		return;
	blkin_loaded_ = 1;
	pthread_atfork(NULL, NULL, blkin_count_fork_);
	library = dlopen("libblkin-provider.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (library)
		provider = (const struct blkin_provider *)dlsym(library, "blkin_provider_1");
	if (provider && provider->size >= sizeof(*provider))
		blkin_provider_ = provider;
	else if (getenv("BLKIN_DEBUG"))
		fprintf(stderr, "blkin: this program is not traced: %s\n",
			library ? "libblkin-provider.so.1 is older than the header it was built with"
				: dlerror());
}

#ifdef __cplusplus
}
#endif

#endif
