/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/user.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"

static char *state_folder(void)
{
	return g_build_filename(g_get_user_state_dir(), "blkin", NULL);
}

/* Without a session of the system's there is no folder for sockets: they are with the state then. */
static char *runtime_folder(void)
{
	g_autofree char *state = state_folder();

	return getenv("XDG_RUNTIME_DIR") ? g_build_filename(g_get_user_runtime_dir(), "blkin", NULL)
					 : g_build_filename(state, "run", NULL);
}

char *user_config_file(void)
{
	return g_build_filename(g_get_user_config_dir(), "blkin", "agent.conf", NULL);
}

char *user_sampling_page(void)
{
	g_autofree char *runtime = runtime_folder();

	return g_build_filename(runtime, "sampling", NULL);
}

char *user_sampling_file(void)
{
	g_autofree char *state = state_folder();

	return g_build_filename(state, "sampling", NULL);
}

/* Takes @value over. */
static void set(char **text, char *value)
{
	g_free(*text);
	*text = value;
}

void user_set_defaults(struct config *config)
{
	g_autofree char *state = state_folder(), *runtime = runtime_folder();

	set(&config->http, g_strdup(""));
	set(&config->socket, g_build_filename(runtime, "agent.sock", NULL));
	set(&config->state_directory, g_strdup(state));
	set(&config->tracing_group, g_strdup(""));
	set(&config->relay_output, g_build_filename(state, "relay", NULL));
	config->relay_control_port = config->relay_data_port = config->relay_live_port = 0;
	config->keep = 0;
}

static int make_folder(const char *path)
{
	if (g_mkdir_with_parents(path, 0700) == 0)
		return 0;
	log_error("cannot make the folder %s: %s", path, g_strerror(errno));
	return -1;
}

int user_make_folders(const struct config *config)
{
	g_autofree char *socket = g_path_get_dirname(config->socket), *runtime = runtime_folder();

	if ((*config->socket && make_folder(socket) != 0) || make_folder(runtime) != 0)
		return -1;
	return make_folder(config->state_directory) != 0 || make_folder(config->relay_output) != 0 ? -1 : 0;
}
