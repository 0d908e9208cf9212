/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <glib.h>

#include "base/log.h"

/* The other screen, without a cursor, and without lines that are broken at its edge; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[H\033[2J"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static struct {
	struct termios before;
	bool begun;
	int signals;
	volatile sig_atomic_t over;
	struct buffer keys; /* that were pressed, and not taken */
} screen = {.signals = -1};

static void write_all(const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t written = write(STDOUT_FILENO, at, size);

		if (written < 0 && errno != EINTR)
			return;
		at += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
}

static void on_signal(int signal)
{
	const uint64_t one = 1;
	int error = errno;

	if (signal != SIGWINCH)
		screen.over = 1;
	if (write(screen.signals, &one, sizeof(one)) < 0)
		errno = error;
}

bool screen_is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

bool screen_begin(void)
{
	static const int signals[] = {SIGWINCH, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	struct sigaction action = {.sa_handler = on_signal};
	struct termios raw;

	screen.signals = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (screen.signals < 0 || tcgetattr(STDIN_FILENO, &screen.before) != 0) {
		log_error("the terminal cannot be used: %s", strerror(errno));
		return false;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &action, NULL);
	raw = screen.before;
	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | ISTRIP);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | IEXTEN | ISIG);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	screen.begun = true;
	write_all(ENTER, strlen(ENTER));
	return true;
}

void screen_end(void)
{
	if (!screen.begun)
		return;
	screen.begun = false;
	write_all(LEAVE, strlen(LEAVE));
	tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
	close(screen.signals);
	buffer_free(&screen.keys);
}

void screen_size(int *columns, int *lines)
{
	struct winsize size;

	*columns = 80;
	*lines = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row)
		return;
	*columns = size.ws_col;
	*lines = size.ws_row;
}

bool screen_is_over(void)
{
	return screen.over;
}

int screen_signals(void)
{
	return screen.signals;
}

/* Keys */

static const struct sequence {
	const char *bytes;
	unsigned key;
} sequences[] = {
	{"[A", KEY_UP},
	{"[B", KEY_DOWN},
	{"OA", KEY_UP},
	{"OB", KEY_DOWN},
	{"[5~", KEY_PAGE_UP},
	{"[6~", KEY_PAGE_DOWN},
	{"[H", KEY_HOME},
	{"[F", KEY_END},
	{"[1~", KEY_HOME},
	{"[4~", KEY_END},
	{"OH", KEY_HOME},
	{"OF", KEY_END},
};

static void drop(size_t size)
{
	memmove(screen.keys.data, screen.keys.data + size, screen.keys.size - size);
	screen.keys.size -= size;
}

/* How many bytes a sequence has that nobody knows: to its letter, or ~. */
static size_t unknown_size(const char *at, size_t size)
{
	size_t i = 1;

	while (i < size && (at[i] < '@' || at[i] > '~'))
		i++;
	return MIN(i + 1, size);
}

/* What ESC begins. */
static unsigned take_sequence(void)
{
	const char *at = (const char *)screen.keys.data + 1;
	size_t size = screen.keys.size - 1;

	if (!size || (*at != '[' && *at != 'O')) {
		drop(1);
		return KEY_ESCAPE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(sequences); i++) {
		size_t its = strlen(sequences[i].bytes);

		if (size < its || memcmp(at, sequences[i].bytes, its) != 0)
			continue;
		drop(1 + its);
		return sequences[i].key;
	}
	drop(1 + unknown_size(at, size));
	return KEY_OTHER;
}

unsigned screen_key(void)
{
	uint64_t count;
	ssize_t size = read(STDIN_FILENO, buffer_reserve(&screen.keys, 256), 256);
	gunichar c;

	screen.keys.size += size > 0 ? (size_t)size : 0;
	if (read(screen.signals, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return KEY_NONE;
	if (!screen.keys.size)
		return KEY_NONE;
	if (screen.keys.data[0] == KEY_ESCAPE)
		return take_sequence();
	c = g_utf8_get_char_validated((const char *)screen.keys.data, (gssize)screen.keys.size);
	if (c == (gunichar)-2) /* the rest of it is still to come */
		return KEY_NONE;
	if (c == (gunichar)-1) {
		drop(1);
		return KEY_OTHER;
	}
	drop((size_t)g_unichar_to_utf8(c, NULL));
	return c;
}

/* Drawing */

void screen_draw(const struct buffer *text)
{
	const char *at = (const char *)text->data, *end = at + text->size;
	struct buffer out = {0};
	int columns, lines;

	screen_size(&columns, &lines);
	buffer_printf(&out, "\033[H");
	for (int i = 0; i < lines && at < end; i++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		buffer_printf(&out, i ? "\r\n" : "");
		buffer_put(&out, at, (size_t)(stop - at));
		buffer_printf(&out, "\033[K");
		at = stop + (stop < end);
	}
	buffer_printf(&out, "\033[J");
	write_all(out.data, out.size);
	buffer_free(&out);
}
