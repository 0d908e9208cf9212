/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem */
#include "trace/batch.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "fuzz.h"
#include "trace/by_import.h"
#include "trace/by_recovery.h"
#include "trace/witness.h"

#define GOOD_USER 4999
#define FIRST_USER 5000
#define DIGITS 4
#define USER_KEY "tracer_buffering_id = "

static char *output, *session;

static char *folder_of(unsigned user)
{
	return g_strdup_printf("%s/ust/uid/%u/64-bit", session, user);
}

static void set_user(trace_files *trace, unsigned user)
{
	struct trace_file *file = trace_find(trace, "metadata");
	uint8_t *key = file && file->bytes->len
			       ? memmem(file->bytes->data, file->bytes->len, USER_KEY, strlen(USER_KEY))
			       : NULL;
	char text[16];

	if (!key || key + strlen(USER_KEY) + DIGITS > file->bytes->data + file->bytes->len)
		return;
	snprintf(text, sizeof(text), "%0*u", DIGITS, user);
	memcpy(key + strlen(USER_KEY), text, DIGITS);
}

void batch_name_user(trace_files *trace, unsigned index)
{
	set_user(trace, FIRST_USER + index);
}

static void remove_folder(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		if (g_unlink(child) != 0)
			remove_folder(child);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(path);
}

void batch_learn(trace_files *good)
{
	g_autofree char *folder = NULL, *said = NULL;

	output = g_build_filename(fuzz_folder(), "relay", NULL);
	session = recovery_folder(output);
	folder = folder_of(GOOD_USER);
	set_user(good, GOOD_USER);
	trace_write_folder(good, folder);
	witness_create();
	witness->learning = true;
	said = import_folder(session, true);
	witness->learning = false;
	witness_hold(witness->good > 0 && witness->good < GOOD_MAX, "the good trace has spans: %s", said);
	recover_output(output);
	fuzz_hold(!witness->wrong[0], witness->wrong);
}

/* Of "blkin import: .../USER/64-bit: left out, as ...: REASON". */
static char *find_reason(const char *said, unsigned user)
{
	g_autofree char *mark = g_strdup_printf("/%u/64-bit: ", user);
	const char *at = strstr(said, mark);

	return at ? g_strndup(at + strlen(mark), strcspn(at + strlen(mark), "\n")) : NULL;
}

bool batch_run(struct batch_of_traces *batch)
{
	g_autofree char *said = NULL;

	for (unsigned i = 0; i < batch->count; i++) {
		g_autofree char *folder = folder_of(FIRST_USER + i);

		remove_folder(folder);
		trace_write_folder(batch->trace[i], folder);
	}
	for (unsigned i = batch->count; i < BATCH_TRACES; i++) {
		g_autofree char *folder = folder_of(FIRST_USER + i);

		remove_folder(folder);
	}
	said = import_folder(session, false);
	for (unsigned i = 0; i < batch->count; i++)
		batch->reason[i] = find_reason(said, FIRST_USER + i);
	if (witness->wrong[0])
		fprintf(stderr, "%s", said);
	else
		recover_output(output);
	return !witness->wrong[0];
}

void batch_clean(void)
{
	remove_folder(output);
	g_free(output);
	g_free(session);
}

void batch_empty(struct batch_of_traces *batch)
{
	for (unsigned i = 0; i < batch->count; i++) {
		g_ptr_array_unref(batch->trace[i]);
		g_free(batch->reason[i]);
	}
	memset(batch, 0, sizeof(*batch));
}
