/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hands spans to the provider as headers of before 0.2 do, in a record. Their names have a length that the
 * provider has to find memory for, or not; with `short` as argument there is no memory for those at last.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define DATA "local 8 10.7.0.1 records\nkey=value\n"
#define LONG 5000

static void hand_over(uint64_t id, size_t name_size)
{
	static char name[LONG + 1];
	const struct blkin_span_record record = {id, id, 0, blkin_now(), name, DATA};

	memset(name, 'n', name_size);
	name[name_size] = '\0';
	blkin_provider_->span[BLKIN_INFO](&record);
}

int main(int argc, char **argv)
{
	struct rlimit limit, none;

	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	if (!blkin_tracing())
		return 3;
	hand_over(1, 0);
	hand_over(2, 4);
	hand_over(3, 12);
	hand_over(4, 300);
	getrlimit(RLIMIT_AS, &limit);
	none = (struct rlimit){argc == 2 && !strcmp(argv[1], "short") ? 0 : limit.rlim_cur, limit.rlim_max};
	setrlimit(RLIMIT_AS, &none);
	hand_over(5, LONG);
	setrlimit(RLIMIT_AS, &limit); /* to end, it takes some */
	return 0;
}
