/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last of four services that a request goes through: a storage daemon, traced with <blkin/blkin.h>.
 *
 *     store PORT
 *
 * Its span is a child of the one that the header "traceparent" names, whoever recorded that.
 */
#include <blkin/blkin.h>

#include "http.h"

#define PHOTOS 1000

static void read_disk(const struct blkin_endpoint *store, const struct blkin_span *parent, int photo)
{
	BLKIN_SPAN(span, BLKIN_LOCAL, "disk read", store, blkin_span_context(parent));

	blkin_span_tag(&span, "device", "sda");
	blkin_span_tag_int(&span, "block", photo * 8);
	usleep(1000);
	blkin_span_annotate(&span, "came from the platter");
}

static void serve(int fd, const struct blkin_endpoint *store)
{
	struct blkin_context caller = {0}; /* is not sampled, and stays so if no header comes, or nonsense */
	char head[HTTP_MAX], body[64];
	const char *header;
	size_t size;
	int photo;

	if (!http_read(fd, head, "\r\n\r\n"))
		return;
	header = http_header(head, BLKIN_TRACEPARENT, &size);
	blkin_context_extract_traceparent(&caller, header, size);
	BLKIN_SPAN(span, BLKIN_SERVER, "read photo", store, &caller);
	photo = http_photo(head);
	blkin_span_tag_int(&span, "photo", photo);
	if (photo < 0 || photo >= PHOTOS) {
		blkin_span_error(&span, "no such photo");
		http_answer(fd, 404, "no such photo\n");
		return; /* the span finishes here, too */
	}
	read_disk(store, &span, photo);
	snprintf(body, sizeof(body), "photo %d\n", photo);
	http_answer(fd, 200, body);
}

int main(int argc, char **argv)
{
	struct blkin_endpoint store = {"127.0.0.1", 0, "store"};
	int listener, fd;

	if (argc != 2) {
		fprintf(stderr, "usage: store PORT\n");
		return 64;
	}
	store.port = (int16_t)atoi(argv[1]);
	for (listener = wire_listen(atoi(argv[1])); (fd = accept(listener, NULL, NULL)) >= 0; close(fd))
		serve(fd, &store);
	wire_die("cannot accept");
}
