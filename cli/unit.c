/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <pwd.h>
#include <string.h>

#define AGENT_USER "blkin"

static const char *const command[] = {"systemctl", "show", "blkin-agent.service",
	"--property=LoadState,User,ProtectSystem,ProtectHome,PrivateTmp,ReadWritePaths,StateDirectory,"
	"RuntimeDirectory",
	NULL};

/* Adds folders, separated by spaces; those below @base, if that is not NULL, are made. */
static void add_folders(struct unit *unit, const char *base, const char *list)
{
	g_auto(GStrv) names = g_strsplit(list, " ", -1);

	for (char **name = names; *name; name++) {
		const char *bare = *name + strspn(*name, "-+");

		if (!*bare)
			continue;
		g_ptr_array_add(unit->writes, base ? g_build_filename(base, bare, NULL) : g_strdup(bare));
		if (base)
			g_ptr_array_add(unit->makes, g_build_filename(base, bare, NULL));
	}
}

static void take_property(struct unit *unit, const char *name, const char *value)
{
	if (!strcmp(name, "User")) {
		g_free(unit->user);
		unit->user = g_strdup(value);
	} else if (!strcmp(name, "ProtectSystem")) {
		unit->strict = !strcmp(value, "strict");
	} else if (!strcmp(name, "ProtectHome")) {
		unit->no_home = !strcmp(value, "yes") || !strcmp(value, "tmpfs");
	} else if (!strcmp(name, "PrivateTmp")) {
		unit->own_tmp = strcmp(value, "no") != 0;
	} else if (!strcmp(name, "ReadWritePaths")) {
		add_folders(unit, NULL, value);
	} else if (!strcmp(name, "StateDirectory")) {
		add_folders(unit, "/var/lib", value);
	} else if (!strcmp(name, "RuntimeDirectory")) {
		add_folders(unit, "/run", value);
	}
}

void unit_read(struct unit *unit)
{
	g_autofree char *told = NULL;
	int code = -1;

	*unit = (struct unit){.writes = g_ptr_array_new_with_free_func(g_free),
		.makes = g_ptr_array_new_with_free_func(g_free)};
	if (getpwnam(AGENT_USER))
		unit->user = g_strdup(AGENT_USER);
	if (g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
		    NULL, &told, NULL, &code, NULL) &&
		code == 0 && strstr(told, "LoadState=loaded")) {
		g_auto(GStrv) lines = g_strsplit(told, "\n", -1);

		for (char **line = lines; *line; line++) {
			char *value = strchr(*line, '=');

			if (!value)
				continue;
			*value = '\0';
			take_property(unit, *line, value + 1);
		}
	}
}

void unit_free(struct unit *unit)
{
	g_free(unit->user);
	g_ptr_array_unref(unit->writes);
	g_ptr_array_unref(unit->makes);
}

static bool is_below(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	return g_str_has_prefix(path, folder) && (path[size] == '/' || path[size] == '\0');
}

const char *unit_hides(const struct unit *unit, const char *path)
{
	if (unit->no_home &&
		(is_below(path, "/home") || is_below(path, "/root") || is_below(path, "/run/user")))
		return "the unit does not see it there (ProtectHome=): move it, to /etc/blkin for example";
	if (unit->own_tmp && (is_below(path, "/tmp") || is_below(path, "/var/tmp")))
		return "the unit has a /tmp of its own (PrivateTmp=): move it, to /etc/blkin for example";
	return NULL;
}

const char *unit_protects(const struct unit *unit, const char *path)
{
	const char *hidden = unit_hides(unit, path);

	for (guint i = 0; i < unit->writes->len; i++)
		if (is_below(path, g_ptr_array_index(unit->writes, i)))
			return NULL;
	if (hidden)
		return hidden;
	return unit->strict ? "the unit may not write there (ProtectSystem=): add it as ReadWritePaths= "
			      "(systemctl edit blkin-agent), and restart the agent"
			    : NULL;
}

bool unit_makes(const struct unit *unit, const char *folder)
{
	for (guint i = 0; i < unit->makes->len; i++)
		if (!strcmp(folder, g_ptr_array_index(unit->makes, i)))
			return true;
	return false;
}
