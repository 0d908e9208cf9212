/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link between the header and LTTng: one library per process, libblkin-provider.so.1, contains the
 * tracepoints; every object that includes <blkin/blkin.h> loads it with dlopen and calls it through the table
 * in <blkin/record.h>. So a program needs no LTTng header, has no LTTng symbol and no DT_NEEDED on it, runs
 * untraced if the library is missing, and records each event exactly once however many objects of the process
 * include the header.
 *
 * Programs do not use this file directly; its names may change with the table's version.
 */
#ifndef BLKIN_PROVIDER_H_
#define BLKIN_PROVIDER_H_

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blkin/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One of each per executable or shared library, however many of its source files include the header. */
#define BLKIN_ONE_PER_MODULE_ __attribute__((weak, visibility("hidden")))

extern const int blkin_always_off_ BLKIN_ONE_PER_MODULE_;
extern const struct blkin_provider blkin_no_provider_ BLKIN_ONE_PER_MODULE_;
extern const struct blkin_provider *blkin_provider_ BLKIN_ONE_PER_MODULE_;
extern const blkin_whole_span *blkin_whole_ BLKIN_ONE_PER_MODULE_;
extern const struct blkin_clock *blkin_clock_ BLKIN_ONE_PER_MODULE_;
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
	blkin_ignore_sampling_, NULL, NULL, {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}};
const struct blkin_provider *blkin_provider_ = &blkin_no_provider_;
/* NULL: the provider takes spans in records only. */
const blkin_whole_span *blkin_whole_ = NULL;
/* NULL: the kernel is asked for the time. */
const struct blkin_clock *blkin_clock_ = NULL;
/* How often this process has forked: a thread seeds its id generator again when this changes. */
unsigned blkin_forks_ = 0;
int blkin_loaded_ = 0;

static inline void blkin_count_fork_(void)
{
	blkin_forks_++;
}

/* An older provider's table ends before what was added since. */
static inline void blkin_use_provider_(const struct blkin_provider *provider)
{
	blkin_provider_ = provider;
	if (provider->size < sizeof(*provider))
		return;
	blkin_whole_ = provider->whole;
	if (provider->clock->read)
		blkin_clock_ = provider->clock;
}

/*
 * Whether this is the first call in the process, whose other objects have a copy of this of their own.
 * Without the provider they share nothing but libc, so a name that nobody else uses is kept in its table of
 * texts' folders.
 */
static inline int blkin_is_first_(void)
{
	char *(*bind)(const char *domain, const char *folder) = NULL;
	void *everything = dlopen(NULL, RTLD_LAZY), *symbol = NULL;
	const char *folder = NULL;

	if (everything) {
		symbol = dlsym(everything, "bindtextdomain");
		dlclose(everything);
	}
	if (symbol) {
		memcpy(&bind, &symbol, sizeof(bind));
		folder = bind("blkin-debug", NULL);
	}
	if (folder && strcmp(folder, "/blkin-debug") == 0)
		return 0;
	if (symbol)
		bind("blkin-debug", "/blkin-debug");
	return 1;
}

/* Prints one line about the process: what the provider says, or why it is not in use. */
static inline void blkin_print_report_(void *library, int usable)
{
	const struct blkin_report *report = NULL;
	char line[640]; /* as further calls free what dlerror returned */

	if (usable)
		snprintf(
			line, sizeof(line), "provider: libblkin-provider.so.1, which is too old to say more");
	else
		snprintf(line, sizeof(line), "this program is not traced: %.500s; %s libblkin-provider",
			library ? "libblkin-provider.so.1 is older than the header it was built with"
				: dlerror(),
			library ? "upgrade" : "install");
	if (usable)
		report = (const struct blkin_report *)dlsym(library, "blkin_report_1");
	if (report)
		report->print();
	else if (blkin_is_first_())
		fprintf(stderr, "blkin: %s\n", line);
}

/*
 * Loads the provider before main, or on dlopen. Without LTTng on the node this fails silently and every call
 * stays off; with BLKIN_DEBUG=1 in the environment it prints the reason, or what it found.
 */
__attribute__((constructor(101))) static void blkin_load_provider_(void)
{
	const struct blkin_provider *provider = NULL;
	const int kept = errno;
	void *library;

	if (blkin_loaded_)
		return;
	blkin_loaded_ = 1;
	pthread_atfork(NULL, NULL, blkin_count_fork_);
	library = dlopen("libblkin-provider.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (library)
		provider = (const struct blkin_provider *)dlsym(library, "blkin_provider_1");
	if (provider && provider->size >= BLKIN_PROVIDER_LEAST_)
		blkin_use_provider_(provider);
	if (getenv("BLKIN_DEBUG"))
		blkin_print_report_(library, blkin_provider_ != &blkin_no_provider_);
	dlerror(); /* what failed here is nothing to the program, which may be opening a plugin */
	errno = kept;
}

#ifdef __cplusplus
}
#endif

#endif
