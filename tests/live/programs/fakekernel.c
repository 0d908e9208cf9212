/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel tracer for machines without one, to be loaded before liblttng-ctl: its calls for the kernel are
 * answered here, as LTTng 2.13 answers them. FAKE_KERNEL is the code that asking for the tracer fails with,
 * or 0. Whoever makes the file FAKE_KERNEL_OFF has disabled the channel; it is removed when that takes
 * effect. What is enabled goes to standard error. A session of snapshots starts without a channel, and gives
 * none: FAKE_SNAPSHOT is the code; FAKE_SNAPSHOT_RUN is a command that is run before, with the snapshot's
 * path behind it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lttng/lttng.h>

#define MAX 16

static struct lttng_event events[MAX];
static char *filters[MAX];
static struct lttng_channel made; /* as it was given; whether it is enabled does not show in it (2.13) */
static int count, channels, is_on, flies;
static char snapshot[4096]; /* where the last one was to go */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The headers of LTTng 2.16 have `const` here, those of 2.13 do not. */
int list_channels(struct lttng_handle *handle, struct lttng_channel **list) __asm__("lttng_list_channels");
int list_events(struct lttng_handle *handle, const char *channel, struct lttng_event **list) __asm__(
	"lttng_list_events");
int get_filter(struct lttng_event *event, const char **filter) __asm__("lttng_event_get_filter_expression");

static int is_kernel(const struct lttng_handle *handle)
{
	return handle->domain.type == LTTNG_DOMAIN_KERNEL;
}

static int list_names(struct lttng_event **list, const char *one, const char *other)
{
	*list = calloc(2, sizeof(**list));
	snprintf((*list)[0].name, sizeof((*list)[0].name), "%s", one);
	snprintf((*list)[1].name, sizeof((*list)[1].name), "%s", other);
	return 2;
}

int lttng_list_tracepoints(struct lttng_handle *handle, struct lttng_event **list)
{
	const char *code = getenv("FAKE_KERNEL");

	if (!is_kernel(handle))
		return REAL(lttng_list_tracepoints)(handle, list);
	*list = NULL;
	return code && atoi(code) ? -atoi(code) : list_names(list, "sched_switch", "block_rq_issue");
}

int lttng_list_syscalls(struct lttng_event **list)
{
	return list_names(list, "openat", "close");
}

int lttng_enable_channel(struct lttng_handle *handle, struct lttng_channel *channel)
{
	if (!is_kernel(handle))
		return REAL(lttng_enable_channel)(handle, channel);
	if (getenv("FAKE_KERNEL_OFF") && unlink(getenv("FAKE_KERNEL_OFF")) == 0)
		is_on = 0;
	if (is_on)
		return -LTTNG_ERR_KERN_CHAN_EXIST;
	if (!channels)
		made = *channel;
	made.attr.extended.ptr = NULL; /* the caller's */
	channels = is_on = 1;
	fprintf(stderr, "fakekernel: channel %s%s\n", channel->name,
		channel->attr.overwrite ? " that overwrites" : "");
	return 0;
}

int list_channels(struct lttng_handle *handle, struct lttng_channel **list)
{
	if (!is_kernel(handle))
		return REAL(lttng_list_channels)(handle, list);
	*list = calloc(1, sizeof(**list));
	**list = made;
	return channels;
}

/* A session has a channel of its own. */
enum lttng_error_code lttng_create_session_ext(struct lttng_session_descriptor *descriptor)
{
	while (count)
		free(filters[--count]);
	channels = is_on = flies = 0;
	return REAL(lttng_create_session_ext)(descriptor);
}

static int is_flight(const char *session)
{
	size_t size = strlen(session);

	return size >= 7 && !strcmp(session + size - 7, "-flight");
}

/* Without a channel it is never active. */
int lttng_list_sessions(struct lttng_session **list)
{
	int found = REAL(lttng_list_sessions)(list);

	for (int i = 0; i < found; i++)
		(*list)[i].enabled |= is_flight((*list)[i].name) && flies;
	return found;
}

int lttng_start_tracing(const char *session)
{
	if (!is_flight(session))
		return REAL(lttng_start_tracing)(session);
	flies = 1;
	fprintf(stderr, "fakekernel: %s is started\n", session);
	return 0;
}

int lttng_snapshot_output_set_local_path(const char *path, struct lttng_snapshot_output *output)
{
	snprintf(snapshot, sizeof(snapshot), "%s", path);
	return REAL(lttng_snapshot_output_set_local_path)(path, output);
}

int lttng_snapshot_record(const char *session, struct lttng_snapshot_output *output, int wait)
{
	const char *code = getenv("FAKE_SNAPSHOT"), *run = getenv("FAKE_SNAPSHOT_RUN");
	char command[2 * sizeof(snapshot)];

	(void)output;
	(void)wait;
	fprintf(stderr, "fakekernel: snapshot of %s\n", session);
	snprintf(command, sizeof(command), "%s %s", run ? run : "", snapshot);
	if (run && system(command) != 0)
		return -LTTNG_ERR_SNAPSHOT_FAIL;
	return code ? -atoi(code) : 0;
}

int lttng_add_context(struct lttng_handle *handle, struct lttng_event_context *context, const char *event,
	const char *channel)
{
	return is_kernel(handle) ? 0 : REAL(lttng_add_context)(handle, context, event, channel);
}

int list_events(struct lttng_handle *handle, const char *channel, struct lttng_event **list)
{
	if (!is_kernel(handle))
		return REAL(lttng_list_events)(handle, channel, list);
	*list = calloc(MAX, sizeof(**list));
	memcpy(*list, events, (size_t)count * sizeof(**list));
	return count;
}

int get_filter(struct lttng_event *event, const char **filter)
{
	for (int i = 0; i < count; i++)
		if (events[i].type == event->type && !strcmp(events[i].name, event->name)) {
			*filter = filters[i];
			return 0;
		}
	return REAL(lttng_event_get_filter_expression)(event, filter);
}

int lttng_enable_event_with_filter(
	struct lttng_handle *handle, struct lttng_event *event, const char *channel, const char *filter)
{
	if (!is_kernel(handle))
		return REAL(lttng_enable_event_with_filter)(handle, event, channel, filter);
	for (int i = 0; i < count; i++)
		if (events[i].type == event->type && !strcmp(events[i].name, event->name))
			return -LTTNG_ERR_KERN_EVENT_EXIST;
	if (count == MAX)
		return -LTTNG_ERR_KERN_ENABLE_FAIL;
	memcpy(&events[count], event, sizeof(*event));
	filters[count] = filter ? strdup(filter) : NULL;
	events[count++].enabled = 1;
	fprintf(stderr, "fakekernel: %s %d in %s%s%s%s\n", event->name, (int)event->type, channel,
		event->type == LTTNG_EVENT_FUNCTION ? " at " : "",
		event->type == LTTNG_EVENT_FUNCTION ? event->attr.probe.symbol_name : "",
		filter ? " but its own" : "");
	return 0;
}
