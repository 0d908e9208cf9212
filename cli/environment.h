/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environment that the unit gives the agent, for `${NAME}` in its configuration: commands read the same
 * configuration, and are started by people whose environment is another one.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#define ENVIRONMENT_FILE "/etc/default/blkin-agent"

/*
 * Adds the variables in @path that the environment lacks. The format is that of systemd's EnvironmentFile=,
 * but for lines that go on after a backslash. A file that is not there, or that may not be read, is empty.
 */
void environment_add(const char *path);

#endif
