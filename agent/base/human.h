/* SPDX-License-Identifier: BSD-2-Clause */
/* Sizes and times as people read them. */
#ifndef BASE_HUMAN_H
#define BASE_HUMAN_H

#include <stdint.h>

/* Room for each, with its unit and a NUL. */
#define HUMAN_MAX 32

/* "0", "96 KiB", "67.1 MiB", "1 GiB": returns @text. */
const char *human_size(char text[HUMAN_MAX], uint64_t bytes);

/* "0 s", "200 ms", "2.5 s", "90 s", "10 min", "3 h", "2 days"; returns @text. */
const char *human_time(char text[HUMAN_MAX], int64_t ns);

/* A moment, of the node's own zone: "2026-11-28 14:03". @seconds since the epoch; returns @text. */
const char *human_moment(char text[HUMAN_MAX], int64_t seconds);

#endif
