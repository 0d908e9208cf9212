/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/live.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sysexits.h>

#include "base/clock.h"
#include "base/log.h"
#include "look/fetch.h"
#include "look/fit.h"
#include "look/heading.h"
#include "look/screen.h"
#include "look/table.h"

#define SECONDS_MIN 0.5
#define SECONDS_MAX 60
#define FILTER_MAX 100
/* Lines above the table's rows, and below them. */
#define LINES_ABOVE 4
#define LINES_BELOW 1

struct live {
	const char *path;
	struct fetch *fetch;
	struct ranking ranking;
	double seconds; /* between two looks */
	char filter[FILTER_MAX + 8];
	bool typing; /* the filter */
	bool whole;  /* since the agent began, instead of since the last look */
	bool paused, helping, over;
	bool away, strange;     /* the agent */
	int64_t next;           /* look, CLOCK_MONOTONIC ns */
	struct buffer answer;   /* the last one */
	struct snapshot before; /* the last but one */
	bool has_before;
	struct snapshot shown; /* of which rows are made */
	guint first, page;     /* row that is drawn, and how many there are at most */
	guint rows;
};

/* What the agent says */

/* What is shown is made of the last answer, and the one before it. */
static void make_shown(struct live *live)
{
	struct unpacker from = unpacker_of(live->answer.data, live->answer.size);
	struct snapshot now;

	if (!snapshot_unpack(&from, &now)) {
		snapshot_clear(&now);
		live->strange = true;
		return;
	}
	if (!live->whole && live->has_before)
		snapshot_subtract(&now, &live->before);
	snapshot_clear(&live->shown);
	live->shown = now;
}

/* The answer of before becomes what the next one is told apart from, if it is of the same agent. */
static void take_answer(struct live *live)
{
	struct buffer answer = {0};
	struct snapshot now, before;
	struct unpacker from;
	bool had = live->answer.size > 0;

	if (!fetch_take(live->fetch, &answer))
		return;
	live->away = !answer.size;
	if (live->away) {
		buffer_free(&answer);
		return;
	}
	from = unpacker_of(live->answer.data, live->answer.size);
	if (had && !snapshot_unpack(&from, &before))
		had = false;
	from = unpacker_of(answer.data, answer.size);
	live->strange = !snapshot_unpack(&from, &now);
	snapshot_clear(&live->before);
	live->has_before = had && before.began == now.began;
	if (live->has_before)
		live->before = before;
	else if (had)
		snapshot_clear(&before);
	snapshot_clear(&now);
	buffer_free(&live->answer);
	live->answer = answer;
	if (!live->strange)
		make_shown(live);
}

/* Drawing */

static void put_line(struct buffer *out, int width, const char *text)
{
	fit_put(out, text, width);
	buffer_printf(out, "\n");
}

static void put_head(struct buffer *out, const struct live *live, int width, bool colour)
{
	g_autofree char *text = NULL;
	g_autofree char *every = g_strdup_printf("every %g s", live->seconds);

	if (live->away || live->strange) {
		text = g_strdup_printf("! %s %s",
			live->strange ? "the agent is of another version:"
				      : "no agent answers, waiting for it:",
			live->path);
		buffer_printf(out, colour ? "\033[1;31m" : "");
		fit_put(out, text, width);
		buffer_printf(out, colour ? "\033[0m\n" : "\n");
		return;
	}
	text = g_strdup_printf("blkin top: %s, %s, by %s%s%s%s%s",
		live->ranking.programs ? "programs" : "names",
		live->paused                       ? "paused"
		: live->whole || !live->has_before ? "since the agent began"
						   : every,
		ranking_keys[live->ranking.key], live->ranking.reverse ? ", reversed" : "",
		*live->filter || live->typing ? ", filter: " : "", live->filter, live->typing ? "_" : "");
	put_line(out, width, text);
}

static void put_foot(struct buffer *out, const struct live *live, int width)
{
	g_autofree char *text = NULL;
	guint last = MIN(live->first + live->page, live->rows);

	if (live->typing)
		text = g_strdup("type what names have; Enter: done, Esc: all names");
	else
		text = g_strdup_printf("%u-%u of %u  q quit  / filter  p programs  < > sort  a all  h help",
			live->rows ? live->first + 1 : 0, last, live->rows);
	fit_put(out, text, width);
}

static const char help[] = "blkin top: keys\n"
			   "\n"
			   "  q         quit\n"
			   "  /         show only names that have the words that are typed\n"
			   "  p         programs instead of names, and back\n"
			   "  a         all since the agent began, or since the last look\n"
			   "  < >       sort by another column\n"
			   "  t r m 5 9 sort by share of the time, rate, mean, p50, p99\n"
			   "  x e c n   sort by max, errors, count, name\n"
			   "  i         the other way round\n"
			   "  + -       look less often, more often\n"
			   "  space     pause\n"
			   "  up down, page up, page down, home, end\n"
			   "\n"
			   "Any key goes back.\n";

static void put_help(struct buffer *out, int width)
{
	g_auto(GStrv) lines = g_strsplit(help, "\n", -1);

	for (char **line = lines; *line; line++)
		put_line(out, width, *line);
}

static void put_rows(struct buffer *out, struct live *live, int width, int lines, bool colour)
{
	struct table table = {.programs = live->ranking.programs,
		.key = live->ranking.key,
		.width = width,
		.colour = colour};
	g_autoptr(GArray) rows = ranking_make(&live->ranking, &live->shown);

	live->rows = rows->len;
	live->page = (guint)MAX(1, lines - LINES_ABOVE - LINES_BELOW);
	live->first = MIN(live->first, rows->len > live->page ? rows->len - live->page : 0);
	table.rows = rows;
	table.first = live->first;
	table.count = live->page;
	heading_put(out, &live->shown, live->whole || !live->has_before ? NULL : &live->before, width);
	table_draw(out, &table);
	for (guint i = MIN(live->page, rows->len - live->first); i < live->page; i++)
		buffer_printf(out, "\n");
}

