/* SPDX-License-Identifier: BSD-2-Clause */
/* relayd's files: what is found in them, carved out of them and removed, and what is let alone. */
#define _GNU_SOURCE
#include <check.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "base/pack.h"
#include "session/relaycarve.h"
#include "session/relayfiles.h"
#include "session/relaynews.h"
#include "session/relayremove.h"
#include "session/relayscan.h"

#include "run.h"

#define CREATED UINT64_C(1700000000)
#define PACKET 256
/* Descriptors of files that are open: the output, the host's folder and the session's. */
#define FILES_OPEN 3

static char output[] = "/tmp/blkin-XXXXXX";
static char *session, *trace;
static char error[512];

static void put_file(const char *folder, const char *name, const void *data, size_t size)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);

	ck_assert(g_file_set_contents(path, data, (gssize)size, NULL));
}

static void make_folder(const char *path)
{
	ck_assert_int_eq(g_mkdir_with_parents(path, 0700), 0);
}

/* Removes a tree: without following links. */
static void remove_tree(const char *path)
{
	GDir *list = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
	const char *name;

	while (list && (name = g_dir_read_name(list))) {
		g_autofree char *inner = g_build_filename(path, name, NULL);

		remove_tree(inner);
	}
	if (list)
		g_dir_close(list);
	remove(path);
}

