/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dictated: records the spans that its input says, a line each, while there is any:
 *
 *     SERVICE NAME NANOSECONDS ERROR
 *
 * The names are percent-encoded, as in a URL, but never of more than a megabyte; ERROR is 0 or 1. After an
 * empty line it prints how many it has recorded so far.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blkin/blkin.h>

static int digit(char c)
{
	return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static void decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '%' && text[1] && text[2]) {
			*to++ = (char)(digit(text[1]) << 4 | digit(text[2]));
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

static void record(const char *service, const char *name, uint64_t duration, int error)
{
	const struct blkin_endpoint local = {"127.0.0.1", 80, service};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, name, &local, NULL);
	if (!span.recording)
		return;
	span.record.start -= duration; /* it must not end in the future */
	if (error)
		blkin_span_tag(&span, "error", "failed");
	blkin_span_finish_at(&span, span.record.start + duration);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	uint64_t count = 0;

	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	while (getline(&line, &room, stdin) > 0) {
		char *rest = NULL, *service = strtok_r(line, " \n", &rest),
		     *name = strtok_r(NULL, " \n", &rest), *duration = strtok_r(NULL, " \n", &rest),
		     *error = strtok_r(NULL, " \n", &rest);

		if (!error) {
			printf("%" PRIu64 "\n", count);
			fflush(stdout);
			continue;
		}
		decode(service);
		decode(name);
		record(service, name, strtoull(duration, NULL, 10), *error == '1');
		count++;
	}
	free(line);
	return 0;
}
