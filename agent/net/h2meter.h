/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of HTTP/2 that are work and bring nothing, counted as their bytes come, before a library sees them:
 * floods of SETTINGS, PING, RST_STREAM (CVE-2023-44487), CONTINUATION (CVE-2024-28182) and the like. Each
 * costs something of what a connection may spend, which time gives back, and so does each call that comes
 * whole. libnghttp2's own limits differ from version to version, and some of them see one kind only. Nor does
 * it tell what headers take that are on their way.
 */
#ifndef NET_H2METER_H
#define NET_H2METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that come before the first frame. */
#define H2METER_PREFACE 24

/* Zeroed, it is at a connection's beginning. */
struct h2meter {
	uint8_t head[9]; /* of a frame, as far as it is there */
	unsigned head_size, continuations;
	uint32_t left;                 /* of a frame */
	size_t preface;                /* bytes of it that are gone by */
	bool in_headers, ends_headers; /* the frame is of a call's headers, and their last one */
	size_t headers;                /* bytes of headers that are not whole, */
	size_t announced;              /* and with those that are to come in this frame */
	int64_t spent;                 /* in ns of what time gives back */
	int64_t settled;               /* when that was */
};

/* Counts what has come at @now, CLOCK_MONOTONIC ns; false if it is too much. */
bool h2meter_count(struct h2meter *meter, const uint8_t *data, size_t size, int64_t now);

/* A call has come whole. */
void h2meter_reward(struct h2meter *meter);

#endif
