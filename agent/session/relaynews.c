/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relaynews.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "session/relayfolder.h"

/* relayd writes a packet's index last, from when on it can be had. A new trace or stream begins with a file;
 * and when a session is over, or relayd itself, the files are closed. */
#define BEGINNINGS (IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)
#define PACKETS (IN_MODIFY | IN_CLOSE_WRITE | BEGINNINGS)

struct watching {
	struct relayfiles *files;
	int fd;
	bool failed; /* something that is there is not watched */
};

/* Takes @folder; -1, with errno, is one that could not be opened. */
static void watch_folder(struct watching *watching, int folder, uint32_t mask)
{
	char path[64];

	if (folder < 0) {
		watching->failed |= errno != ENOENT;
		return;
	}
	/* by its descriptor, as no symbolic link is followed on the way to it */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
	watching->failed |= inotify_add_watch(watching->fd, path, mask) < 0;
	close(folder);
}

static void watch_trace(void *data, const struct stream_key *key)
{
	struct watching *watching = data;
	int folder = relayfiles_open_trace(watching->files, key, NULL);

	if (folder >= 0)
		watch_folder(watching, openat(folder, "index", FOLDER_FLAGS), PACKETS);
	watch_folder(watching, folder, BEGINNINGS);
}

int relaynews_open(struct relayfiles *files)
{
	static const char *const parents[] = {".", "ust", "ust/uid"};
	struct watching watching = {.files = files, .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};

	if (watching.fd < 0)
		return -1;
	for (size_t i = 0; i < G_N_ELEMENTS(parents); i++)
		watch_folder(&watching, relay_open_folder(files->folder, parents[i]), BEGINNINGS);
	watching.failed |= relayfiles_each_trace(files, watch_trace, &watching) > 0;
	if (!watching.failed)
		return watching.fd;
	close(watching.fd);
	return -1;
}

bool relaynews_take(int fd)
{
	union {
		struct inotify_event event;
		char bytes[4096];
	} news;
	bool whole = true;
	ssize_t size;

	while ((size = read(fd, &news, sizeof(news))) > 0) {
		const struct inotify_event *event;

		for (const char *at = news.bytes; at < news.bytes + size; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)at;
			/* a folder is new; one is gone; and IN_Q_OVERFLOW: some news is lost */
			if (event->mask & (IN_ISDIR | IN_IGNORED | IN_UNMOUNT | IN_Q_OVERFLOW))
				whole = false;
		}
	}
	return whole && errno == EAGAIN;
}
