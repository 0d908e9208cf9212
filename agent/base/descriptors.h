/* SPDX-License-Identifier: BSD-2-Clause */
/* How many files and sockets the process may have open. */
#ifndef BASE_DESCRIPTORS_H
#define BASE_DESCRIPTORS_H

/* Raises the limit to @wanted if it is lower, as far as the system lets it; returns what it is then. */
unsigned long descriptors_raise(unsigned long wanted);

#endif