static void draw(struct live *live)
{
	const char *no_colour = getenv("NO_COLOR");
	bool colour = !no_colour || !*no_colour;
	struct buffer out = {0};
	int columns, lines;

	screen_size(&columns, &lines);
	if (live->helping) {
		put_help(&out, columns);
	} else {
		put_head(&out, live, columns, colour);
		if (live->shown.series)
			put_rows(&out, live, columns, lines, colour);
		put_foot(&out, live, columns);
	}
	fit_locale(&out);
	screen_draw(&out);
	buffer_free(&out);
}

/* Keys */

static void type(struct live *live, unsigned key)
{
	size_t size = strlen(live->filter);

	if (key == KEY_ENTER || key == KEY_ESCAPE) {
		live->typing = false;
		if (key == KEY_ESCAPE)
			live->filter[0] = '\0';
	} else if ((key == KEY_DELETE || key == '\b') && size) {
		*g_utf8_find_prev_char(live->filter, live->filter + size) = '\0';
	} else if (key >= ' ' && key != KEY_DELETE && key < KEY_NONE && g_unichar_isprint(key) &&
		   size < FILTER_MAX) {
		live->filter[size + (size_t)g_unichar_to_utf8(key, live->filter + size)] = '\0';
	}
	live->first = 0;
}

static void scroll(struct live *live, unsigned key)
{
	guint page = live->page;

	if (key == KEY_UP)
		live->first -= live->first > 0;
	else if (key == KEY_DOWN)
		live->first++;
	else if (key == KEY_PAGE_UP)
		live->first -= MIN(live->first, page);
	else if (key == KEY_PAGE_DOWN)
		live->first += page;
	else
		live->first = key == KEY_HOME ? 0 : live->rows;
	live->first = MIN(live->first, live->rows > page ? live->rows - page : 0);
}

/* Whether it is one of the keys that choose a column. */
static bool sort(struct live *live, unsigned key)
{
	static const char keys[RANKING_KEYS + 1] = "trm59xecn"; /* in the order of enum ranking_key */
	const char *at = key && key < 128 ? strchr(keys, (int)key) : NULL;

	if (key == '<' || key == '>')
		live->ranking.key = (live->ranking.key + (key == '>' ? 1 : RANKING_KEYS - 1)) % RANKING_KEYS;
	else if (at)
		live->ranking.key = (enum ranking_key)(at - keys);
	else
		return false;
	live->first = 0;
	return true;
}

static void press(struct live *live, unsigned key)
{
	if (key == KEY_INTERRUPT) {
		live->over = true;
	} else if (live->helping) {
		live->helping = false;
	} else if (live->typing) {
		type(live, key);
	} else if (key >= KEY_UP && key <= KEY_END) {
		scroll(live, key);
	} else if (sort(live, key)) {
		/* done */
	} else if (key == 'q') {
		live->over = true;
	} else if (key == '/') {
		live->typing = true;
	} else if (key == KEY_ESCAPE) {
		live->filter[0] = '\0';
	} else if (key == 'p') {
		live->ranking.programs = !live->ranking.programs;
		live->first = 0;
	} else if (key == 'a' && live->answer.size) {
		live->whole = !live->whole;
		make_shown(live);
	} else if (key == 'i') {
		live->ranking.reverse = !live->ranking.reverse;
	} else if (key == '+' || key == '-') {
		live->seconds =
			CLAMP(key == '+' ? live->seconds * 2 : live->seconds / 2, SECONDS_MIN, SECONDS_MAX);
	} else if (key == ' ') {
		live->paused = !live->paused;
	} else if (key == 'h' || key == '?') {
		live->helping = true;
	}
}

/* Running */

static void wait_on(struct live *live)
{
	int64_t left = (live->next - clock_monotonic()) / NS_PER_MS;
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = screen_signals(), .events = POLLIN}, {.fd = fetch_fd(live->fetch), .events = POLLIN}};

	poll(fds, G_N_ELEMENTS(fds), (int)CLAMP(left + 1, 0, 1000));
	if (fds[0].revents & (POLLHUP | POLLERR))
		live->over = true;
}

static void turn(struct live *live)
{
	int64_t now = clock_monotonic();
	unsigned key;

	if (now >= live->next) {
		live->next = now + (int64_t)(live->seconds * NS_PER_SECOND);
		if (!live->paused)
			fetch_begin(live->fetch);
	}
	draw(live);
	wait_on(live);
	while ((key = screen_key()) != KEY_NONE)
		press(live, key);
	take_answer(live);
}

int live_run(const char *path, const struct ranking *ranking, double seconds)
{
	struct live live = {.path = path,
		.ranking = *ranking,
		.seconds = CLAMP(seconds, SECONDS_MIN, SECONDS_MAX),
		.fetch = fetch_create(path)};

	if (!live.fetch || !screen_begin())
		return EXIT_FAILURE;
	g_strlcpy(live.filter, ranking->filter, FILTER_MAX);
	live.ranking.filter = live.filter;
	while (!live.over && !screen_is_over())
		turn(&live);
	screen_end();
	fetch_destroy(live.fetch);
	snapshot_clear(&live.before);
	snapshot_clear(&live.shown);
	buffer_free(&live.answer);
	return EX_OK;
}
