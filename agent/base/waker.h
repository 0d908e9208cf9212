/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Wakes a thread's event loop from another thread. event_active() does that too, but holds the loop's lock
 * while it does, for which the thread that it wakes then waits.
 */
#ifndef BASE_WAKER_H
#define BASE_WAKER_H

struct event_base;
struct waker;

/* @woken(@data) is called in the thread that runs @base, once for all calls of waker_wake before it. */
struct waker *waker_create(struct event_base *base, void (*woken)(void *data), void *data);

/* In the thread that runs the loop, or when it has ended; nobody calls waker_wake any more. NULL is ignored.
 */
void waker_destroy(struct waker *waker);

/* Any thread. */
void waker_wake(struct waker *waker);

#endif