static void setup(void)
{
	time_t created = CREATED;
	char host[256] = "", stamp[32];
	struct tm tm;

	strcpy(output + strlen(output) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(output));
	gethostname(host, sizeof(host) - 1);
	localtime_r(&created, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	session = g_strdup_printf("%s/%s/blkin-%s", output, host, stamp);
	trace = g_strdup_printf("%s/ust/uid/7/64-bit", session);
}

static void teardown(void)
{
	remove_tree(output);
	g_free(session);
	g_free(trace);
}

/* The n-th packet of a stream begins at 1000 + 10 n. */
static void put_entry(struct buffer *index, uint64_t stream, uint64_t n, uint64_t offset)
{
	const uint64_t fields[] = {
		offset, PACKET * 8, 100 * 8, 1000 + 10 * n, 1010 + 10 * n, n / 2, 0, stream, n};

	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
		pack_u64(index, fields[i]);
}

static void put_packet(struct buffer *data, uint64_t n)
{
	uint8_t packet[PACKET] = {0xc1, 0x1f, 0xfc, 0xc1};
	uint64_t begin = 1000 + 10 * n;

	for (int i = 0; i < 8; i++) {
		packet[32 + i] = (uint8_t)(begin >> 8 * i);
		packet[64 + i] = (uint8_t)(n >> 8 * i);
	}
	packet[100] = (uint8_t)n;
	buffer_put(data, packet, sizeof(packet));
}

static void put_index_header(struct buffer *index, uint32_t magic, uint32_t entry_size)
{
	pack_u32(index, magic);
	pack_u32(index, 1);
	pack_u32(index, 1);
	pack_u32(index, entry_size);
}

/* A file of a stream, with packets @first to before @end; of the last only a part of the entry is written. */
static void put_stream(uint64_t stream, unsigned file, uint64_t first, uint64_t end)
{
	g_autofree char *name = g_strdup_printf("spans_%u_%u", (unsigned)stream, file);
	g_autofree char *index_name = g_strdup_printf("index/%s.idx", name);
	g_autofree char *index_folder = g_strdup_printf("%s/index", trace);
	struct buffer index = {0}, data = {0};

	make_folder(index_folder);
	put_index_header(&index, 0xC1F1DCC1, 72);
	for (uint64_t n = first; n < end; n++) {
		put_entry(&index, stream, n, data.size);
		put_packet(&data, n);
	}
	pack_u64(&index, data.size); /* one that is being written */
	put_file(trace, name, data.data, data.size);
	put_file(trace, index_name, index.data, index.size);
	put_file(trace, "metadata", "/* CTF 1.8 */", 13);
	buffer_free(&index);
	buffer_free(&data);
}

static const struct session_identity *named(const char *name, uint64_t created)
{
	static struct session_identity identity;

	g_strlcpy(identity.name, name, sizeof(identity.name));
	identity.created = created;
	return &identity;
}

static struct relayfiles *open_files(void)
{
	struct relayfiles *files = NULL;

	ck_assert_int_eq(relayfiles_open(output, named("blkin", CREATED), &files, error, sizeof(error)),
		RELAYFILES_OK);
	ck_assert_str_eq(relayfiles_path(files), session);
	return files;
}

/* The system's, but when a test wants it to fail; what it opened stays open then. */
static int list_failure;

DIR *fdopendir(int fd)
{
	DIR *(*real)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");

	errno = list_failure;
	return list_failure ? NULL : real(fd);
}

static unsigned count_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static struct relay_found find_up_to(guint most)
{
	return (struct relay_found){
		g_array_new(FALSE, FALSE, sizeof(struct relayfiles_packet)), .most = most};
}

static GArray *scan_as(struct relayfiles *files, struct positions *positions, enum relay_scanned wanted)
{
	struct relay_found found = find_up_to(100);

	ck_assert_int_eq(relay_scan(files, positions, &found, error, sizeof(error)), wanted);
	ck_assert(!found.more);
	return found.packets;
}

static GArray *scan(struct relayfiles *files, struct positions *positions)
{
	return scan_as(files, positions, RELAY_WHOLE);
}

static uint64_t sequence_at(const GArray *packets, guint i)
{
	return g_array_index(packets, struct relayfiles_packet, i).is.sequence;
}

START_TEST(scanned_in_order_and_past_the_positions)
{
	struct positions *positions = positions_create();
	struct stream_key key = {7, 64, 0, 1};
	struct relayfiles *files;
	struct packet_info info;
	GArray *packets;

	put_stream(0, 1, 4, 8);
	put_stream(0, 0, 8, 12);
	put_stream(1, 0, 0, 3);
	files = open_files();
	packets = scan(files, positions);
	ck_assert_uint_eq(packets->len, 11);
	for (guint i = 1; i < packets->len; i++)
		ck_assert_uint_le(g_array_index(packets, struct relayfiles_packet, i - 1).is.begin,
			g_array_index(packets, struct relayfiles_packet, i).is.begin);
	g_array_unref(packets);
	positions_get(positions, &key)->done = (struct stream_point){true, true, 1010, 1, 5};
	key.id = 0;
	positions_get(positions, &key)->done = (struct stream_point){true, false, 1100, 10, 5};
	packets = scan(files, positions);
	/* of stream 1 the third, of stream 0 the one in which reading stopped, and the last */
	ck_assert_uint_eq(packets->len, 3);
	ck_assert_uint_eq(sequence_at(packets, 0), 2);
	ck_assert_uint_eq(sequence_at(packets, 1), 10);
	ck_assert_uint_eq(sequence_at(packets, 2), 11);
	g_array_unref(packets);
	ck_assert(relay_locate(files, &key, 1080, &info));
	ck_assert_uint_eq(info.sequence, 8);
	ck_assert_uint_eq(info.discarded, 4);
	ck_assert(!relay_locate(files, &key, 1081, &info));
	key.user = 8;
	ck_assert(!relay_locate(files, &key, 1080, &info));
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* However many wait, no more are kept than may be: those that come first, of all streams; all count. */
START_TEST(scanned_a_few_at_a_time)
{
	struct positions *positions = positions_create();
	struct relayfiles *files;
	struct relay_found found;
	uint64_t read = 0;

	put_stream(0, 1, 4, 8);
	put_stream(0, 0, 8, 12);
	put_stream(1, 0, 0, 30);
	files = open_files();
	do {
		found = find_up_to(3);
		ck_assert_int_eq(relay_scan(files, positions, &found, error, sizeof(error)), RELAY_WHOLE);
		ck_assert_uint_eq(found.packets->len, MIN(38 - read, 3));
		ck_assert_uint_eq(found.bytes, (38 - read) * PACKET);
		ck_assert_uint_eq(found.newest, 1290);
		ck_assert(found.more == (38 - read > 3));
		for (guint i = 0; i < found.packets->len; i++, read++) {
			const struct relayfiles_packet *packet =
				&g_array_index(found.packets, struct relayfiles_packet, i);
			struct stream_point *done = &positions_get(positions, &packet->key)->done;

			ck_assert_uint_gt(packet->is.begin, done->begin);
			*done = (struct stream_point){true, true, packet->is.begin, packet->is.sequence, 1};
		}
		g_array_unref(found.packets);
	} while (found.more);
	ck_assert_uint_eq(read, 38);
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* The newest that holds events, and is not done. */
START_TEST(the_newest)
{
	struct positions *positions = positions_create();
	struct stream_key key = {7, 64, 0, 1};
	struct relayfiles *files;

	put_stream(0, 0, 0, 3);
	put_stream(1, 0, 0, 5);
	files = open_files();
	ck_assert_uint_eq(relay_newest(files, &key, positions), 1040);
	positions_get(positions, &key)->done = (struct stream_point){true, true, 1040, 4, 1};
	ck_assert_uint_eq(relay_newest(files, &key, positions), 1020);
	key.id = 0;
	positions_get(positions, &key)->done = (struct stream_point){true, true, 1020, 2, 1};
	ck_assert_uint_eq(relay_newest(files, &key, positions), 0);
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* Carved packets are whole; those that were overwritten are left out. */
START_TEST(carving)
{
	g_autofree char *scratch = g_build_filename(output, "scratch", NULL), *copy = NULL, *data = NULL;
	g_autofree char *carved = g_build_filename(scratch, "7-64", "0_0", NULL);
	struct positions *positions = positions_create();
	struct relayfiles *files;
	GPtrArray *traces;
	GArray *packets;
	gsize size;

	put_stream(0, 0, 0, 4);
	files = open_files();
	packets = scan(files, positions);
	copy = g_build_filename(trace, "spans_0_0", NULL);
	ck_assert(g_file_get_contents(copy, &data, &size, NULL));
	data[PACKET + 64] = 9;                                              /* the second is another by now */
	ck_assert(g_file_set_contents(copy, data, (gssize)size - 1, NULL)); /* and the last cut off */
	traces = relay_carve(files, (const void *)packets->data, packets->len, scratch, error);
	ck_assert_ptr_nonnull(traces);
	ck_assert_uint_eq(traces->len, 1);
	g_free(data);
	ck_assert(g_file_get_contents(carved, &data, &size, NULL));
	ck_assert_uint_eq(size, 2 * PACKET);
	ck_assert_int_eq(data[100], 0);
	ck_assert_int_eq(data[PACKET + 100], 2);
	g_ptr_array_unref(traces);
	/* of nothing, no trace is made */
	traces = relay_carve(
		files, (const void *)&g_array_index(packets, struct relayfiles_packet, 3), 1, scratch, error);
	ck_assert_uint_eq(traces->len, 0);
	g_ptr_array_unref(traces);
	relay_carve_remove(scratch);
	ck_assert(!g_file_test(scratch, G_FILE_TEST_EXISTS));
	ck_assert_ptr_null(
		relay_carve(files, (const void *)packets->data, 1, "/proc/nowhere/scratch", error));
	ck_assert_ptr_nonnull(strstr(error, "/proc/nowhere/scratch cannot be written"));
	g_array_unref(packets);
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

static void ignore(void *data, const struct relay_packet *packet)
{
	*(int *)data += 1;
	ck_assert_uint_le(packet->size, RELAY_PACKET_MAX);
}

START_TEST(indexes_that_are_none)
{
	const struct {
		uint32_t magic, entry_size;
		uint64_t size, content, begin, end;
		int taken;
		bool good;
	} cases[] = {{0xC1F1DCC1, 72, 800, 800, 5, 6, 1, true}, {0xC1F1DCC2, 72, 800, 800, 5, 6, 0, false},
		{0xC1F1DCC1, 64, 800, 800, 5, 6, 0, false}, {0xC1F1DCC1, 8000, 800, 800, 5, 6, 0, false},
		{0xC1F1DCC1, 72, 801, 800, 5, 6, 0, false}, {0xC1F1DCC1, 72, 800, 801, 5, 6, 0, false},
		{0xC1F1DCC1, 72, 0, 0, 5, 6, 0, false}, {0xC1F1DCC1, 72, 800, 800, 6, 5, 0, false},
		{0xC1F1DCC1, 72, UINT64_MAX - 7, 800, 5, 6, 0, false}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const uint64_t fields[] = {0, cases[i].size, cases[i].content, cases[i].begin, cases[i].end};
		struct buffer index = {0};
		int taken = 0;

		put_index_header(&index, cases[i].magic, cases[i].entry_size);
		for (size_t j = 0; j < G_N_ELEMENTS(fields); j++)
			pack_u64(&index, fields[j]);
		for (int j = 0; j < 4; j++)
			pack_u64(&index, 0);
		ck_assert_int_eq(relay_index_read(index.data, index.size, ignore, &taken), cases[i].good);
		ck_assert_int_eq(taken, cases[i].taken);
		buffer_free(&index);
	}
	ck_assert(relay_index_read("", 0, ignore, NULL));
	ck_assert(!relay_index_read("x", 1, ignore, NULL));
}
END_TEST

/* Those of a program whose clock stands still. */
START_TEST(packets_that_begin_together)
{
	static const uint64_t begins[] = {5, 5, 5, 6, 4};
	struct buffer index = {0};
	int taken = 0;

	put_index_header(&index, 0xC1F1DCC1, 72);
	for (uint64_t i = 0; i < G_N_ELEMENTS(begins); i++) {
		const uint64_t fields[] = {i * 100, 800, 800, begins[i], 9, 0, 0, 0, i};

		for (size_t j = 0; j < G_N_ELEMENTS(fields); j++)
			pack_u64(&index, fields[j]);
	}
	ck_assert(!relay_index_read(index.data, index.size, ignore, &taken));
	ck_assert_int_eq(taken, 3);
	buffer_free(&index);
}
END_TEST

/* Nothing is lost of a trace before its first packet; with one, and no index, something is. */
START_TEST(no_index_yet)
{
	g_autofree char *index = g_build_filename(trace, "index", NULL);
	g_autofree char *idx = g_build_filename(index, "spans_0_0.idx", NULL);
	struct positions *positions = positions_create();
	struct relayfiles *files;

	put_stream(0, 0, 0, 0);
	put_file(trace, "spans_0_0", "", 0);
	ck_assert_int_eq(g_remove(idx), 0);
	ck_assert_int_eq(g_rmdir(index), 0);
	files = open_files();
	g_array_unref(scan_as(files, positions, RELAY_WHOLE));
	put_file(trace, "spans_0_0", "packet", 6);
	g_array_unref(scan_as(files, positions, RELAY_PART));
	ck_assert_str_eq(strstr(error, ": an index"),
		": an index cannot be read (user 7, index: No such file or directory)");
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* What is behind an entry that cannot be is found, whatever the entry says. */
START_TEST(a_forged_entry_hides_no_other)
{
	g_autofree char *path = NULL, *data = NULL;
	struct positions *positions = positions_create();
	struct relayfiles *files;
	GArray *packets;
	gsize size;

	put_stream(0, 0, 0, 4);
	put_stream(1, 0, 0, 2);
	path = g_build_filename(trace, "index", "spans_0_0.idx", NULL);
	ck_assert(g_file_get_contents(path, &data, &size, NULL));
	memset(data + 16 + 72, 0xff, 72); /* the second of four */
	ck_assert(g_file_set_contents(path, data, (gssize)size, NULL));
	files = open_files();
	packets = scan_as(files, positions, RELAY_PART);
	ck_assert_str_eq(strstr(error, ": an index"),
		": an index cannot be read (user 7, index/spans_0_0.idx: it has entries that cannot be)");
	ck_assert_uint_eq(packets->len, 5);
	ck_assert_uint_eq(sequence_at(packets, 4), 3);
	g_array_unref(packets);
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* A program that writes another stream's number into each packet makes no streams; what is its file's counts.
 */
START_TEST(streams_of_other_cpus)
{
	static const char *const names[] = {"spans_3_0", "a_long_name_3_12", "unnumbered", "spans_-1_0"};
	g_autofree char *folder = g_build_filename(trace, "index", NULL);
	struct positions *positions = positions_create();
	struct relayfiles *files;
	uint64_t user;

	put_stream(0, 0, 0, 0);
	files = open_files();
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *name = g_strconcat(names[i], ".idx", NULL), *path = NULL;
		struct buffer index = {0};
		GArray *packets;

		put_index_header(&index, 0xC1F1DCC1, 72);
		put_entry(&index, 3, 0, 0);
		for (uint64_t n = 1; n < 100; n++)
			put_entry(&index, n % 10 ? 1000 + n : 3, n, n * PACKET);
		put_file(folder, name, index.data, index.size);
		packets = scan_as(files, positions, RELAY_PART);
		ck_assert_uint_eq(packets->len, 10);
		for (guint j = 0; j < packets->len; j++) {
			ck_assert_uint_eq(sequence_at(packets, j), 10 * j);
			ck_assert_uint_eq(g_array_index(packets, struct relayfiles_packet, j).key.id, 3);
		}
		ck_assert(relay_scan_was_odd(files, &user));
		ck_assert_uint_eq(user, 7);
		path = g_build_filename(folder, name, NULL);
		ck_assert_int_eq(g_remove(path), 0);
		g_array_unref(packets);
		buffer_free(&index);
	}
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* With too few descriptors it is never all that there is, and never thought to be. */
START_TEST(scanned_with_few_descriptors)
{
	struct positions *positions = positions_create();
	struct relayfiles *files;
	struct rlimit limit, few;
	enum relay_scanned scanned = RELAY_BUSY;
	unsigned before, times = 0;

	put_stream(0, 0, 0, 4);
	put_stream(1, 0, 0, 2);
	files = open_files();
	before = count_descriptors();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	for (rlim_t left = 0; left < 64 && scanned == RELAY_BUSY; left++, times++) {
		struct relay_found found = find_up_to(100);

		few.rlim_cur = left;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
		scanned = relay_scan(files, positions, &found, error, sizeof(error));
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ck_assert(scanned == RELAY_BUSY || found.packets->len == 6);
		g_array_unref(found.packets);
	}
	ck_assert_int_eq(scanned, RELAY_WHOLE);
	ck_assert_uint_gt(times, 3);
	ck_assert_uint_eq(count_descriptors(), before);
	relayfiles_close(files);
	positions_destroy(positions);
}
END_TEST

/* A folder that is not a folder, or whose disk fails, is no empty one. */
START_TEST(folders_that_cannot_be_listed)
{
	struct positions *positions = positions_create();
	struct relayfiles *files, *other;
	unsigned before;

	put_stream(0, 0, 0, 4);
	before = count_descriptors();
	list_failure = EIO;
	ck_assert_int_eq(relayfiles_open(output, named("blkin", CREATED), &other, error, sizeof(error)),
		RELAYFILES_BUSY);
	ck_assert_uint_eq(count_descriptors(), before);
	list_failure = 0;
	files = open_files();
	list_failure = EIO;
	g_array_unref(scan_as(files, positions, RELAY_BUSY));
	ck_assert_ptr_nonnull(strstr(error, "users' folders cannot be opened: Input/output error"));
	list_failure = 0;
	remove_tree(trace);
	ck_assert(g_file_set_contents(trace, "x", 1, NULL));
	g_array_unref(scan_as(files, positions, RELAY_PART));
	ck_assert_ptr_nonnull(strstr(error, "users' folders cannot be opened: Not a directory"));
	relayfiles_close(files);
	ck_assert_uint_eq(count_descriptors(), before);
	positions_destroy(positions);
}
END_TEST

START_TEST(folders_of_others)
{
	g_autofree char *other = g_strdup_printf("%s-2", session);
	struct relayfiles *files;

	ck_assert_int_eq(relayfiles_open(output, named("blkin", CREATED), &files, error, sizeof(error)),
		RELAYFILES_NONE);
	make_folder(other);
	ck_assert_int_eq(relayfiles_open(output, named("blkin", CREATED), &files, error, sizeof(error)),
		RELAYFILES_NONE);
	make_folder(session);
	/* of another second, name, or place */
	ck_assert_int_eq(relayfiles_open(output, named("blkin", CREATED + 1), &files, error, sizeof(error)),
		RELAYFILES_NONE);
	ck_assert_int_eq(relayfiles_open(output, named("blki", CREATED), &files, error, sizeof(error)),
		RELAYFILES_NONE);
	ck_assert_int_eq(
		relayfiles_open("/proc/nowhere", named("blkin", CREATED), &files, error, sizeof(error)),
		RELAYFILES_UNREADABLE);
	ck_assert_str_eq(error, "/proc/nowhere: No such file or directory");
	/* in relayd's zone, which may be another */
	relayfiles_close(open_files());
	ck_assert_int_eq(
		relayfiles_open(output, named("blkin", CREATED + 3600), &files, error, sizeof(error)),
		RELAYFILES_OK);
	relayfiles_close(files);
}
END_TEST

/* Whether there is news, and closes @news. */
static bool has_news(int news)
{
	struct pollfd fd = {.fd = news, .events = POLLIN};
	bool has = poll(&fd, 1, 0) > 0;

	ck_assert_int_ge(news, 0);
	close(news);
	return has;
}

START_TEST(news_of_each_kind)
{
	g_autofree char *ust = g_build_filename(session, "ust", NULL);
	g_autofree char *uid = g_build_filename(ust, "uid", NULL);
	g_autofree char *kernel = g_build_filename(session, "kernel", NULL);
	g_autofree char *index = g_build_filename(trace, "index", "spans_0_0.idx", NULL);
	g_autofree char *data = g_build_filename(trace, "spans_0_0", NULL);
	struct relayfiles *files;
	unsigned before = count_descriptors();
	int fd, none;

	make_folder(session);
	files = open_files();
	/* what is not there yet begins with its folder */
	none = relaynews_open(files);
	ck_assert(!has_news(dup(none)));
	make_folder(ust);
	ck_assert(has_news(none));
	none = relaynews_open(files);
	make_folder(uid);
	ck_assert(has_news(none));
	none = relaynews_open(files);
	put_stream(0, 0, 0, 1);
	ck_assert(has_news(none));
	none = relaynews_open(files);
	make_folder(kernel);
	ck_assert(has_news(none));
	/* another stream */
	none = relaynews_open(files);
	put_stream(1, 0, 0, 1);
	ck_assert(has_news(none));
	/* a packet is there when it is in the index */
	none = relaynews_open(files);
	fd = open(data, O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	ck_assert(!has_news(dup(none)));
	fd = open(index, O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	ck_assert(has_news(none));
	/* as relayd does when the session is over */
	none = relaynews_open(files);
	ck_assert(!has_news(dup(none)));
	close(fd);
	ck_assert(has_news(none));
	relayfiles_close(files);
	ck_assert_uint_eq(count_descriptors(), before);
}
END_TEST

/* Whether there is news now, which is taken; @whole: what is watched is still all there is. */
static void take_news(int news, bool whole)
{
	ck_assert(has_news(dup(news)));
	ck_assert(relaynews_take(news) == whole);
	ck_assert(!has_news(dup(news)));
}

START_TEST(news_is_taken)
{
	g_autofree char *index = g_build_filename(trace, "index", "spans_0_0.idx", NULL);
	g_autofree char *kernel = g_build_filename(session, "kernel", NULL);
	struct relayfiles *files;
	FILE *file;
	int fd;

	put_stream(0, 0, 0, 1);
	files = open_files();
	fd = relaynews_open(files);
	ck_assert_int_ge(fd, 0);
	/* a packet, and another one; then another stream */
	for (int i = 0; i < 2; i++) {
		file = fopen(index, "a");
		ck_assert(file && fputc('x', file) == 'x' && fclose(file) == 0);
		take_news(fd, true);
	}
	put_stream(1, 0, 0, 1);
	take_news(fd, true);
	/* a folder that is new, and one that is gone */
	make_folder(kernel);
	take_news(fd, false);
	remove_tree(trace);
	take_news(fd, false);
	/* nothing to take is none that could be lost */
	ck_assert(relaynews_take(fd));
	close(fd);
	/* what is no such descriptor */
	ck_assert(!relaynews_take(-1));
	relayfiles_close(files);
}
END_TEST

START_TEST(news_of_part)
{
	g_autofree char *index = g_build_filename(trace, "index", NULL);
	struct relayfiles *files;
	struct rlimit limit, none;
	unsigned before = count_descriptors();
	rlim_t left;
	int news = -1;

	put_stream(0, 0, 0, 1);
	files = open_files();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	/* with each number of files that it takes */
	for (left = 0; left < 64 && news < 0; left++) {
		none.rlim_cur = left;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
		news = relaynews_open(files);
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		ck_assert_uint_eq(count_descriptors(), before + FILES_OPEN + (news >= 0));
	}
	ck_assert_uint_gt(left, before + FILES_OPEN + 1);
	close(news);
	/* what is no folder cannot be watched */
	remove_tree(index);
	ck_assert(g_file_set_contents(index, "x", 1, NULL));
	ck_assert_int_eq(relaynews_open(files), -1);
	relayfiles_close(files);
	ck_assert_uint_eq(count_descriptors(), before);
}
END_TEST

START_TEST(no_file_can_be_opened)
{
	struct relayfiles *files;
	struct rlimit limit, none;
	enum relayfiles_status status;

	make_folder(session);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	/* from none on, with each number of files that opening the folder takes; the last is enough */
	for (rlim_t left = 0; left < 64; left++) {
		none.rlim_cur = left;
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
		status = relayfiles_open(output, named("blkin", CREATED), &files, error, sizeof(error));
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
		if (status == RELAYFILES_OK)
			break;
		ck_assert_int_eq(status, RELAYFILES_BUSY);
	}
	ck_assert_int_eq(status, RELAYFILES_OK);
	relayfiles_close(files);
}
END_TEST

START_TEST(removed_but_for_what_is_not_the_relays)
{
	g_autofree char *outside = g_build_filename(output, "outside", NULL),
			*link = g_build_filename(trace, "link", NULL);
	struct relayfiles *files;

	make_folder(outside);
	put_file(outside, "kept", "x", 1);
	put_stream(0, 0, 0, 3);
	files = open_files();
	ck_assert(relay_remove(files));
	relayfiles_close(files);
	ck_assert(!g_file_test(session, G_FILE_TEST_EXISTS));
	put_stream(0, 0, 0, 3);
	put_file(session, "notes", "x", 1);
	ck_assert_int_eq(symlink(outside, link), 0);
	files = open_files();
	ck_assert(!relay_remove(files));
	relayfiles_close(files);
	g_free(link);
	link = g_build_filename(outside, "kept", NULL);
	ck_assert(g_file_test(link, G_FILE_TEST_EXISTS));
	g_free(link);
	link = g_build_filename(session, "notes", NULL);
	ck_assert(g_file_test(link, G_FILE_TEST_EXISTS));
}
END_TEST

static void count_kernel(void *data, const struct stream_key *key)
{
	int *count = data;

	*count += key->bits == KERNEL_BITS && key->user == KERNEL_USER;
}

/* The kernel's trace has a folder of its own, and is found, carved and removed as users' are. */
START_TEST(kernel)
{
	g_autofree char *scratch = g_strdup_printf("%s/scratch", output);
	GArray *packets;
	struct positions *positions = positions_create();
	struct relayfiles *files;
	struct packet_info info;
	GPtrArray *traces;
	int count = 0;

	put_stream(0, 0, 0, 2);
	g_free(trace);
	trace = g_strdup_printf("%s/kernel", session);
	put_stream(1, 0, 0, 3);
	files = open_files();
	ck_assert_int_eq(relayfiles_each_trace(files, count_kernel, &count), 0);
	ck_assert_int_eq(count, 1);
	packets = scan(files, positions);
	ck_assert_uint_eq(packets->len, 5);
	traces = relay_carve(files, (const void *)packets->data, packets->len, scratch, error);
	ck_assert_uint_eq(traces->len, 2);
	for (guint i = 0; i < packets->len; i++) {
		const struct relayfiles_packet *packet = &g_array_index(packets, struct relayfiles_packet, i);
		bool kernels = packet->key.bits == KERNEL_BITS;

		ck_assert(relay_carve_is_of(&packet->key, traces->pdata[0]) !=
			  relay_carve_is_of(&packet->key, traces->pdata[1]));
		ck_assert(kernels == (packet->is.id == 1));
		ck_assert(relay_locate(files, &packet->key, packet->is.begin, &info));
	}
	g_ptr_array_unref(traces);
	relay_carve_remove(scratch);
	ck_assert(relay_remove(files));
	relayfiles_close(files);
	positions_destroy(positions);
	g_array_unref(packets);
}
END_TEST

START_TEST(links_are_not_followed)
{
	g_autofree char *elsewhere = g_strdup_printf("%s/elsewhere", output);
	struct relayfiles *files;

	put_stream(0, 0, 0, 3);
	ck_assert_int_eq(rename(session, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, session), 0);
	ck_assert_int_eq(relayfiles_open(output, named("blkin", CREATED), &files, error, sizeof(error)),
		RELAYFILES_UNREADABLE);
	unlink(session);
}
END_TEST

START_TEST(which_ctf)
{
	struct relayfiles *files;

	put_stream(0, 0, 0, 1);
	files = open_files();
	ck_assert(!relayfiles_are_ctf2(files));
	put_file(trace, "metadata", "\x1e{\n\"type\": \"preamble\"", 22);
	ck_assert(relayfiles_are_ctf2(files));
	relayfiles_close(files);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, scanned_in_order_and_past_the_positions);
	tcase_add_test(cases, scanned_a_few_at_a_time);
	tcase_add_test(cases, the_newest);
	tcase_add_test(cases, carving);
	tcase_add_test(cases, kernel);
	tcase_add_test(cases, indexes_that_are_none);
	tcase_add_test(cases, packets_that_begin_together);
	tcase_add_test(cases, no_index_yet);
	tcase_add_test(cases, a_forged_entry_hides_no_other);
	tcase_add_test(cases, streams_of_other_cpus);
	tcase_add_test(cases, scanned_with_few_descriptors);
	tcase_add_test(cases, folders_that_cannot_be_listed);
	tcase_add_test(cases, folders_of_others);
	tcase_add_test(cases, news_of_each_kind);
	tcase_add_test(cases, news_is_taken);
	tcase_add_test(cases, news_of_part);
	tcase_add_test(cases, no_file_can_be_opened);
	tcase_add_test(cases, removed_but_for_what_is_not_the_relays);
	tcase_add_test(cases, links_are_not_followed);
	tcase_add_test(cases, which_ctf);
	return run_cases("relayfiles", cases);
}
