/* SPDX-License-Identifier: BSD-2-Clause */
/* Classic annotations whose texts have all lengths: the provider writes long ones in another way. */
#include <blkin/blkin.h>

#define LONGEST 600

int main(void)
{
	char service[] = "lengths", text[LONGEST + 1];
	struct blkin_endpoint here;
	struct blkin_trace trace;

	blkin_init_endpoint(&here, "10.0.0.1", 6800, service);
	for (int size = 1; size <= LONGEST; size++) {
		memset(text, 'a' + size % 26, (size_t)size);
		text[size] = '\0';
		blkin_init_new_trace(&trace, "read", &here);
		BLKIN_KEYVAL_STRING(&trace, NULL, "text", text);
		BLKIN_KEYVAL_INTEGER(&trace, NULL, text, size);
		BLKIN_TIMESTAMP(&trace, NULL, text);
	}
	return 0;
}
