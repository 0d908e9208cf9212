/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files: zipkin-20261123T012643Z-1.jsonl, by what the lines are, and the time at which the file was
 * begun. One that is being written is .zipkin-20261123T012643Z-1.jsonl.part, which no pattern of a consumer
 * takes.
 *
 * Files of spans, of events and of messages may be in one folder; who writes those of one kind leaves the
 * others alone.
 */
#ifndef OUTPUT_FILE_FILENAMES_H
#define OUTPUT_FILE_FILENAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/kind.h"

#define FILENAMES_SIZE 64

/* What a file's lines are. */
enum filelines_are {
	FILELINES_ZIPKIN,   /* spans, "zipkin", */
	FILELINES_OTLP,     /* and "otlp" */
	FILELINES_EVENTS,   /* "events" */
	FILELINES_MESSAGES, /* "messages" */
	FILELINES
};

enum kind filelines_kind(enum filelines_are lines);

struct filename {
	int64_t begun;   /* seconds since the epoch */
	uint32_t number; /* from 1: of those that were begun in the same second */
	bool part;
	enum filelines_are lines;
};

struct filename_found {
	struct filename name;
	int64_t size;
};

void filename_print(const struct filename *name, char text[FILENAMES_SIZE]);

/* False if it is no such name. */
bool filename_parse(const char *text, struct filename *name);

/* The finished files of a kind in a folder, or the unfinished ones (of struct filename_found), the oldest
 * first. NULL with errno if the folder cannot be read. */
GArray *filenames_list(int folder, enum kind kind, bool part);

#endif
