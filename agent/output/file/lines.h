/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches as lines for files: items in JSON are lines already, those of OTLP become JSON, each with its
 * resource, and so do Scribe's messages (encode/messagejson.h). */
#ifndef OUTPUT_FILE_LINES_H
#define OUTPUT_FILE_LINES_H

#include "net/payload.h"
#include "queue/batch.h"

struct filelines {
	struct payload *payload; /* of OTLP's; NULL: others */
	bool messages;           /* they are messages, and not lines already */
	struct batch *lines;     /* of the last call */
};

void filelines_init(struct filelines *lines, enum batch_format format);
void filelines_free(struct filelines *lines);

/* A line for each item, one for one; an empty one for an item that is damaged. Valid until the next call. */
const struct batch *filelines_of(struct filelines *lines, const struct batch *batch);

/* Frees what the last call returned. */
void filelines_clear(struct filelines *lines);

#endif
