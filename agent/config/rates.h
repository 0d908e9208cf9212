/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampling rates that `blkin sampling` sets. They are in two places: the page, a file that programs have
 * mapped, which is in memory and gone with a boot; and a file of lines that keeps them over it:
 *
 *     1/100
 *     1/1 osd.3
 *
 * A rate, and the service that it is for; without one it is for all others. Once after each boot, the rates
 * are copied to the page; a marker beside the page says that it was done.
 *
 * In memory they are a table of thresholds by service, those of the page; "" is every other service.
 */
#ifndef CONFIG_RATES_H
#define CONFIG_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct sampling_page;

#define RATES_KEPT_FILE "/etc/blkin/sampling"

/* 1/N, off or default; false if it is none. The threshold is 0 for default. */
bool rates_parse(const char *text, uint64_t *threshold);

/* The other way round; the caller's to g_free. */
char *rates_text(uint64_t threshold);

/*
 * Reads the rates that are kept; none, if the file does not exist. NULL, having logged why, if it cannot be
 * read or has a line that is no rate.
 */
GHashTable *rates_read(const char *kept);

/* Sets a rate among those that are read; 0, for default, removes it. */
void rates_set(GHashTable *rates, const char *service, uint64_t threshold);

/* The rate of a service; 0 if there is none. */
uint64_t rates_get(GHashTable *rates, const char *service);

/* Keeps the rates, and removes the file if there are none. Returns -1 having logged why it failed. */
int rates_write(const char *kept, GHashTable *rates);

/*
 * To be held while the page at @path, or what is kept, is changed: a lock in a file beside the page. Waits
 * some seconds for others. Returns a descriptor to close, or -1, having logged why.
 */
int rates_lock(const char *path);

/* Maps the page; NULL, having logged why, if that fails. @writable creates it if it does not exist. */
struct sampling_page *rates_open_page(const char *path, bool writable);
void rates_close_page(struct sampling_page *page);

/*
 * Sets a service's rate ("": every service's) in the page; -1 if the page is full. An entry without a rate
 * becomes another service's.
 */
int rates_set_in_page(struct sampling_page *page, const char *service, uint64_t threshold);

/* Whether there is room for a service's rate, in the page and among those that are kept (NULL: it is not to
 * be); logs if not. */
bool rates_have_room(struct sampling_page *page, GHashTable *kept, const char *service, uint64_t threshold);

/* Copies the rates that are kept to the page, unless that was done since the boot. Returns -1 having logged
 * what failed. */
int rates_restore(const char *page, const char *kept);

#endif
