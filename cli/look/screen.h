/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal, while a command draws on all of it: keys come one by one, and what was there before is there
 * again afterwards, however the command ends but for SIGKILL. One at a time.
 */
#ifndef LOOK_SCREEN_H
#define LOOK_SCREEN_H

#include <stdbool.h>

#include "base/buffer.h"

/* Keys that are no characters. */
enum {
	KEY_NONE = 0x110000, /* beyond all of Unicode; KEY_NONE: there is none */
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_OTHER
};

#define KEY_ESCAPE 27
#define KEY_ENTER 13
#define KEY_DELETE 127
#define KEY_INTERRUPT 3
#define KEY_REDRAW 12

/* Whether input and output are a terminal that can be drawn on. */
bool screen_is_there(void);

/* False, having said why, if the terminal cannot be had. */
bool screen_begin(void);
void screen_end(void);

/* Its columns and lines now. */
void screen_size(int *columns, int *lines);

/* Whether a signal asked the command to end. */
bool screen_is_over(void);

/* Becomes readable when a signal came, also that of a new size; screen_key takes note of it. */
int screen_signals(void);

/* The next key that was pressed, without waiting: a character of Unicode, or one of the above. */
unsigned screen_key(void);

/* Draws lines from the top, at most as many as there are; the rest of the screen becomes empty. */
void screen_draw(const struct buffer *text);

#endif
