/* SPDX-License-Identifier: BSD-2-Clause */
/* Standard output, which may be a pipe to somebody who has seen enough. */
#ifndef WRITE_OUT_H
#define WRITE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes all of it, and waits until that is done. Returns false if standard output does not take it: its
 * reader has seen enough, or else the error is logged, and in *@failed.
 */
bool write_out(const uint8_t *bytes, size_t size, bool *failed);

/* Writes what is still in stdout's buffer. False, after saying so, if not all that was printed could be
 * written, and somebody still wanted it. */
bool write_out_rest(void);

#endif
