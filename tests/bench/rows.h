/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracing costs is measured with these calls: the floor, and what BlkKin does. */
#ifndef ROWS_H_
#define ROWS_H_

#include <stdbool.h>

#include <blkin/blkin.h>

/* What is traced. */
struct subject {
	struct blkin_endpoint here;
	struct blkin_trace trace;
	struct blkin_context parent, unsampled;
	const char *event, *object, *pool;
};

struct row {
	const char *name;
	void (*call)(const struct subject *subject);
	unsigned records; /* events a call */
};

extern const struct row rows_on[], rows_off[]; /* they end with a name that is NULL */

void fill_subject(struct subject *subject);

/* Waits until a session records all that the rows do, or sees that none records any of it; false: it is not
 * so. */
bool rows_ready(bool on);

#endif
