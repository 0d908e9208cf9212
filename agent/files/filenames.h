/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files with spans: zipkin-20261123T012643Z-1.jsonl, by the time at which the file was begun, or
 * otlp-20261123T012643Z-1.jsonl, by what the lines are. One
 * that is being written is .zipkin-20261123T012643Z-1.jsonl.part, which no pattern of a consumer takes.
 */
#ifndef FILES_FILENAMES_H
#define FILES_FILENAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#define FILENAMES_SIZE 64

struct filename {
	int64_t begun;   /* seconds since the epoch */
	uint32_t number; /* from 1: of those that were begun in the same second */
	bool part;
	bool otlp; /* or else Zipkin's */
};

struct filename_found {
	struct filename name;
	int64_t size;
};

void filename_print(const struct filename *name, char text[FILENAMES_SIZE]);

/* False if it is no such name. */
bool filename_parse(const char *text, struct filename *name);

/* The finished files in a folder, or the unfinished ones (of struct filename_found), the oldest first. NULL
 * with errno if the folder cannot be read. */
GArray *filenames_list(int folder, bool part);

#endif
