/* SPDX-License-Identifier: BSD-2-Clause */
/* What `blkin status` finds out by itself, and the agent cannot (ask_lttng.h). */
#ifndef CENSUS_H
#define CENSUS_H

#include <stdbool.h>

/* What is known of the programs on the node, and of their events. Zeros: nothing is. */
struct census {
	bool known;                 /* the programs were counted, and all could be looked at */
	int programs;               /* registered with LTTng */
	int blkin;                  /* of these, with blkin's provider */
	char other[64];             /* one of the rest, for an example; printable */
	int stopped;                /* of those that could be seen, */
	char stopped_names[256];    /* and the first of them by name, process and user; printable */
	int unrecorded;             /* with blkin, for a while, and without a ring buffer, */
	char unrecorded_names[256]; /* and the first of them, as above */
	int holders;                /* processes that keep others from being registered, if any wait, */
	char holder_names[256];     /* and the first of them by name, process and user; printable */
	int strangers;              /* programs that look for an LTTng of another version, */
	char stranger[64];          /* one of them, for an example; printable */
	int stranger_interface, interface; /* what it looks for, and what the session daemon has */
	bool events_off;                   /* the session has none of ours enabled */
	bool sampling_off;                 /* of every service */
};

#endif
