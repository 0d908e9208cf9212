/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records spans, then shortens the files of ring buffers that LTTng shares with it to nothing, and waits. It
 * needs no right for that but its own: they are its user's.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define SPANS 100

static void record(void)
{
	static const struct blkin_endpoint here = {"10.5.0.1", 1, "shrink"};

	for (int i = 0; i < SPANS; i++) {
		BLKIN_SPAN(span, BLKIN_LOCAL, "before", &here, NULL);

		blkin_span_annotate(&span, "recorded");
	}
}

static int shorten(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	char path[PATH_MAX], target[PATH_MAX];
	int count = 0;

	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);
		ssize_t size;

		snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
		size = readlink(path, target, sizeof(target) - 1);
		if (size < 0)
			continue;
		target[size] = '\0';
		if (strstr(target, "/shm-ust-consumer") && ftruncate(fd, 0) == 0)
			count++;
		fprintf(stderr, "%s %s\n", path, target);
	}
	if (folder)
		closedir(folder);
	return count;
}

int main(void)
{
	record();
	printf("%d files\n", shorten());
	fflush(stdout);
	for (;;)
		pause();
}
