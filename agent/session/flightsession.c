/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/flightsession.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/beside.h"
#include "session/newer.h"
#include "session/tracing.h"
#include "session/wellness.h"

/* A session's, as far as the daemon takes it. */
#define NAME_SIZE 256

static void name_of(const struct config *config, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%.240s-flight", config->session_name);
}

enum found { FOUND_NONE, FOUND_OURS, FOUND_FOREIGN, FOUND_UNKNOWN };

static enum found find(const char *name, bool *active)
{
	struct lttng_session *sessions = NULL;
	int count = lttng_list_sessions(&sessions);
	enum found found = count < 0 ? FOUND_UNKNOWN : FOUND_NONE;

	for (int i = 0; i < count; i++)
		if (!strcmp(sessions[i].name, name)) {
			found = sessions[i].snapshot_mode ? FOUND_OURS : FOUND_FOREIGN;
			*active = sessions[i].enabled;
		}
	free(sessions);
	return found;
}

static int create(const struct config *config, const char *name)
{
	struct lttng_session_descriptor *descriptor = lttng_session_descriptor_snapshot_create(name);
	int code;

	if (!descriptor)
		return -LTTNG_ERR_NOMEM;
	newer_write_ctf_1(descriptor);
	code = -(int)lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	if (code != -LTTNG_OK)
		return code;
	code = beside_make_kernel(config, name);
	if (code != 0)
		lttng_destroy_session_no_wait(name);
	return code;
}

/* Whether its rings are as the configuration wants them: an agent with another one may have left it, or have
 * been killed before it had any. */
static bool fits(const struct config *config, const char *name)
{
	struct lttng_handle *handle = tracing_open_kernel(name);
	struct lttng_channel *wanted = handle ? lttng_channel_create(&handle->domain) : NULL,
			     *channels = NULL;
	int count = wanted ? lttng_list_channels(handle, &channels) : -LTTNG_ERR_NOMEM;
	bool as_wanted = false;

	if (wanted)
		channelsize_of(config, KERNEL_CHANNEL, &wanted->attr);
	for (int i = 0; i < count; i++)
		as_wanted |= !strcmp(channels[i].name, KERNEL_CHANNEL) &&
			     channels[i].attr.subbuf_size == wanted->attr.subbuf_size &&
			     channels[i].attr.num_subbuf == wanted->attr.num_subbuf;
	free(channels);
	if (wanted)
		lttng_channel_destroy(wanted);
	if (handle)
		lttng_destroy_handle(handle);
	return as_wanted;
}

/* It is there, and of the right size, afterwards; 0, or a negative code. */
static int make(const struct config *config, const char *name, enum found found)
{
	int code = found == FOUND_OURS ? lttng_destroy_session(name) : tracing_ask_kernel();

	return code == 0 ? create(config, name) : code;
}

static void keep(const struct config *config, const char *name, bool anew, struct problem *problem,
	const char **changed)
{
	bool active = false;
	enum found found = find(name, &active);
	int code = 0;

	/* what has failed is not tried at each look, but when it is due */
	if (found == FOUND_UNKNOWN || (found != FOUND_OURS && !anew && problem->reason != REASON_NONE))
		return;
	if (found == FOUND_FOREIGN) {
		problem_set(problem, REASON_KERNEL_FAILED,
			"the kernel is not recorded: there is already an LTTng session `%s` that this agent "
			"did "
			"not create, and it is left alone",
			name);
		return;
	}
	if (found == FOUND_NONE || (anew && !fits(config, name))) {
		code = make(config, name, found);
		if (code == 0 && !anew)
			*changed = "its flight recorder was destroyed";
		anew = true;
		active = false;
	}
	if (code == 0)
		beside_enable_kernel(config, name, anew, problem, changed);
	if (code == 0 && !active) {
		if (!anew)
			*changed = "its flight recorder was stopped";
		code = tracing_start(name);
	}
	if (code != 0)
		beside_explain_kernel(problem, code, NULL);
}

void flightsession_repair(
	const struct config *config, bool anew, struct problem *problem, const char **changed)
{
	char name[NAME_SIZE];
	bool active;

	name_of(config, name);
	if (config_flies(config) && beside_may_ask_kernel(config, anew, problem))
		keep(config, name, anew, problem, changed);
	else if (!config_flies(config) && anew && find(name, &active) == FOUND_OURS)
		lttng_destroy_session_no_wait(name);
}

bool flightsession_record(const struct config *config, const char *path, char *error, size_t error_size)
{
	LOCK_TRACING;
	struct lttng_snapshot_output *output = lttng_snapshot_output_create();
	char name[NAME_SIZE];
	int code = -LTTNG_ERR_NOMEM;

	if (!wellness_kernel_answers(config->tracing_group)) {
		lttng_snapshot_output_destroy(output);
		g_strlcpy(error, PROBLEM_KERNEL_CONSUMER_SILENT, error_size);
		return false;
	}
	tracing_prepare(config);
	name_of(config, name);
	if (output && lttng_snapshot_output_set_local_path(path, output) == 0)
		code = lttng_snapshot_record(name, output, 0);
	if (output)
		lttng_snapshot_output_destroy(output);
	if (code != 0)
		snprintf(error, error_size, "the LTTng session `%s` gives no snapshot: %s", name,
			lttng_strerror(code));
	return code == 0;
}

void flightsession_end(const struct config *config)
{
	LOCK_TRACING;
	char name[NAME_SIZE];
	bool active;

	tracing_prepare(config);
	name_of(config, name);
	if (find(name, &active) == FOUND_OURS)
		lttng_destroy_session_no_wait(name);
}
