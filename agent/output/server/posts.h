/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire of the types that post batches over HTTP. */
#ifndef OUTPUT_SERVER_POSTS_H
#define OUTPUT_SERVER_POSTS_H

#include "net/httppost.h"
#include "output/uplink/uplink.h"

/* @tells_via: as httppost.h has it. */
struct wire *posts_create_wire(const struct uplink_options *options, const struct address *address,
	httppost_reader *read_reply, bool tells_via);

#endif
