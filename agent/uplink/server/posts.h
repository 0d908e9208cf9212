/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire of the types that post batches over HTTP. */
#ifndef UPLINK_POSTS_H
#define UPLINK_POSTS_H

#include "uplink/uplink.h"
#include "wire/httppost.h"

struct wire *posts_create_wire(
	const struct uplink_options *options, const struct address *address, httppost_reader *read_reply);

#endif
