/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands of `blkin`: one file each, named in the table of blkin.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

/* Each gets its own arguments, argv[0] being its name, and returns the exit code (see sysexits.h). */
int command_collect(int argc, char **argv);
int command_import(int argc, char **argv);
int command_page(int argc, char **argv);
int command_report(int argc, char **argv);
int command_sampling(int argc, char **argv);
int command_spool(int argc, char **argv);
int command_status(int argc, char **argv);
int command_tail(int argc, char **argv);
int command_top(int argc, char **argv);
int command_validate(int argc, char **argv);
int command_why(int argc, char **argv);

#endif
