/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hands spans to the provider as headers of before blkin_whole_span do: in a record, and with its fields one
 * behind the other. Their names have a length that the provider has to find memory for, or not; with `short`
 * as argument there is no memory for those at last.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define DATA "local 8 10.7.0.1 packed\nkey=value\n"
#define LONG 5000

static void record(uint64_t id, size_t name_size)
{
	static struct {
		uint64_t numbers[4];
		char text[LONG + 1 + sizeof(DATA)];
	} packed;
	struct blkin_span_record as_record = {id, id, 0, blkin_now(), packed.text, DATA};

	memset(packed.text, 'n', name_size);
	packed.text[name_size] = '\0';
	blkin_provider_->span[BLKIN_INFO](&as_record);
	packed.numbers[0] = packed.numbers[1] = id + 1;
	packed.numbers[3] = blkin_now();
	memcpy(packed.text + name_size + 1, DATA, sizeof(DATA));
	blkin_provider_->packed[BLKIN_INFO](packed.numbers, name_size + 1, sizeof(DATA));
}

int main(int argc, char **argv)
{
	struct rlimit limit, none;

	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	if (!blkin_tracing())
		return 3;
	record(1, 0);
	record(3, 4);
	record(5, 12);
	record(7, 300);
	getrlimit(RLIMIT_AS, &limit);
	none = (struct rlimit){argc == 2 && !strcmp(argv[1], "short") ? 0 : limit.rlim_cur, limit.rlim_max};
	setrlimit(RLIMIT_AS, &none);
	record(9, LONG);
	setrlimit(RLIMIT_AS, &limit); /* to end, it takes some */
	return 0;
}
