/* SPDX-License-Identifier: BSD-2-Clause */
/* The `blkin` command: finds the subcommand and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sysexits.h>

#include "base/suggest.h"
#include "commands.h"
#include "write_out.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"collect", command_collect, "receive spans over Scribe or HTTP, and print them as trees or JSON"},
	{"import", command_import, "send or print the spans in traces and files on disk"},
	{"page", command_page, "print the address of the agent's page"},
	{"report", command_report, "gather what is needed to find out what is wrong, for who helps"},
	{"sampling", command_sampling, "set how many traces the programs of this node record"},
	{"spool", command_spool, "list, check or discard the spans that wait on disk"},
	{"status", command_status, "show how the agent of this node is doing"},
	{"tail", command_tail, "show the spans of this node as they finish"},
	{"top", command_top, "show how many spans there are, how long they take, which fail"},
	{"validate", command_validate, "check the agent's configuration file"},
	{"why", command_why, "say why a span was slow, by the kernel's events of its thread"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int print_help(void)
{
	printf("Usage: blkin COMMAND [OPTION]...\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	printf("\nSee `blkin COMMAND --help`, or blkin(1).\n");
	return EX_OK;
}

static int tell_unknown(const char *word)
{
	const char *names[COMMANDS], *nearest;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	nearest = suggest(word, names, COMMANDS);
	fprintf(stderr, "blkin: unknown %s %s; ", *word == '-' ? "option" : "command", word);
	if (nearest)
		fprintf(stderr, "did you mean `blkin %s`?\n", nearest);
	else
		fprintf(stderr, "`blkin --help` lists the commands\n");
	return EX_USAGE;
}

/* What it printed may not fit on a disk, which shows at the end. */
static int run(const struct command *command, int argc, char **argv)
{
	int code = command->run(argc, argv);

	return code == EX_OK && !write_out_rest() ? EXIT_FAILURE : code;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		fprintf(stderr, "blkin: a command is missing; `blkin --help` lists the commands\n");
		return EX_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return print_help();
	if (strcmp(word, "--version") == 0) {
		printf("blkin %s\n", BLKIN_VERSION);
		return EX_OK;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(word, commands[i].name) == 0)
			return run(&commands[i], argc - 1, argv + 1);
	return tell_unknown(word);
}
