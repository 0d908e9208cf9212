/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/kernelnames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "config/globs.h"

static GPtrArray *names_of(const struct lttng_event *events, int count)
{
	GPtrArray *names = count >= 0 ? g_ptr_array_new() : NULL;

	for (int i = 0; i < count; i++)
		g_ptr_array_add(names, (char *)(uintptr_t)events[i].name);
	return names;
}

int kernelnames_ask(struct kernelnames *names, struct lttng_handle *handle, const struct config *config)
{
	int count = lttng_list_tracepoints(handle, &names->listed[0]), code = MIN(count, 0);

	names->events = names_of(names->listed[0], count);
	if (code == 0 && *config->kernel_syscalls) {
		count = lttng_list_syscalls(&names->listed[1]);
		names->syscalls = names_of(names->listed[1], count);
	}
	return code;
}

void kernelnames_free(struct kernelnames *names)
{
	g_clear_pointer(&names->events, g_ptr_array_unref);
	g_clear_pointer(&names->syscalls, g_ptr_array_unref);
	for (size_t i = 0; i < G_N_ELEMENTS(names->listed); i++)
		free(names->listed[i]);
}

/* "ADDRESS TYPE NAME", and a tab with the module's name in brackets: types t and w are functions. */
static const char *function_of(char *line)
{
	char *type = strchr(line, ' '), *name = type ? strchr(type + 1, ' ') : NULL;

	if (!name || !strchr("tTwW", type[1]))
		return NULL;
	name[1 + strcspn(name + 1, "\t\n")] = 0;
	return name + 1;
}

GPtrArray *kernelnames_functions(const char *path)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		const char *name = function_of(line);

		if (name)
			g_ptr_array_add(names, g_strdup(name));
	}
	free(line);
	if (file)
		fclose(file);
	if (!names->len)
		g_clear_pointer(&names, g_ptr_array_unref);
	return names;
}

static bool is_among(const GPtrArray *names, const char *pattern)
{
	for (guint i = 0; i < names->len; i++)
		if (g_pattern_match_simple(pattern, names->pdata[i]))
			return true;
	return false;
}

/* Of a pattern what is before its first `*` is compared with names cut to that length; the caller's, or NULL.
 */
static char *similar(const GPtrArray *names, const char *pattern)
{
	size_t length = strcspn(pattern, "*");
	g_autofree char *word = g_strndup(pattern, length);
	g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
	const char *like;

	for (guint i = 0; i < names->len; i++)
		g_ptr_array_add(words,
			pattern[length] ? g_strndup(names->pdata[i], length) : g_strdup(names->pdata[i]));
	like = suggest(word, (const char *const *)words->pdata, words->len);
	return like ? g_strconcat(like, pattern + length, NULL) : NULL;
}

GPtrArray *kernelnames_unknown(const GPtrArray *names, const char *globs)
{
	GPtrArray *said = g_ptr_array_new_with_free_func(g_free);
	g_auto(GStrv) patterns = globs_split(globs);

	for (char **pattern = patterns; names && *pattern; pattern++) {
		g_autofree char *like = NULL;

		if (is_among(names, *pattern))
			continue;
		like = similar(names, *pattern);
		if (like)
			g_ptr_array_add(said,
				g_strdup_printf(
					"`%.200s` of [kernel] records nothing: this kernel has nothing of "
					"that name; is `%.200s` meant?",
					*pattern, like));
		else
			g_ptr_array_add(said,
				g_strdup_printf(
					"`%.200s` of [kernel] records nothing: this kernel has nothing of "
					"that name",
					*pattern));
	}
	return said;
}
