/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef UNIT_H
#define UNIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Sends contexts to itself in every form; returns how many came back. */
int contexts(void);

/* Makes BlkKin's classic calls; returns how many failed. */
int classic(void);

#ifdef __cplusplus
}
#endif

#endif
