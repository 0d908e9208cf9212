/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of output: how each delivers, and is tried. A type's folder has its own code, and its descriptor
 * in type.c; config/outputtype.h has the other one, of what is known without delivering.
 */
#ifndef OUTPUT_UPLINK_UPLINKTYPE_H
#define OUTPUT_UPLINK_UPLINKTYPE_H

#include <event2/event.h>

#include "net/tls.h"
#include "net/wire.h"
#include "output/uplink/uplink.h"

/* What uplink.h says, of one kind of uplink: to servers, to Kafka, into files. */
struct uplink_kind {
	void (*destroy)(struct uplink *uplink);
	void (*wake)(struct uplink *uplink);
	void (*ask)(struct uplink *uplink); /* NULL: there is nobody to ask */
	void (*when_drained)(struct uplink *uplink, void (*done)(void *data), void *data);
	void (*read_state)(const struct uplink *uplink, struct uplink_state *state);
};

/* The first member of each kind's own. */
struct uplink {
	const struct uplink_kind *kind;
};

struct probe;

struct uplink_type {
	enum batch_format spans;  /* of spans, if the key `format` does not say it, */
	enum batch_format events; /* and of events; messages are sent as they came */

	/* Whether it looks into each span that it sends: a record is read sooner than what was made of it.
	 * NULL: it does not. */
	bool (*looks)(const struct output_config *output);

	/* NULL, having logged why, if it cannot be had; of none there is none. */
	struct uplink *(*create)(
		struct event_base *base, struct queue *queue, const struct uplink_options *options);

	/* Of what is sent to servers (server/servers.h): how. */
	struct wire *(*wire)(const struct uplink_options *options, const struct address *address);

	/* Begins to send @run to each place that there is, and returns how many; NULL: there is nothing to
	 * send to. The options and @run are borrowed for the probes' life. */
	size_t (*probe)(struct event_base *base, const struct uplink_options *options, const struct run *run,
		struct probe *probes[ADDRESSES_MAX]);

	/* Whether a library is there that is loaded by whoever needs it, or @why not; NULL: none is needed.
	 */
	bool (*check_library)(char *why, size_t size);
};

/* By enum config_output; config/outputtypes.h lists them. */
extern const struct uplink_type *const uplink_types[CONFIG_OUTPUT_TYPES];

/* What the output has of TLS, NULL for none; false, having logged why, if its files do not do. */
bool uplink_create_tls(const struct uplink_options *options, struct tls **tls);

/* The format in which the output sends items of the kind. */
enum batch_format uplink_format(const struct output_config *output, enum kind kind);

#endif
